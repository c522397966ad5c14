"""Every setting, read from the environment. `.env.example` explains each one; a test compares the two."""

import os
from pathlib import Path
from urllib.parse import quote

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.celery_settings import *  # noqa: F403
from config.environment import (
    below,
    browser_address,
    data_folder,
    days,
    env,
    fernet_key,
    networks,
    private_folder,
    private_sqlite,
    secret,
    served_port,
    server_options,
    server_url,
    signing_key,
    socket_path,
    sqlite_database,
    store_address,
    stored_key,
    time_zone,
    worker_labels,
)
from config.telemetry import error_reports
from config.telemetry.logs import logging_with
from config.telemetry.packages import require
from config.version import VERSION  # noqa: F401 -- a setting

BASE_DIR = Path(__file__).resolve().parent.parent
# Installed with pip, Millrace keeps its state with the person's other data (XDG Base Directory Specification).
IS_CHECKOUT = (BASE_DIR / "manage.py").is_file()
HOME_DIR = BASE_DIR if IS_CHECKOUT else data_folder("millrace")
env.read_env(HOME_DIR / ".env")

if "FAILPOINTS" in os.environ:
    raise ImproperlyConfigured(
        "FAILPOINTS is set: it would stop processes at points that tests choose (importer/engine/failpoints.py). Only"
        " the tests may use it. Remove it from the environment and from .env."
    )

# --- run-time state ---
# A relative path is below the folder of .env, so that it means one folder wherever a command is started.
VAR_DIR = private_folder(Path(HOME_DIR, env.str("VAR_DIR", default="var")).resolve())
UPLOAD_DIR = Path(HOME_DIR, env.str("UPLOAD_DIR", default=str(VAR_DIR / "uploads")))
PLAIN_DIR = Path(HOME_DIR, env.str("PLAIN_DIR", default=str(VAR_DIR / "plain")))
LAB_DIR = VAR_DIR / "lab"
# "": the server's own secure_file_priv.
SERVER_FILES_DIR = env.str("SERVER_FILES_DIR", default="")
INCOMING_DIR = VAR_DIR / "incoming"
# The only folders that connections may read.
IMPORT_FOLDERS = [str(HOME_DIR / each) for each in env.list("IMPORT_FOLDERS", default=[str(INCOMING_DIR)])]
# Whether people may give an https address of the public internet on the page of a new import.
WEB_ADDRESSES = env.bool("WEB_ADDRESSES", default=False)
REJECTS_DIR = Path(HOME_DIR, env.str("REJECTS_DIR", default=str(VAR_DIR / "rejects")))
# The store of several hosts, s3://BUCKET/PREFIX, and its account; "": files stay in the folders above.
FILE_STORE = store_address(env.str("FILE_STORE", default=""))
FILE_STORE_ENDPOINT = env.str("FILE_STORE_ENDPOINT", default="")
FILE_STORE_REGION = env.str("FILE_STORE_REGION", default="")
FILE_STORE_ACCESS_KEY = env.str("FILE_STORE_ACCESS_KEY", default="")
FILE_STORE_SECRET_KEY = secret("FILE_STORE_SECRET_KEY")
FILE_STORE_CA = below(HOME_DIR, env.str("FILE_STORE_CA", default=""))
# Where browsers reach the store, to put uploads there themselves; "": uploads come through the web server.
FILE_STORE_BROWSER_URL = browser_address(env.str("FILE_STORE_BROWSER_URL", default=""), FILE_STORE)

# --- Django ---
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = signing_key(secret("SECRET_KEY") or stored_key(VAR_DIR / "keys" / "secret_key"))
# This machine's own names always work: health checks use them.
ALLOWED_HOSTS = [*env.list("ALLOWED_HOSTS", default=[]), "127.0.0.1", "localhost", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SERVED_OVER_HTTPS = env.bool("SERVED_OVER_HTTPS", default=False)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "importer",
    "dashboard",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.serving.compression.CompressPages",
    "dashboard.access.problems.ApiProblems",
    "dashboard.jobs.unchanged.UnchangedPolls",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "dashboard.access.caching.PrivateAnswers",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.sign_in.tokens.TokenMiddleware",
    "dashboard.access.time_zone.TimeZoneMiddleware",
    "dashboard.sign_in.middleware.SignInMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "dashboard.sign_in.middleware.SecondFactorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "dashboard.system.audit.middleware.AuditMiddleware",
    "dashboard.access.middleware.PolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"] if IS_CHECKOUT else [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
LANGUAGE_CODE = "en"
TIME_ZONE = time_zone(env.str("TIME_ZONE", default="UTC"))
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- signing in (dashboard/sign_in/) ---
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["dashboard.sign_in.backend.Backend"]
# How many passwords may be tried within SIGN_IN_SECONDS: for one name from one address, for all names from one address,
# and for one name from all addresses. Further tries are refused without a look at the password.
SIGN_IN_TRIES = env.int("SIGN_IN_TRIES", default=10)
SIGN_IN_TRIES_ADDRESS = env.int("SIGN_IN_TRIES_ADDRESS", default=30)
SIGN_IN_TRIES_NAME = env.int("SIGN_IN_TRIES_NAME", default=100)
SIGN_IN_SECONDS = env.int("SIGN_IN_SECONDS", default=300)
# Proxies whose header with the browser's address is believed: addresses or networks.
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])
PROXY_HEADER = env.str("PROXY_HEADER", default="X-Forwarded-For")
ACCOUNT_ADAPTER = "dashboard.sign_in.adapter.AccountAdapter"
ACCOUNT_FORMS = {"change_password": "dashboard.sign_in.forms.PasswordForm"}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
# The limits above replace allauth's, which count in a cache.
ACCOUNT_RATE_LIMITS = False
# Who has no second factor may only add one.
REQUIRE_SECOND_FACTOR = env.bool("REQUIRE_SECOND_FACTOR", default=False)
MFA_ADAPTER = "dashboard.sign_in.adapter.SecondFactorAdapter"
MFA_FORMS = {
    "login_webauthn": "dashboard.sign_in.forms.PasskeyForm",
    "authenticate": "dashboard.sign_in.forms.CodeForm",
    "reauthenticate": "dashboard.sign_in.forms.ConfirmCodeForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# A clock may be off by 30 seconds; dashboard/sign_in/forms.py sees to it that a code works once.
MFA_TOTP_TOLERANCE = 1
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RATE_LIMITS = False
# The identity provider, if there is one (OpenID Connect), and whether people whom nobody has invited become viewers.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = secret("OIDC_CLIENT_SECRET")
OIDC_NAME = env.str("OIDC_NAME", default="single sign-on")
OIDC_SIGN_UP = env.bool("OIDC_SIGN_UP", default=False)
if OIDC_ISSUER:
    # It imports requests, which costs each command a twentieth of its start.
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")
SOCIALACCOUNT_ADAPTER = "dashboard.sign_in.provider.ProviderAdapter"
# The way to the provider is a link: a form that leads to another site is against the content security policy.
SOCIALACCOUNT_LOGIN_ON_GET = True

# An error that a page shows is the outcome in the audit log.
MESSAGE_STORAGE = "dashboard.system.audit.messages.RecordedMessages"

# --- processes (importer/management/processes/ starts them) ---
BIND = env.str("BIND", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
WEB_PROCESSES = env.int("WEB_PROCESSES", default=2)
WEB_THREADS = env.int("WEB_THREADS", default=8)
# The minimum rate of a request's body, in bytes per second, averaged over each BODY_GRACE_SECONDS of waiting.
BODY_MIN_BYTES_PER_SECOND = env.int("BODY_MIN_BYTES_PER_SECOND", default=1000)
BODY_GRACE_SECONDS = env.float("BODY_GRACE_SECONDS", default=20)
# As many as an import is planned with, into a server on this machine or one whose distance is unknown.
WORKER_CONCURRENCY = env.int("WORKER_CONCURRENCY", default=max(4, (os.cpu_count() or 1) + 1))
# The labels of the targets that the workers of this host load into, and no others; none: those without a label.
LOADS = worker_labels(env.list("LOADS", default=[]))

# --- the first account (`manage.py ensure_admin`) ---
ADMIN_USER = env.str("ADMIN_USER", default="admin")
ADMIN_PASSWORD = secret("ADMIN_PASSWORD")
# No process that this one starts needs it.
os.environ.pop("ADMIN_PASSWORD", None)

# --- the application's own database ---
SQLITE = sqlite_database(VAR_DIR / "millrace.sqlite3")
DATABASE_URL = server_url("DATABASE_URL", secret("DATABASE_URL"), secret("DATABASE_PASSWORD"))
DATABASES = {"default": env.db_url_config(DATABASE_URL) if DATABASE_URL else SQLITE}
if "sqlite" in DATABASES["default"]["ENGINE"]:
    DATABASES["default"] = {**SQLITE, "NAME": below(HOME_DIR, DATABASES["default"]["NAME"])}
    private_sqlite(Path(DATABASES["default"]["NAME"]))
if "mysql" in DATABASES["default"]["ENGINE"]:
    DATABASES["default"]["OPTIONS"] = server_options(DATABASES["default"])
    # Of the three conditional constraints of allauth, one is made by importer/migrations/0001_initial.py; the
    # others are about addresses of mail, by which nobody signs in.
    SILENCED_SYSTEM_CHECKS = ["models.W036"]

# --- static files ---
STATIC_URL = "static/"
STATIC_ROOT = Path(HOME_DIR, env.str("STATIC_DIR", default=str(VAR_DIR / "static")))
# pip installs static files and templates inside the package dashboard (setup.py).
STATICFILES_DIRS = [BASE_DIR / "static"] if IS_CHECKOUT else []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG

# --- security ---
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "connect-src": [SELF, *filter(None, [FILE_STORE_BROWSER_URL])],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
SECURE_SSL_REDIRECT = SERVED_OVER_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SERVED_OVER_HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if SERVED_OVER_HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"

# Where programs may read /metrics from without a token.
METRICS_FROM = networks(env.list("METRICS_FROM", default=["127.0.0.1", "::1"]), "METRICS_FROM")
# Networks whose inside targets and connections may reach; public addresses are always allowed.
PRIVATE_NETWORKS = networks(env.list("PRIVATE_NETWORKS", default=["0.0.0.0/0", "::/0"]), "PRIVATE_NETWORKS")

# Passwords of targets are encrypted with the first key and read with any (newest first, to rotate).
ENCRYPTION_KEYS = (secret("ENCRYPTION_KEYS") or stored_key(VAR_DIR / "keys" / "encryption_key", fernet_key)).split(",")

# --- notifications (importer/notifications/) ---
# The address of the pages, for links in messages.
SITE_URL = env.str("SITE_URL", default=f"http://127.0.0.1:{served_port(VAR_DIR) or PORT}")
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="millrace@localhost")
EMAIL_URL = secret("EMAIL_URL")
# Without a mail server there is no back end, and mail channels report that.
EMAIL_BACKEND = ""
if EMAIL_URL:
    vars().update(env.email_url_config(EMAIL_URL))
    if EMAIL_BACKEND == "django.core.mail.backends.smtp.EmailBackend":
        EMAIL_BACKEND = "importer.notifications.smtp.Backend"
EMAIL_TIMEOUT = 10  # seconds, for each answer of the mail server

# --- retention: days, or `keep` (importer/retention/policies.py says what each deletes) ---
IMPORTED_FILES_DAYS = days("IMPORTED_FILES_DAYS", default=7, least=0)
OTHER_FILES_DAYS = days("OTHER_FILES_DAYS", default=30)
RETRY_DAYS = days("RETRY_DAYS", default=30)
REJECTS_DAYS = days("REJECTS_DAYS", default=90)
CHUNKS_DAYS = days("CHUNKS_DAYS", default=90)
STAGED_DAYS = days("STAGED_DAYS", default=7)
JOBS_DAYS = days("JOBS_DAYS", default=400)
HISTORY_DAYS = days("HISTORY_DAYS", default=1826)
LEDGER_DAYS = days("LEDGER_DAYS", default=90, least=30)
KEPT_ROWS_DAYS = days("KEPT_ROWS_DAYS", default=30)
RUNS_DAYS = days("RUNS_DAYS", default=90)
NOTIFICATIONS_DAYS = days("NOTIFICATIONS_DAYS", default=90)
SESSIONS_DAYS = days("SESSIONS_DAYS", default=1, least=0)
AUDIT_DAYS = days("AUDIT_DAYS", default=730)

# --- importing ---
# Limits for one machine and one user. The size of a chunk is decided by the plan.
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=100 * 2**30)
UPLOAD_PART_BYTES = env.int("UPLOAD_PART_BYTES", default=16 * 2**20)
# What each person may keep among the uploads; 0: no limit.
UPLOAD_QUOTA_BYTES = env.int("UPLOAD_QUOTA_BYTES", default=2**40)
UPLOAD_QUOTA_FILES = env.int("UPLOAD_QUOTA_FILES", default=100_000)
# How often a person may do something within a minute, how much a person may have, and how much at a time on each web
# host (importer/access/limits.py); 0: no limit.
UPLOADS_PER_MINUTE = env.int("UPLOADS_PER_MINUTE", default=300)
STARTS_PER_MINUTE = env.int("STARTS_PER_MINUTE", default=60)
CHECKS_PER_MINUTE = env.int("CHECKS_PER_MINUTE", default=30)
SCHEDULES_PER_PERSON = env.int("SCHEDULES_PER_PERSON", default=500)
PRESETS_PER_PERSON = env.int("PRESETS_PER_PERSON", default=1000)
UPLOADS_UNDER_WAY_PER_PERSON = env.int("UPLOADS_UNDER_WAY_PER_PERSON", default=1000)
LABS_PER_PERSON = env.int("LABS_PER_PERSON", default=20)
UPLOAD_PARTS_AT_ONCE = env.int("UPLOAD_PARTS_AT_ONCE", default=4)
LISTENERS_AT_ONCE = env.int("LISTENERS_AT_ONCE", default=100)
EXPORTS_AT_ONCE = env.int("EXPORTS_AT_ONCE", default=4)
# A browser sends at most six requests at a time to one host.
SEARCHES_AT_ONCE = env.int("SEARCHES_AT_ONCE", default=6)
ERRANDS_AT_ONCE = env.int("ERRANDS_AT_ONCE", default=6)
ERRAND_SECONDS = env.float("ERRAND_SECONDS", default=120)
ERRAND_BYTES = env.int("ERRAND_BYTES", default=512 * 2**20)
# Bytes that are kept free on each disk, and those below which admins are warned.
KEEP_FREE_BYTES = env.int("KEEP_FREE_BYTES", default=512 * 2**20)
WARN_FREE_BYTES = env.int("WARN_FREE_BYTES", default=5 * 2**30)
# Limits for decompressing a file: bytes, and times its compressed size (checked above 64 MiB).
UNPACKED_MAX_BYTES = env.int("UNPACKED_MAX_BYTES", default=200 * 2**30)
UNPACKED_MAX_RATIO = env.int("UNPACKED_MAX_RATIO", default=200)
# The form of a new import has three values for each field, and a table may have 4,096 columns (manual, 10.4.7).
DATA_UPLOAD_MAX_NUMBER_FIELDS = 3 * 4096 + 100
# A claimed chunk belongs to its worker until this many seconds after the worker's last heartbeat.
LEASE_SECONDS = env.float("LEASE_SECONDS", default=60)
HEARTBEAT_SECONDS = env.float("HEARTBEAT_SECONDS", default=min(15.0, LEASE_SECONDS / 4))
SWEEP_SECONDS = env.float("SWEEP_SECONDS", default=15)
# Seconds between two checks for due schedules, and so the longest delay of a run.
TICK_SECONDS = min(5.0, SWEEP_SECONDS)
# Seconds between two runs of the deletion of what is no longer kept.
RETENTION_SECONDS = 60.0
# A chunk fails for good after this many attempts, or after this many workers died while loading it.
MAX_ATTEMPTS = env.int("MAX_ATTEMPTS", default=8)
MAX_DEATHS = env.int("MAX_DEATHS", default=3)
if HEARTBEAT_SECONDS * 2 > LEASE_SECONDS:
    raise ImproperlyConfigured(
        "HEARTBEAT_SECONDS must be at most half of LEASE_SECONDS, or live workers lose their chunks"
    )

# --- Redis: only wakes workers and carries live counters ---
REDIS_SOCKET = socket_path(VAR_DIR, "redis.sock")
REDIS_IS_PRIVATE = not secret("REDIS_URL")
REDIS_URL = server_url("REDIS_URL", secret("REDIS_URL"), secret("REDIS_PASSWORD")) or (
    f"unix://{quote(str(REDIS_SOCKET))}?db=0"
)

# --- Celery: what depends on the environment; config/celery_settings.py has the rest ---
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "run" / "beat-schedule")
CELERY_BEAT_SCHEDULER = "config.beat:Scheduler"
# The longest sleep: a clock that was set back is noticed after it.
CELERY_BEAT_MAX_LOOP_INTERVAL = TICK_SECONDS
CELERY_BEAT_SCHEDULE = {
    # A message that waited longer than one period is superseded by the next one.
    name: {"task": f"importer.tasks.{name}", "schedule": seconds, "options": {"expires": seconds}}
    for name, seconds in (("sweep", SWEEP_SECONDS), ("retain", RETENTION_SECONDS), ("tick", TICK_SECONDS))
}

# --- what is observed (config/telemetry/) ---
LOG_FORMAT = env.str("LOG_FORMAT", default="line")
LOGGING = logging_with(LOG_FORMAT, env.str("LOG_LEVEL", default="INFO"))
# The SDK reads this variable and its other ones itself.
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
if OTEL_EXPORTER_OTLP_ENDPOINT:
    require("opentelemetry-exporter-otlp-proto-http", "OTEL_EXPORTER_OTLP_ENDPOINT")
SENTRY_DSN = secret("SENTRY_DSN")
if SENTRY_DSN:
    require("sentry-sdk", "SENTRY_DSN")
    error_reports.start(SENTRY_DSN)
