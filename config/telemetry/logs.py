"""How processes write their logs: to standard error, in the format of LOG_FORMAT."""

import logging
from typing import Any

from django.core.exceptions import ImproperlyConfigured

FORMATS = {
    "line": {
        "()": "config.plain_text.LineFormatter",
        "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
    },
    "json": {"()": "config.telemetry.json_lines.JsonFormatter"},
}
# From what is written most to what is written least.
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Loggers of libraries whose lines only LOG_LEVEL=DEBUG shows. Celery writes one when a task is sent, received or done:
# 50,000 lines a day from an idle installation; a task that fails is an error. botocore names the place of its keys.
QUIET = ("celery.beat", "celery.worker.strategy", "celery.app.trace", "botocore")
# Django's errors that a request from outside causes, such as a wrong name of the host.
FROM_OUTSIDE = "django.security"


def in_one_line(record: logging.LogRecord) -> bool:
    """Remove the traceback of a record of FROM_OUTSIDE, so that bad requests do not fill the log."""
    if record.name.startswith(FROM_OUTSIDE):
        record.exc_info = record.exc_text = None
    return True


def logging_with(log_format: str, level: str) -> dict[str, Any]:
    """Django's setting LOGGING.

    Raises ImproperlyConfigured for another format than those of FORMATS, or for a level that Python does not know.
    """
    if log_format not in FORMATS:
        raise ImproperlyConfigured(f"LOG_FORMAT is {log_format!r}. Write {' or '.join(FORMATS)}.")
    if level.upper() not in LEVELS:
        raise ImproperlyConfigured(f"LOG_LEVEL is {level!r}. Write one of {', '.join(LEVELS)}.")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": FORMATS,
        "filters": {"in_one_line": {"()": lambda: in_one_line}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": log_format, "filters": ["in_one_line"]}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {} if level.upper() == "DEBUG" else {name: {"level": "WARNING"} for name in QUIET},
    }
