"""How processes write their logs: to standard error, in the format of LOG_FORMAT."""

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
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": log_format}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
    }
