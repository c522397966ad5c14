"""The work of the Celery workers."""
