"""Reads dates and times in a date format in Python, as STR_TO_DATE() reads them."""

import re
from datetime import datetime, timedelta
from functools import lru_cache

from importer.engine.mapping.date_formats import MONTH, MONTHS, OFFSET, PARTS

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CLOCK = ("%H", "%k", "%h", "%l", "%i", "%s", "%f")
# Two-digit years: 70 to 99 are 1970 to 1999, 00 to 69 are 2000 to 2069 (manual, 2-Digit Years in Dates).
PIVOT = 70


def stored_text(datetime_format: str, value: str) -> str:
    """The value as the column stores it, such as 2024-01-31; the value itself if it is no date in this format."""
    parts = parts_of(datetime_format, value)
    moment = parts and _moment(parts)
    if not parts or not moment:
        return value
    if OFFSET in parts:
        moment -= _offset(parts[OFFSET])
    if not has_clock(datetime_format):
        return moment.strftime("%Y-%m-%d") if moment.year >= 1000 else f"{moment:%Y}".zfill(4) + f"-{moment:%m-%d}"
    return moment.isoformat(" ")


def stored_time(datetime_format: str, value: str) -> str:
    """The time of day as a TIME column stores it; the value itself if it is no time in this format."""
    parts = parts_of(datetime_format, value)
    moment = parts and _moment(parts)
    return moment.strftime("%H:%M:%S") if moment else value


def is_moment(datetime_format: str, value: str) -> bool:
    """Whether the value has the format, and there is such a day and time."""
    parts = parts_of(datetime_format, value)
    return parts is not None and _moment(parts) is not None


def has_clock(datetime_format: str) -> bool:
    """Whether the format has a part of a time."""
    return any(part in datetime_format for part in CLOCK)


def parts_of(datetime_format: str, value: str) -> dict[str, str] | None:
    """The text of each part of the format (date_formats.PARTS); None if the value does not have the format."""
    match = _pattern(datetime_format).fullmatch(value)
    names = re.findall(r"%\w", datetime_format)
    return dict(zip(names, match.groups(), strict=True)) if match else None


@lru_cache(maxsize=1024)
def _pattern(datetime_format: str) -> re.Pattern[str]:
    pieces = re.split(r"(%\w)", datetime_format)
    return re.compile("".join(f"({PARTS[each]})" if each in PARTS else re.escape(each) for each in pieces))


def _moment(parts: dict[str, str]) -> datetime | None:
    """The moment of the parts; None if there is no such day. Parts that are not given are the first of their kind."""
    try:
        return datetime(
            _year(parts),
            _month(parts),
            int(parts.get("%d") or parts.get("%e") or 1),
            _hour(parts),
            int(parts.get("%i", 0)),
            int(parts.get("%s", 0)),
            int(parts.get("%f", "0").ljust(6, "0")),
        )
    except ValueError:
        return None


def _offset(text: str) -> timedelta:
    """The offset from UTC: +02:00, +0200 or Z."""
    if text in "Zz":
        return timedelta()
    length = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return -length if text.startswith("-") else length


def _year(parts: dict[str, str]) -> int:
    if "%y" in parts:
        return int(parts["%y"]) + (1900 if int(parts["%y"]) >= PIVOT else 2000)
    return int(parts.get("%Y", 1))


def _month(parts: dict[str, str]) -> int:
    if MONTH in parts:
        return MONTHS.get(parts[MONTH].removesuffix(".").casefold(), 0)
    name = parts.get("%b") or parts.get("%M")
    return _MONTHS.index(name[:3].lower()) + 1 if name else int(parts.get("%m") or parts.get("%c") or 1)


def _hour(parts: dict[str, str]) -> int:
    hour = int(parts.get("%H") or parts.get("%k") or parts.get("%h") or parts.get("%l") or 0)
    if "%p" not in parts:
        return hour
    return hour % 12 + (12 if parts["%p"].upper() == "PM" else 0)
