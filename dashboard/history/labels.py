"""Short names and values of facts for the history pages, where a heading or a chart gives the unit."""

from datetime import datetime

from django.utils import timezone

from dashboard.formatting import duration, rate
from importer.engine.plan.option_kinds import display
from importer.engine.units import MIB
from importer.history.facts import FACTS, Kind, Value
from importer.history.formatting import in_words

# Names for facts whose title in the registry is too long for a column, or contains a unit.
SHORT = {
    "job": "Import",
    "server_release": "Release",
    "parallelism": "Parallel",
    "chunk_bytes": "Chunk size",
    "indexes": "Indexes",
    "rows_per_second": "Rows/s",
    "bytes_per_second": "MiB/s",
    "overall_rows_per_second": "Rows/s overall",
}
ANSWERS = {"indexes": {"keep": "kept on", "defer": "after"}, "foreign_keys": {"keep": "kept on", "defer": "after"}}


def title(name: str) -> str:
    """The short name of a fact."""
    return SHORT.get(name, FACTS[name].title)


def short(name: str, value: Value | None) -> str:
    """A value without its unit, which the heading gives; "" for an unknown value."""
    match FACTS[name].kind:
        case _ if value is None or isinstance(value, bool):
            return in_words(name, value)
        case Kind.SECONDS:
            return duration(float(value))
        case Kind.ROWS_PER_SECOND:
            return rate(float(value))
        case Kind.BYTES_PER_SECOND:
            return rate(float(value) / MIB)
        case Kind.MOMENT:
            return _moment(float(value))
        case Kind.WORD:
            return ANSWERS.get(name, {}).get(str(value)) or _display(name, str(value))
    return in_words(name, value)


def _moment(seconds: float) -> str:
    """A moment (seconds since 1970) in the reader's time zone, with its year unless that is the present one."""
    zone = timezone.get_current_timezone()
    at = datetime.fromtimestamp(seconds, zone)
    return f"{at.day} {at:%b %H:%M}" if at.year == timezone.localtime().year else f"{at.day} {at:%b %Y}"


def _display(name: str, value: str) -> str:
    return display(value) if FACTS[name].option == "method" else value
