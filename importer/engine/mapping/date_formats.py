"""Formats of dates and times that the server does not read by itself: detection, checks and patterns.

stored_text() and others read values in Python as STR_TO_DATE() does.
"""

import re
from datetime import datetime, timedelta
from functools import cache, lru_cache

from importer.engine.errors import Problem
from importer.engine.mysql.quoting import quote_text
from importer.engine.schema.column_types import Family

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CLOCK = ("%H", "%k", "%h", "%l", "%i", "%s", "%f")
# Two-digit years: 70 to 99 are 1970 to 1999, 00 to 69 are 2000 to 2069 (manual, 2-Digit Years in Dates).
PIVOT = 70


# The names of each month, in full and abbreviated, in English, German, French, Spanish, Italian, Dutch and Portuguese.
# No name is that of two months, so that the language need not be known.
MONTH_NAMES = (
    "january januar jänner jaenner janvier enero gennaio januari janeiro jan janv ene gen jän",
    "february februar feber février fevrier febrero febbraio februari fevereiro feb févr fevr fév fev",
    "march märz maerz mars marzo maart março marco mar mär mrz mrt",
    "april avril abril aprile apr avr abr",
    "may mai mayo maggio mei maio mag",
    "june juni juin junio giugno junho jun giu",
    "july juli juillet julio luglio julho jul juil lug",
    "august août aout agosto augustus aug ago",
    "september septembre septiembre setiembre settembre setembro sep sept set",
    "october oktober octobre octubre ottobre outubro oct okt ott out",
    "november novembre noviembre novembro nov",
    "december dezember décembre decembre diciembre dicembre dezembro dec dez déc dic",
)
MONTHS = {name: month for month, names in enumerate(MONTH_NAMES, start=1) for name in names.split()}
_LONGEST_FIRST = sorted(MONTHS, key=len, reverse=True)

# The specifiers of STR_TO_DATE (manual, DATE_FORMAT()), with the texts that each may stand for here. The server would
# accept more: two digits for %Y, leading spaces, any text at the end. Python, MySQL (ICU) and MariaDB (PCRE) read these
# patterns alike.
PARTS = {
    "%Y": "[0-9]{4}",
    "%y": "[0-9]{2}",
    "%m": "(?:0?[1-9]|1[0-2])",
    "%c": "(?:0?[1-9]|1[0-2])",
    "%b": "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
    "%M": "(?:January|February|March|April|May|June|July|August|September|October|November|December)",
    "%d": "(?:0?[1-9]|[12][0-9]|3[01])",
    "%e": "(?:0?[1-9]|[12][0-9]|3[01])",
    "%H": "(?:[01]?[0-9]|2[0-3])",
    "%k": "(?:[01]?[0-9]|2[0-3])",
    "%h": "(?:0?[1-9]|1[0-2])",
    "%l": "(?:0?[1-9]|1[0-2])",
    "%i": "[0-5][0-9]",
    "%s": "[0-5][0-9]",
    "%f": "[0-9]{1,6}",
    "%p": "(?:[AaPp][Mm])",
    # Not STR_TO_DATE's: the name of a month in one of the languages of MONTH_NAMES; a full stop may follow it.
    "%B": f"(?i:(?:{'|'.join(_LONGEST_FIRST)})[.]?)",
    # Not STR_TO_DATE's: a time zone offset, at the end of a format. expressions.py converts the moment to UTC.
    "%z": "(?:[Zz]|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9])",
}
OFFSET, MONTH = "%z", "%B"
# What each of PARTS is for people: an example, and its name.
_IN_WORDS = {
    "%Y": ("2026", "year"),
    "%y": ("26", "year"),
    "%m": ("12", "month"),
    "%c": ("12", "month"),
    "%b": ("Dec", "month"),
    "%M": ("December", "month"),
    "%B": ("December", "month"),
    "%d": ("31", "day"),
    "%e": ("31", "day"),
    "%H": ("14", "hour"),
    "%k": ("14", "hour"),
    "%h": ("02", "hour"),
    "%l": ("02", "hour"),
    "%i": ("05", "minute"),
    "%s": ("09", "second"),
    "%f": ("123", "fraction"),
    "%p": ("PM", "AM or PM"),
    "%z": ("+01:00", "offset"),
}
LONGEST_FORMAT = 60

_CLOCKS = ("%H:%i", "%H:%i:%s", "%H:%i:%s.%f")
_TIMES = ("", *(f" {clock}" for clock in (*_CLOCKS, "%h:%i %p", "%h:%i:%s %p")))
_ISO_TIMES = tuple(f"{between}{clock}{zone}" for between in "T " for clock in _CLOCKS for zone in ("", "%z", " %z"))
# The texts that both servers read by themselves (manual, Date and Time Literals), also with T before the time.
_NATIVE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{1,6})?)?)?|\d{8}|\d{14}")
_NATIVE_TIME = re.compile(r"-?\d{1,3}:\d{1,2}(?::\d{1,2}(?:\.\d*)?)?|-?\d{6}", re.ASCII)
_DATES = (
    *("%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%b %d, %Y", "%b %d %Y", "%Y-%b-%d", "%d %M %Y", "%M %d, %Y", "%M %d %Y"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%y-%m-%d", "%y/%m/%d", "%d-%b-%y", "%d %b %y"),
)
# Dates with the name of a month in any language; the English ones above are faster.
_NAMED = ("%d %B %Y", "%d. %B %Y", "%d-%B-%Y", "%d/%B/%Y", "%d de %B de %Y", "%B %d, %Y", "%d-%B-%y", "%d %B %y")
_NAMED_TIMES = ("", " %H:%i", " %H:%i:%s")
# Formats of times of day that the servers do not read by themselves.
TIME_FORMATS = ("%h:%i %p", "%h:%i:%s %p", "%h:%i%p", "%h:%i:%s%p", "%h %p")
_FORMATS = (
    *(f"%Y-%m-%d{time}" for time in _ISO_TIMES),
    *(f"{date}{time}" for date in _DATES for time in _TIMES),
    *(f"{date}{time}" for date in _NAMED for time in _NAMED_TIMES),
)
_MONTH_FIRST = tuple(sorted(_FORMATS, key=lambda each: not each.startswith("%m/%d/")))


def formats(delimiter: str) -> tuple[str, ...]:
    """The formats that are suggested, the likeliest first.

    Files with commas tend to be American, with the month first before a slash.
    """
    return _MONTH_FIRST if delimiter == "," else _FORMATS


def matches(datetime_format: str, value: str) -> bool:
    """Whether the value has this format."""
    return _compiled(datetime_format).fullmatch(value) is not None


@lru_cache(maxsize=1024)
def _compiled(datetime_format: str) -> re.Pattern[str]:
    return re.compile(format_pattern(datetime_format))


def is_date(value: str) -> bool:
    """Whether the value is a date in any known format."""
    return is_native(value) or _any_format().fullmatch(value) is not None


@cache
def _any_format() -> re.Pattern[str]:
    return re.compile("|".join(map(format_pattern, _FORMATS)))


def is_native(value: str) -> bool:
    """Whether the servers read the date by themselves."""
    return _NATIVE.fullmatch(value) is not None


def is_native_time(value: str) -> bool:
    """Whether the servers read the time of day by themselves."""
    return _NATIVE_TIME.fullmatch(value) is not None


def format_words(text: str) -> str:
    """A format by an example: "%d.%m.%Y" -> "31.12.2026 (day.month.year)". Texts that are no formats as they are."""
    names = format_names(text)
    return text if names == text else f"{_replaced(text, 0)} ({names})"


def format_names(text: str) -> str:
    """A format by the names of its parts: "%d.%m.%Y" -> "day.month.year". Texts that are no formats as they are."""
    return _replaced(text, 1) if set(re.findall("%.", text)) <= _IN_WORDS.keys() else text


def _replaced(text: str, which: int) -> str:
    return re.sub("%.", lambda part: _IN_WORDS[part[0]][which], text)


def check_format(text: str) -> None:
    """Raise Problem unless the format consists of PARTS and of characters that stand for themselves."""
    unknown = [part for part in re.findall(r"%.?", text, re.DOTALL) if part not in PARTS]
    if unknown:
        raise Problem(
            f"The date and time format {text!r} has {unknown[0]!r} in it, which means nothing.",
            advice=f"It can have {' '.join(PARTS)} and other characters between them.",
        )
    if f"{MONTH}." in text:
        raise Problem(
            f"The date and time format {text!r} has a full stop behind {MONTH}, which belongs to the name of a month.",
            advice=f"Leave it out, or write {MONTH} %Y.",
        )
    if MONTH in text and (OFFSET in text or text.count(MONTH) > 1):
        raise Problem(
            f"The date and time format {text!r} has {MONTH} twice, or with {OFFSET}, which is not possible.",
            advice="Write it as %d %B %Y %H:%i:%s, for example.",
        )
    if OFFSET in text.removesuffix(OFFSET):
        raise Problem(f"The date and time format {text!r} has {OFFSET} in the middle.", advice="Put it at the end.")
    if not re.search("%", text) or len(text) > LONGEST_FORMAT or not text.isprintable():
        raise Problem(f"{text!r} is no date and time format.", advice="Write it as %d.%m.%Y %H:%i:%s, for example.")


@lru_cache(maxsize=1024)
def format_pattern(datetime_format: str) -> str:
    """A regular expression for texts in this format."""
    parts = {**PARTS, "%f": f"{PARTS['%f']}(?![0-9])"}
    return "".join(parts.get(part) or re.escape(part) for part in re.split("(%.)", datetime_format))


def named_month(text: str, datetime_format: str) -> tuple[str, str]:
    """SQL for the text with the number of its month instead of the name, and STR_TO_DATE's format for that.

    A name that is found in another place than that of MONTH does not fit the format, which gives NULL.
    """
    name = f"REGEXP_SUBSTR({text}, {quote_text(PARTS[MONTH])})"
    names = ", ".join(map(quote_text, MONTHS))
    number = f"ELT(FIELD(TRIM(TRAILING '.' FROM LOWER({name})), {names}), {', '.join(map(str, MONTHS.values()))})"
    return f"REPLACE({text}, {name}, {number})", datetime_format.replace(MONTH, "%c")


def native_pattern(family: Family) -> str:
    """A regular expression for the texts that a column of dates or times reads by itself."""
    clock = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]*)?)?"
    day = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    if family is Family.TIME:
        return f"-?[0-9]{{0,1}}{clock}"
    return f"{day}(?:[ T]{clock})?|[0-9]{{8}}|[0-9]{{14}}"


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
