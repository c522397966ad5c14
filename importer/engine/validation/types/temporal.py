"""Rules for dates and times: which values a column stores unchanged, and what the servers do with unusual ones."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from importer.engine.source.arrays import Mask, Offsets, np
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.numbers import parse
from importer.engine.validation.types.temporal_batch import MOST_FRACTION, Fractions, existing_moments, valid_clocks
from importer.engine.validation.verdict import (
    MORE_SPACES,
    NOT_A_VALUE,
    OTHER_MARKS,
    OUT_OF_RANGE,
    TRUNCATED,
    Verdict,
    invalid_time,
    mismatch,
    refused,
    rounded,
    spaces_after,
)

# Any punctuation may separate the parts of a date (MySQL warns of some). A sign before a time could be an offset's.
_MARK = r"[!-/:-@\[-`{-~]"
_GAP = r"[!-*,./:-@\[-`{-~]"
_MOMENT = re.compile(
    rf"(?P<before>[ \t\n\v\f\r]*)(?P<year>\d+)(?P<first>{_MARK})(?P<month>\d+)(?P<second>{_MARK})(?P<day>\d+)"
    rf"(?:(?P<between>T|[ \t\n\v\f\r]+)(?P<hour>\d+)(?:(?P<third>{_GAP})(?P<minute>\d+)"
    rf"(?:(?P<fourth>{_GAP})(?P<sec>\d+)(?:\.(?P<part>\d*))?)?)?)?"
    r"(?P<offset>[+-]\d\d:\d\d)?(?P<after>[ \t\n\v\f\r]*)",
    re.ASCII,
)
_COMPACT = re.compile(
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<sec>\d\d)(?:\.(?P<part>\d*))?)?",
    re.ASCII,
)
CLOCK = re.compile(
    r"(?P<before>[ \t\n\v\f\r]*)(?P<sign>[+-]?)(?:(?P<days>\d{1,2}) )?(?P<hour>\d+):(?P<minute>\d+)"
    r"(?::(?P<sec>\d+)(?:\.(?P<part>\d*))?)?(?P<after>[ \t\n\v\f\r]*)",
    re.ASCII,
)

MOST_HOURS = 838
LOST_PART = "The value has a finer fraction of a second than {type} keeps."
TIME_OF_DAY = "The value has a time of day, which a date does not keep."
_FIRST_TIMESTAMP = (1970, 1, 1, 0, 0, 1)
# MariaDB's limit since 11.5. Between 2038 and this limit, the server decides.
_LAST_TIMESTAMP = (2106, 2, 7, 6, 28, 15)
# In other time zones than UTC; the server decides about the hours between.
_FIRST_ANYWHERE, _LAST_ANYWHERE = (1969, 12, 31, 0, 0, 0), (2106, 2, 8, 0, 0, 0)


class _WithFraction(Protocol):
    """A time type that may lose a fraction of a second."""

    type: str

    @property
    def loss(self) -> Verdict:
        return rounded("fraction of a second", LOST_PART.format(type=self.type))

    def loses(self, cells: Cells) -> Mask:
        """A mask of the cells that certainly lose a fraction of a second and nothing else; faster than judging each."""
        return self.fractions(cells).lost

    def fractions(self, cells: Cells) -> Fractions:
        """The cells that are certainly a valid time with a fraction, and those of them that lose digits."""
        ...


@dataclass(frozen=True)
class Day:
    """DATE."""

    type: str
    mariadb: bool

    def unusual(self, cells: Cells) -> Offsets:
        """The numbers of the cells to judge: all except `yyyy-mm-dd` of a day that certainly exists."""
        return np.flatnonzero(~existing_moments(cells, b"0000-00-00"))

    def judge(self, text: str) -> Verdict | None:
        moment = parse_moment(text)
        if isinstance(moment, str) or (verdict := _oddity(moment, self.type, mariadb=self.mariadb)):
            return _unreadable(text, self.type) if isinstance(moment, str) else verdict
        if moment.offset:
            return _offset(self.type)
        if any(moment.clock) or moment.part.strip("0"):
            return refused("time", TIME_OF_DAY)
        return _fraction(moment.part, 0, self.type, mariadb=self.mariadb)


@dataclass(frozen=True)
class Moment(_WithFraction):
    """DATETIME and TIMESTAMP with `digits` fractional digits. `utc`: the loading session is in UTC."""

    type: str
    digits: int
    timestamp: bool
    mariadb: bool
    utc: bool = True

    def unusual(self, cells: Cells) -> Offsets:
        """As Day.unusual, also usual with ` hh:mm:ss` and with a fraction that the column keeps."""
        usual = self._whole(cells)
        if usual.all():
            return np.arange(0)
        fractions = self.fractions(cells)
        usual |= fractions.known & ~fractions.lost
        left = np.flatnonzero(~usual)
        some = cells.some(left)
        return left[~(existing_moments(some, b"0000-00-00") & self._in_range(some))]

    def _whole(self, cells: Cells) -> Mask:
        """A mask of the cells that are certainly a valid yyyy-mm-dd hh:mm:ss, or with a T."""
        usual = existing_moments(cells, b"0000-00-00 00:00:00") & self._in_range(cells)
        others = np.flatnonzero(~usual & (cells.lengths == 19))
        if len(others):
            some = cells.some(others)
            usual[others] = existing_moments(some, b"0000-00-00T00:00:00") & self._in_range(some)
        return usual

    def fractions(self, cells: Cells) -> Fractions:
        return Fractions.of(cells, 19, self._whole, self.digits)

    def _in_range(self, cells: Cells) -> Mask:
        in_range: Mask = cells.first == ord("2") if self.timestamp else np.ones(len(cells), bool)
        return in_range

    def judge(self, text: str) -> Verdict | None:
        moment = parse_moment(text)
        if isinstance(moment, str) or (verdict := _oddity(moment, self.type, mariadb=self.mariadb)):
            return _unreadable(text, self.type) if isinstance(moment, str) else verdict
        if moment.offset and (self.mariadb or not moment.seconds or not self._keeps(moment.offset)):
            return _offset(self.type)
        first, last = (_FIRST_TIMESTAMP, _LAST_TIMESTAMP) if self.utc else (_FIRST_ANYWHERE, _LAST_ANYWHERE)
        if self.timestamp and not first <= moment.date + moment.clock <= last:
            return invalid_time(self.type, OUT_OF_RANGE)
        return _fraction(moment.part, self.digits, self.type, mariadb=self.mariadb)

    def _keeps(self, offset: str) -> bool:
        """Whether the moment stays the same when MySQL applies the offset: in a session at +00:00, for a TIMESTAMP."""
        return self.utc and (offset == "+00:00" or (self.timestamp and offset != "-00:00"))


@dataclass(frozen=True)
class Clock(_WithFraction):
    """TIME with `digits` fractional digits."""

    type: str
    digits: int
    mariadb: bool

    def unusual(self, cells: Cells) -> Offsets:
        """As Moment.unusual, for `hh:mm:ss`."""
        usual = valid_clocks(cells)
        if usual.all():
            return np.arange(0)
        fractions = self.fractions(cells)
        return np.flatnonzero(~(usual | fractions.known & ~fractions.lost))

    def fractions(self, cells: Cells) -> Fractions:
        return Fractions.of(cells, 8, valid_clocks, self.digits)

    def judge(self, text: str) -> Verdict | None:
        match = CLOCK.fullmatch(text)
        if not match:
            if re.fullmatch(r"-?\d{6}", text):
                sixty = int(text[-4:-2]) > 59 or int(text[-2:]) > 59
                return invalid_time(self.type) if sixty else None
            if re.fullmatch(r"-?\d+(?:\.\d*)?", text):
                return refused("no colon", "The value has no colon: the server would read its last digits as seconds.")
            if isinstance(parse_moment(text), MomentParts):
                return refused("date", "The value has a date, which a time does not keep.")
            return invalid_time(self.type)
        if not self.mariadb and (match["sign"] == "+" or match["before"] or match["after"]):
            return invalid_time(self.type, TRUNCATED if match["sign"] == "+" else MORE_SPACES)
        if (
            len(match["minute"]) > 2
            or len(match["sec"] or "") > 2
            or int(match["minute"]) > 59
            or int(match["sec"] or 0) > 59
        ):
            return invalid_time(self.type)
        if int(match["hour"]) + 24 * int(match["days"] or 0) > MOST_HOURS:
            return invalid_time(self.type, OUT_OF_RANGE)
        return _fraction(match["part"] or "", self.digits, self.type, mariadb=self.mariadb)


@dataclass(frozen=True)
class Year:
    """YEAR."""

    type: str
    mariadb: bool

    def unusual(self, cells: Cells) -> Offsets:
        """As Day.unusual, for years that begin with 19 or 20."""
        tens = cells.before_end(4) * np.uint16(256) + cells.before_end(3)
        usual = cells.match(b"0000")
        usual &= (tens == ord("1") * 256 + ord("9")) | (tens == ord("2") * 256 + ord("0"))
        return np.flatnonzero(~usual)

    def judge(self, text: str) -> Verdict | None:
        number = parse(text)
        if number is None:
            return mismatch(self.type, TRUNCATED if re.match(r"\s*[+-]?\d", text) else NOT_A_VALUE)
        whole = number.digits[: len(number.digits) - number.after_point]
        if number.exponent or number.digits[len(whole) :].strip("0"):
            return refused("fraction", "The value is not a whole number; the server would store it rounded.")
        year = int(whole[:40] or 0) * (-1 if number.negative else 1)
        if 0 <= year <= 99 and text != "0000":
            return two_digit_year()
        if year and not 1901 <= year <= 2155:
            return invalid_time(self.type, OUT_OF_RANGE)
        return spaces_after(mariadb=self.mariadb) if number.spaces else None


@dataclass(frozen=True)
class MomentParts:
    """The parts of a date with or without a time, and its notation.

    `date`: year, month, day. `clock`: hour, minute, second. `part`: the digits of the fraction. `year_digits`: the
    number of digits of the year. `seconds`: whether it has seconds. `marks`: whether other separators than - and : are
    in it. `spaces`: whether it has spaces before, after, or more than one between date and time. `other_gap`: whether a
    character other than T or a space separates date and time.
    """

    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    part: str
    offset: str
    year_digits: int
    seconds: bool
    marks: bool
    spaces: bool
    other_gap: bool


def parse_moment(text: str) -> "MomentParts | str":
    """Parse a date with or without a time; "" for a text that not both servers can read."""
    match = _COMPACT.fullmatch(text) or _MOMENT.fullmatch(text)
    if not match:
        return ""
    parts = {"before": "", "after": "", "first": "-", "second": "-", "third": ":", "fourth": ":", "between": " "}
    parts |= {"offset": "", **{name: value for name, value in match.groupdict().items() if value is not None}}
    numbers = [int(parts.get(name, "0")[-9:]) for name in ("year", "month", "day", "hour", "minute", "sec")]
    gap = parts["between"]
    return MomentParts(
        date=(numbers[0], numbers[1], numbers[2]),
        clock=(numbers[3], numbers[4], numbers[5]),
        part=parts.get("part", ""),
        offset=parts["offset"],
        year_digits=len(parts["year"]),
        seconds="sec" in parts,
        marks=(parts["first"], parts["second"], parts["third"], parts["fourth"]) != ("-", "-", ":", ":"),
        spaces=bool(parts["before"] or parts["after"]) or (gap.isspace() and len(gap) > 1),
        other_gap=gap not in ("T", " ") and len(gap) == 1,
    )


def _oddity(moment: MomentParts, type_: str, *, mariadb: bool) -> Verdict | None:
    """The verdict that applies to every type with a date."""
    if not _exists(moment):
        return invalid_time(type_, TRUNCATED if any(moment.date) else OUT_OF_RANGE)
    if moment.year_digits < 4:
        return two_digit_year()
    if not mariadb and (moment.marks or moment.other_gap):
        return refused(OTHER_MARKS, f"MySQL wants {type_} written with - and : as 2024-01-31 12:30:00.")
    if not mariadb and moment.spaces:
        return refused(MORE_SPACES, f"The value has more spaces than MySQL wants in {type_}.")
    return None


def _unreadable(text: str, type_: str) -> Verdict:
    compact_with_two_digits = re.fullmatch(r"\d{6}(?:\d{6})?", text, re.ASCII)
    return two_digit_year() if compact_with_two_digits else invalid_time(type_)


def _exists(moment: MomentParts) -> bool:
    year, month, day = moment.date
    hour, minute, second = moment.clock
    if year > 9999 or hour > 23 or minute > 59 or second > 59:
        return False
    try:
        date(year or 4, month, day)
    except ValueError:
        return False
    return year != 0 or (month, day) != (2, 29)


def _fraction(part: str, digits: int, type_: str, *, mariadb: bool) -> Verdict | None:
    """MariaDB cuts a fraction, MySQL rounds it. Only MariaDB gives a Note, and only for a seventh digit or more."""
    noted = mariadb and len(part) > MOST_FRACTION
    if part[digits:].strip("0"):
        return rounded(TRUNCATED if noted else "fraction of a second", LOST_PART.format(type=type_), noted=noted)
    return rounded(TRUNCATED, LOST_PART.format(type=type_), noted=True) if noted else None


def two_digit_year() -> Verdict:
    return refused("two-digit year", "The year has not four digits; the server would guess the century.")


def _offset(type_: str) -> Verdict:
    return refused("offset", f"The value has a time zone offset, which {type_} does not keep.")
