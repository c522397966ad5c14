"""Formats numbers, sizes, rates and times for pages. A value that is None becomes an empty text."""

from datetime import datetime, timedelta

from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.dateformat import format as date_format

from importer.engine.units import human_bytes, human_rate, human_seconds

_COMPACT = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


def number(value: int | None) -> str:
    """1234567 -> "1,234,567"."""
    return "" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Bytes: 33554432 -> "32 MiB"."""
    return "" if value is None else human_bytes(value)


def rate(value: float | None) -> str:
    """Rows per second, short: 950 -> "950", 41234 -> "41.2k", 1240000 -> "1.24M"."""
    if value is None:
        return ""
    for unit, name in _COMPACT:
        if value >= unit:
            return f"{_three_digits(value / unit)}{name}"
    return _three_digits(value)


def byte_rate(value: float | None) -> str:
    """Bytes per second: 33260829 -> "31.7 MiB/s"."""
    return "" if value is None else human_rate(value)


def duration(value: float | timedelta | None) -> str:
    """Seconds: 0.042 -> "42 ms", 0.42 -> "0.42 s", 12.34 -> "12.3 s", 113 -> "1 min 53 s", 3725 -> "1 h 2 min"."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if seconds < 59.95:
        return human_seconds(seconds)
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def roughly(value: float | None) -> str:
    """Estimated or chosen seconds, rounded: 32.2 -> "32 s", 145 -> "2 min", 7300 -> "2 h 2 min"."""
    if value is None:
        return ""
    if value < 90:
        return f"{round(value)} s"
    hours, minutes = divmod(round(value / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def seconds_until(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from `start` to `end`, for `duration`; None if either is unknown."""
    return (end - start).total_seconds() if start and end else None


def percent(part: float | None, whole: float | None) -> int:
    """`part` of `whole` in percent, rounded down, at most 100: 100 means all of it. 0 if `whole` is 0 or None."""
    return min(100, int(100 * (part or 0) / whole)) if whole else 0


def share(part: int, whole: int | None) -> str:
    """`part` of `whole` in percent, with one decimal below 10 %: "12 %", "0.3 %", "< 0.1 %"; "" without a whole."""
    if not whole:
        return ""
    percents = 100 * part / whole
    if percents < 0.1:
        return "< 0.1 %"
    return f"{percents:.1f} %" if percents < 10 else f"{percents:.0f} %"


def time_after(moment: datetime | None, earlier: datetime | None) -> str:
    """The time of day of a moment after an earlier one, with the day if that is not the day of the earlier one."""
    if moment is None:
        return ""
    days = {timezone.localtime(each).date() for each in (moment, earlier or moment)}
    return date_format(timezone.localtime(moment), "H:i:s" if len(days) == 1 else "j M Y, H:i:s")


def when(moment: datetime) -> str:
    """How long ago, or until then; what is older than a day has its day instead: "25 Nov, 09:38"."""
    now = timezone.now()
    if now - moment < timedelta(days=1):
        return str(naturaltime(moment))
    local = timezone.localtime(moment)
    return date_format(local, "j M, H:i" if local.year == timezone.localtime(now).year else "j M Y, H:i")


def factor(value: float | None) -> str:
    """A ratio to three significant digits, at most two decimals: 1.8 -> "1.80", 0.471 -> "0.47"."""
    return "" if value is None else _three_digits(value)


def _three_digits(value: float) -> str:
    """Three significant digits, at most two decimals, without an exponent: 0.42, 3.7 -> "3.70", 31.7, 412."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def entered_number(text: str) -> int | None:
    """The whole number that a text from an address or a form is; None for any other, and beyond 64 bits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
