"""Reports unexpected errors to Sentry, if SENTRY_DSN is set: what our own log has with a traceback, without its values.

A report has the kind of the error, the lines of the program, the message without what was put into it, and the ids of
import and chunk. It has no text of an error, no variable, address, command line, header or name, because all of them
may hold values of rows or passwords. So a report is built of what is allowed, instead of cleaned of what is secret.
"""

from typing import Any

from django.conf import settings

from config.telemetry.json_lines import ids_of
from config.telemetry.logs import FROM_OUTSIDE
from config.version import VERSION

FLUSH_SECONDS = 2.0
# The loggers whose messages are constant texts, which the arguments are put into afterwards.
OWN_LOGGERS = ("config", "importer", "dashboard", "django.request")
KEPT = ("event_id", "timestamp", "platform", "level", "logger", "release", "environment", "sdk")
KEPT_OF_A_FRAME = ("filename", "function", "module", "lineno", "context_line", "pre_context", "post_context", "in_app")


def start(dsn: str) -> None:
    """Send reports to the address `dsn` from now on; also from processes that this one forks."""
    import sentry_sdk
    from sentry_sdk.integrations.atexit import AtexitIntegration
    from sentry_sdk.integrations.dedupe import DedupeIntegration
    from sentry_sdk.integrations.excepthook import ExcepthookIntegration
    from sentry_sdk.integrations.logging import LoggingIntegration

    sentry_sdk.init(
        dsn,
        release=f"millrace@{VERSION}",
        # Django and Celery log each unexpected error, so nothing has to be put into them.
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            LoggingIntegration(level=None, sentry_logs_level=None),
            ExcepthookIntegration(),
            DedupeIntegration(),
            AtexitIntegration(callback=_wait_silently),
        ],
        send_default_pii=False,
        include_local_variables=False,
        max_breadcrumbs=0,
        before_send=report_of,
    )


def flush() -> None:
    """Send the reports of this process that wait, for at most FLUSH_SECONDS."""
    if settings.SENTRY_DSN:
        import sentry_sdk

        sentry_sdk.flush(FLUSH_SECONDS)


def report_of(event: Any, hint: dict[str, Any]) -> Any:
    """The report of Sentry's `event`: only what is known to have no values. None: nothing is to be reported."""
    record = hint.get("log_record")
    if record and (not record.exc_info or record.name.startswith(FROM_OUTSIDE)):
        return None
    report = {name: event[name] for name in KEPT if name in event}
    if errors := event.get("exception", {}).get("values"):
        report["exception"] = {"values": [_without_values(each) for each in errors]}
    if record:
        own = record.name.partition(".")[0] in OWN_LOGGERS or record.name in OWN_LOGGERS
        report["logentry"] = {"message": str(record.msg) if own else "(a message of a library)"}
        report["tags"] = {name: str(number) for name, number in ids_of(record).items()}
    return report


def _without_values(error: dict[str, Any]) -> dict[str, Any]:
    """The kind of an error and its frames."""
    kept: dict[str, Any] = {name: error[name] for name in ("type", "module") if name in error}
    frames = (error.get("stacktrace") or {}).get("frames", ())
    kept["stacktrace"] = {"frames": [{name: each[name] for name in KEPT_OF_A_FRAME if name in each} for each in frames]}
    return kept


def _wait_silently(_pending: int, _timeout: float) -> None:
    """Sentry's own would print to standard error at the end of each command."""
