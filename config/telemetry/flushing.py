"""Sends what a process of a worker still holds before it ends: it ends without the functions of atexit."""

from django.conf import settings

from config.telemetry import error_reports, traces


def connect_signals() -> None:
    """Connect the handler of the end of a Celery worker's process. Called once, where a worker loads its tasks."""
    if traces.are_sent() or settings.SENTRY_DSN:
        from celery.signals import worker_process_shutdown

        worker_process_shutdown.connect(_flush)


def _flush(**_: object) -> None:
    traces.flush()
    error_reports.flush()
