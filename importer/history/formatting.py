"""Formats values of facts for people, with units."""

from datetime import datetime

from importer.engine.units import human_bytes, human_rate
from importer.history.facts import FACTS, Kind, Value


def in_words(name: str, value: Value | None) -> str:
    """The value as text: "" if unknown, times in the current zone."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if name == "transaction_bytes" and not value:
        return "one chunk"
    match FACTS[name].kind:
        case Kind.SWITCH:
            return "yes" if value else "no"
        case Kind.BYTES:
            return human_bytes(round(value))
        case Kind.MOMENT:
            from django.utils import timezone  # Here, because the client of the API shows the other kinds.

            local = timezone.localtime(datetime.fromtimestamp(value, timezone.get_current_timezone()))
            return local.strftime("%Y-%m-%d %H:%M:%S")
        case Kind.SECONDS:
            return f"{value:,.3f} s"
        case Kind.MILLISECONDS:
            return f"{value:,.2f} ms"
        case Kind.SHARE:
            return f"{value:.0%}"
        case Kind.ROWS_PER_SECOND:
            return f"{value:,.0f} rows/s"
        case Kind.BYTES_PER_SECOND:
            return human_rate(value)
    return f"{value:,}"
