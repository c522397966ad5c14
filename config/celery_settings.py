"""The settings of Celery that are the same everywhere (docs/decisions.md, Running, has the reasons)."""

CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    # A page that sends a message to a hanging Redis waits this long. Longer than the second that kombu's BRPOP blocks.
    "socket_timeout": 5,
    "socket_connect_timeout": 5,
    "health_check_interval": 25,
    # Without a broker a page must not wait: the sweep sends the message later.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_TASK_CREATE_MISSING_QUEUES = True
CELERY_TASK_ROUTES = {
    "importer.tasks.scan": {"queue": "scan"},
    "importer.tasks.load_run": {"queue": "load"},
    "importer.tasks.finish": {"queue": "load"},
    "importer.tasks.restore": {"queue": "load"},
    "importer.tasks.examine": {"queue": "scan"},
    # These may list a bucket, or fetch a large file.
    "importer.tasks.take_run": {"queue": "scan"},
    "importer.tasks.look_for_files": {"queue": "scan"},
}
# Each worker has a queue of its own, too: for work that other hosts cannot do (importer/worker/hosts/placement.py).
CELERY_WORKER_DIRECT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Seconds. Below the visibility timeout: a hanging task is killed before Redis delivers it to another worker. Tasks
# under a lease have a longer one (importer/tasks.py).
CELERY_TASK_TIME_LIMIT = 3000
# Limits the effect of memory leaks in libraries (tasks, KiB).
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400_000
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 30
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
