"""File patterns: a path below the connection's base, with `*`, `?`, `[abc]` and dates.

`{date:%Y%m%d}` is the moment's date in the schedule's zone, in the format of strftime. An offset goes before the colon:
`{date-1d:%Y-%m-%d}` is the day before, `{date+2h:%H}` two hours later; units are h, d, w and m (months). Days, weeks
and months follow the zone's calendar; an hour is always 60 minutes, even when the clocks change.
"""

import calendar
import fnmatch
import itertools
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from importer.engine.errors import SourceProblem

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_DATE = re.compile(r"date(?:([+-])(\d{1,5})([hdwm]))?(?::(.+))?", re.DOTALL)
_FORMAT = re.compile(r"(?:[^%]|%[YymdHMSjaAbBuGV%])+", re.DOTALL)
_SPECIAL = re.compile(r"[*?[]")
_ADVICE = "Write dates as {date:%Y%m%d} or, a day earlier, {date-1d:%Y%m%d}; units are h, d, w and m (months)."
DEFAULT_FORMAT = "%Y-%m-%d"


@dataclass(frozen=True)
class Pattern:
    """A pattern with its dates filled in: an fnmatch pattern for each level of folders.

    `subfolders`: files may also lie in any folder below the pattern's folders.
    """

    text: str
    subfolders: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.text.split("/"))

    @property
    def folders(self) -> tuple[str, ...]:
        """The leading folders without wildcards."""
        return tuple(itertools.takewhile(lambda part: not _SPECIAL.search(part), self.parts[:-1]))

    @property
    def prefix(self) -> str:
        """The common beginning of all names that can match."""
        folders = self.folders
        start = "".join(f"{part}/" for part in folders)
        if self.subfolders and len(folders) == len(self.parts) - 1:
            return start
        return start + _SPECIAL.split(self.parts[len(folders)], maxsplit=1)[0]

    def matches(self, name: str) -> bool:
        """Whether a file's name, relative to the base, matches."""
        *folders, last = name.split("/")
        depth = len(self.parts) - 1
        if len(folders) < depth or (len(folders) > depth and not self.subfolders):
            return False
        return self.may_lie_below(tuple(folders)) and fnmatch.fnmatchcase(last, self.parts[-1])

    def may_lie_below(self, folders: tuple[str, ...]) -> bool:
        """Whether files in this folder below the base, or further down, can match."""
        depth = len(self.parts) - 1
        if len(folders) > depth and not self.subfolders:
            return False
        return all(map(fnmatch.fnmatchcase, folders[:depth], self.parts))


def fill_in_dates(pattern: str, moment: datetime, zone: tzinfo, subfolders: bool = False) -> Pattern:
    """The pattern for a moment. Raises SourceProblem if it is invalid or leaves the base."""
    text = _PLACEHOLDER.sub(lambda match: _format_date(match[1], pattern, moment, zone), pattern)
    if re.search(r"[{}]", text):
        raise SourceProblem("A brace in the pattern has no other half.", pattern, _ADVICE)
    if any(part.strip() in ("", ".", "..") for part in text.split("/")) or "\0" in text or "\\" in text:
        raise SourceProblem(
            "The pattern is not a path below the connection's base.",
            pattern,
            "Write a name, or folders and a name, with / between them: daily/sales-*.csv.",
        )
    return Pattern(text, subfolders)


def _format_date(placeholder: str, pattern: str, moment: datetime, zone: tzinfo) -> str:
    match = _DATE.fullmatch(placeholder)
    if not match:
        raise SourceProblem(f"{{{placeholder}}} is not known.", pattern, _ADVICE)
    sign, number, unit, form = match.groups()
    form = form or DEFAULT_FORMAT
    if not _FORMAT.fullmatch(form):
        raise SourceProblem(
            f"The date format {form} is not known.", pattern, "Use %Y %y %m %d %H %M %S %j %a %A %b %B %u %G %V."
        )
    try:
        return _shifted(moment, zone, int(f"{sign}{number}") if number else 0, unit).strftime(form)
    except (OverflowError, ValueError) as error:
        raise SourceProblem(f"{{{placeholder}}} is no date.", pattern, "Use a smaller offset.") from error


def _shifted(moment: datetime, zone: tzinfo, number: int, unit: str) -> datetime:
    if unit == "h":
        return (moment.astimezone(UTC) + timedelta(hours=number)).astimezone(zone)
    here = moment.astimezone(zone)
    if unit != "m":
        return here + timedelta(days=number * (7 if unit == "w" else 1))
    year, month = divmod(here.year * 12 + here.month - 1 + number, 12)
    return here.replace(year=year, month=month + 1, day=min(here.day, calendar.monthrange(year, month + 1)[1]))
