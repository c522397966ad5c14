"""The sample as dialects read it, by the reader that also loads, and what is measured of each reading."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import eq
from typing import Any

from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.format import MOST_FIELDS
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.records.boundary.boundaries import Ends, find_ends
from importer.engine.source.records.fields import fields
from importer.engine.source.records.no_records import find_no_records

RECORDS = 1000  # read at most for each reading
HEADER_RECORDS = 20  # among the first of which the header is searched
CELLS = 2000  # looked at for the share of clean values
# Shares from 0 to 1, in docs/reading.md.
BOUNDS: Mapping[str, float] = {
    "division": 0.5,  # Text has commas too, but not equally many on every line.
    "evenness": 0.9,
    "steadiness": 0.95,
    "a rival": 0.9,
    "below a title": 0.98,
}

# Delimiters of files with a single field, of which one does not occur in the sample.
_UNUSED = ("\t", ";", "|", "\x1f", "\x1e", "\x01")
_TEXT = re.compile(rb"[^\r\n]")
_NUMBER_WITH_MARKS = re.compile(rb"[-+]?\.?[0-9][0-9.,' ]*%?")
_MARKS = (b",", b";", b"\t", b"|")


class Readings:
    """The readings of a sample, each of which is made once. `final`: the sample ends where the file ends."""

    def __init__(self, sample: bytes, *, final: bool) -> None:
        self.sample, self.final = sample, final
        self._made: dict[Dialect, SampleReading] = {}

    @cached_property
    def unused_delimiter(self) -> str:
        """A delimiter that does not occur in the sample: with it each record is a single field."""
        return next((mark for mark in _UNUSED if mark.encode() not in self.sample), _UNUSED[-1])

    def read(self, dialect: Dialect, **marks: Any) -> "SampleReading":
        """The reading in the dialect with these marks. All delimiters that do not occur read alike."""
        dialect = replace(dialect, **marks)
        if dialect not in self._made:
            absent = dialect.delimiter != self.unused_delimiter and dialect.delimiter_bytes not in self.sample
            alone = replace(dialect, delimiter=self.unused_delimiter) if absent else dialect
            occurs = alone is dialect or alone.delimiter_bytes in self.sample
            self._made[dialect] = self._read(dialect) if occurs else replace(self.read(alone), dialect=dialect)
        return self._made[dialect]

    def _read(self, dialect: Dialect) -> "SampleReading":
        rows: list[tuple[bytes, ...]] = []
        starts: list[int] = []
        ends = find_ends(self.sample, dialect, final=self.final)
        none = set(find_no_records(self.sample[: ends.size], ends, dialect))
        # fields() would look for quotes and escapes in each record.
        is_split = not dialect.trailing_delimiter and not any(mark in self.sample for mark in dialect.marks)
        low = 0
        while low < ends.size and len(rows) < RECORDS:
            high = ends.first(low)
            record = self.sample[low:high].rstrip(b"\r\n")
            if record and low not in none:
                found = record.split(dialect.delimiter_bytes) if is_split else fields(record, dialect)
                rows.append(tuple(found[: MOST_FIELDS + 1]))
                starts.append(low)
            low = high if record else self._after_blank_lines(ends, high)
        return SampleReading(self, dialect, tuple(rows), tuple(starts), ends)

    def _after_blank_lines(self, ends: Ends, low: int) -> int:
        """The begin of the next record that is no blank line; the end of the last one if there is none."""
        text = _TEXT.search(self.sample, low, ends.size)
        return max(low, ends.last(low, text.start())) if text else ends.size


@dataclass(frozen=True)
class SampleReading:
    """The sample read in one dialect: the fields of its first records, and the byte at which each record begins.

    `ends`: those of all records that could be read.
    """

    readings: Readings
    dialect: Dialect
    rows: tuple[tuple[bytes, ...], ...]
    starts: tuple[int, ...]
    ends: Ends

    def again(self, **marks: Any) -> "SampleReading":
        """The same sample, read with these marks."""
        return self.readings.read(self.dialect, **marks)

    @property
    def sample(self) -> bytes:
        return self.readings.sample

    @property
    def reach(self) -> int:
        """The number of bytes that could be read."""
        return self.ends.size

    @property
    def stray(self) -> int:
        """The number of records with a stray or unclosed quote."""
        return len(self.ends.flaws)

    @cached_property
    def width(self) -> int:
        """The number of fields that most records have."""
        return Counter(map(len, self.rows)).most_common(1)[0][0] if self.rows else 0

    @cached_property
    def fitting(self) -> int:
        """The number of records with `width` fields."""
        return sum(len(row) == self.width for row in self.rows)

    @property
    def agreement(self) -> float:
        """The share of records with `width` fields."""
        return self.fitting / len(self.rows) if self.rows else 0.0

    @property
    def body_agreement(self) -> float:
        """The share of records after the first one with `width` fields: a header may be a name short."""
        below = self.rows[1:]
        return sum(len(row) == self.width for row in below) / len(below) if below else self.agreement

    @property
    def even(self) -> bool:
        """Whether the records have one width, or a few long runs of records, as of several tables, have one each."""
        widths = [len(row) for row in self.rows]
        steadiness = sum(map(eq, widths, widths[1:])) / (len(widths) - 1) if len(widths) > 1 else 1.0
        return self.agreement >= BOUNDS["evenness"] or (steadiness >= BOUNDS["steadiness"] and self.width > 2)

    @property
    def divides(self) -> bool:
        """Whether the delimiter divides the records."""
        return self.width > 1 and self.agreement > BOUNDS["division"]

    @cached_property
    def score(self) -> float:
        """From 0 to 1: how well records and values agree."""
        return self.agreement * (0.25 + 0.75 * self._clean) * (1 - self.blank_columns / 2) if self.divides else 0.0

    @property
    def _clean(self) -> float:
        """The share of values that look like single values: no other delimiter in them, unless they are numbers."""
        cells = [cell for row in self.rows for cell in row][:CELLS]
        own = self.dialect.delimiter_bytes
        return sum(_is_clean(cell, own) for cell in cells) / len(cells) if cells else 1.0

    @property
    def blank_columns(self) -> float:
        """The share of fields that are empty in all records: those between the two bars of `||`."""
        rows = [row for row in self.rows if len(row) == self.width]
        return sum(not any(values) for values in zip(*rows, strict=True)) / self.width if rows else 0.0

    def explains(self, other: "SampleReading") -> bool:
        """Whether this reading has no stray quote, and reads as much of the sample as the other, and as evenly."""
        return not self.stray and self.agreement >= other.agreement and self.reach >= other.reach

    def mends(self, other: "SampleReading") -> bool:
        """Whether this reading explains what the other one leaves over."""
        return self.explains(other) and (other.stray > 0 or self.reach > other.reach)

    def text(self, value: bytes, most: int | None = None) -> str:
        """Bytes of the sample as text, or its first characters."""
        return value.decode(self.dialect.plain.encoding, "replace")[:most]

    def text_rows(self, most: int | None = None) -> list[list[str]]:
        """The rows, or the first ones of them, as text."""
        encoding = self.dialect.plain.encoding
        return [[value.decode(encoding, "replace") for value in row] for row in self.rows[:most]]

    def header_row(self, names: Sequence[str]) -> int | None:
        """The position of the first row that has names of the table's columns; None if there is none.

        At least two names, or all fields of the row, must be names of columns, and the row must have the usual width.
        """
        if not names:
            return None
        for number, row in enumerate(self.text_rows(HEADER_RECORDS)):
            given = [name for name in row if name.strip()]
            fit = sum(map(bool, match_names(row, names)))
            usual = len(row) == self.width or (self.width > 2 and len(row) == self.width - 1)
            if usual and given and (fit == len(given) or (fit > 1 and fit >= len(given) / 2)):
                return number
        return None


def _is_clean(cell: bytes, own: bytes) -> bool:
    if cell[:1] == b" " and own[-1:] != b" " and not _NUMBER_WITH_MARKS.fullmatch(cell.strip()):
        return False
    marks = [mark for mark in _MARKS if mark in cell and mark not in own]
    return not marks or (marks == [b","] and _NUMBER_WITH_MARKS.fullmatch(cell) is not None)


# What is measured of a reading, for a table with columns of these names: more is better. The first measure counts most.
MEASURES: Mapping[str, Callable[[SampleReading, Collection[str]], Any]] = {
    "reach": lambda reading, _: reading.reach,
    "stray quotes": lambda reading, _: -reading.stray,
    "names of the table": lambda reading, names: reading.header_row(list(names)) is not None,
    "division": lambda reading, _: reading.divides,
    "width of a table": lambda reading, _: reading.width <= MOST_FIELDS,
    "even widths, clean values": lambda reading, _: round(reading.score, 2),
    "number of fields": lambda reading, _: reading.width,
}
# The measures from which on the readings of a mark are compared.
FROM = {"line end": "reach", "delimiter": "names of the table"}


def weight(reading: SampleReading, mark: str, names: Collection[str] = ()) -> tuple[Any, ...]:
    """The reading's measures for the choice of a mark."""
    measures = list(MEASURES)
    return tuple(MEASURES[name](reading, names) for name in measures[measures.index(FROM[mark]) :])
