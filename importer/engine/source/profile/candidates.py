"""Reads the sample in candidate dialects, and compares them: consistency of the records, and of the values in them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import eq

from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.format import MOST_FIELDS
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.records.boundary.boundaries import Ends, find_ends
from importer.engine.source.records.fields import fields
from importer.engine.source.records.no_records import find_no_records

RECORDS = 1000  # read at most for each candidate
HEADER_RECORDS = 20  # among the first of which the header is searched
CELLS = 2000  # looked at for the share of clean values
EVEN = 0.9  # agreement from which the usual delimiters are good enough
STEADY = 0.95  # steadiness that text with a few delimiters in it does not have
RIVAL = 0.9  # of the best candidate's fitness: another one that reaches it would fit as well

_TEXT = re.compile(rb"[^\r\n]")
_NUMBER_WITH_MARKS = re.compile(rb"[-+]?\.?[0-9][0-9.,' ]*%?")
_MARKS = (b",", b";", b"\t", b"|")


@dataclass(frozen=True)
class DialectCandidate:
    """The sample read in one dialect: the fields of its first records, and the byte at which each record begins.

    `ends`: those of all records that could be read.
    """

    dialect: Dialect
    rows: tuple[tuple[bytes, ...], ...]
    starts: tuple[int, ...]
    ends: Ends

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
    def agreement(self) -> float:
        """The share of records with `width` fields."""
        return self.fitting / len(self.rows) if self.rows else 0.0

    @cached_property
    def fitting(self) -> int:
        """The number of records with `width` fields."""
        width = self.width
        return sum(len(row) == width for row in self.rows)

    @property
    def body_agreement(self) -> float:
        """The share of records after the first one with `width` fields: a header may be a name short."""
        below = self.rows[1:]
        return sum(len(row) == self.width for row in below) / len(below) if below else self.agreement

    @cached_property
    def steadiness(self) -> float:
        """The share of records with as many fields as the one before: high in a file of several tables, too."""
        widths = [len(row) for row in self.rows]
        return sum(map(eq, widths, widths[1:])) / (len(widths) - 1) if len(widths) > 1 else 1.0

    @property
    def even(self) -> bool:
        """Whether the records have one width, or a few long runs of records have one each."""
        return self.agreement >= EVEN or (self.steadiness >= STEADY and self.width > 2)

    @property
    def divides(self) -> bool:
        """Whether the delimiter divides the records: text has commas too, but not equally many on every line."""
        return self.width > 1 and self.agreement > 0.5

    @cached_property
    def clean(self) -> float:
        """The share of values that look like single values: no other delimiter in them, unless they are numbers."""
        cells = [cell for row in self.rows for cell in row][:CELLS]
        own = self.dialect.delimiter_bytes
        return sum(_is_clean(cell, own) for cell in cells) / len(cells) if cells else 1.0

    @property
    def score(self) -> float:
        """From 0 to 1: how well records and values agree."""
        return self.agreement * (0.25 + 0.75 * self.clean) * (1 - self.blank_columns / 2) if self.divides else 0.0

    @cached_property
    def blank_columns(self) -> float:
        """The share of fields that are empty in all records: those between the two bars of `||`."""
        rows = [row for row in self.rows if len(row) == self.width]
        filled = [any(row[number] for row in rows) for number in range(self.width)]
        return filled.count(False) / self.width if rows else 0.0

    def explains(self, other: "DialectCandidate") -> bool:
        """Whether this reading has no stray quote, and reads as much of the sample as the other, and as evenly."""
        return not self.stray and self.agreement >= other.agreement and self.reach >= other.reach

    def mends(self, other: "DialectCandidate") -> bool:
        """Whether this reading explains what the other one leaves over."""
        return self.explains(other) and (other.stray > 0 or self.reach > other.reach)

    def quoted_whole(self, sample: bytes) -> bool:
        """Whether each record begins with the quote: of records with a single field, whether all are in quotes."""
        quote = self.dialect.quote.encode()
        return bool(quote) and all(sample.startswith(quote, start) for start in self.starts)

    def text_rows(self, most: int | None = None) -> list[list[str]]:
        """The rows, or the first ones of them, as text, in the encoding of the plain file."""
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
            if given and (fit == len(given) or (fit > 1 and fit >= len(given) / 2)) and self._may_be_header(row):
                return number
        return None

    def _may_be_header(self, row: Sequence[str]) -> bool:
        return len(row) == self.width or (self.width > 2 and len(row) == self.width - 1)


def _is_clean(cell: bytes, own: bytes) -> bool:
    if cell[:1] == b" " and own[-1:] != b" " and not _NUMBER_WITH_MARKS.fullmatch(cell.strip()):
        return False
    marks = [mark for mark in _MARKS if mark in cell and mark not in own]
    return not marks or (marks == [b","] and _NUMBER_WITH_MARKS.fullmatch(cell) is not None)


def read_candidate(sample: bytes, dialect: Dialect, final: bool) -> DialectCandidate:
    """Read the sample's first records. `final`: the sample ends where the file ends."""
    rows: list[tuple[bytes, ...]] = []
    starts: list[int] = []
    ends = find_ends(sample, dialect, final=final)
    none = set(find_no_records(sample[: ends.size], ends, dialect))
    low = 0
    while low < ends.size and len(rows) < RECORDS:
        high = ends.first(low)
        record = sample[low:high].rstrip(b"\r\n")
        if record and low not in none:
            rows.append(tuple(fields(record, dialect)[: MOST_FIELDS + 1]))
            starts.append(low)
        low = high if record else _after_blank_lines(sample, ends, high)
    return DialectCandidate(dialect, tuple(rows), tuple(starts), ends)


def _after_blank_lines(sample: bytes, ends: Ends, low: int) -> int:
    """The begin of the next record that is no blank line; the end of the last one if there is none."""
    text = _TEXT.search(sample, low, ends.size)
    return max(low, ends.last(low, text.start())) if text else ends.size


def fitness(candidate: DialectCandidate, names: Sequence[str] = ()) -> tuple[bool, bool, float, int]:
    """The measures of a candidate, the most important one first.

    A header with the names of the table's columns; several fields; the score; the number of fields.
    """
    has_names = candidate.header_row(names) is not None
    return has_names, candidate.divides, round(candidate.score, 2), candidate.width


def rivals(best: DialectCandidate, candidates: Sequence[DialectCandidate]) -> list[DialectCandidate]:
    """Other candidates that divide the records nearly as well as the best one, and in another way."""
    return [
        each
        for each in candidates
        if each.dialect.delimiter != best.dialect.delimiter
        and each.divides
        and each.score >= RIVAL * best.score
        and not _same_but_blank(each, best)
    ]


def _same_but_blank(one: DialectCandidate, other: DialectCandidate) -> bool:
    """Whether the delimiters differ in a blank only: then the better one has already been chosen."""
    return one.dialect.delimiter.strip(" ") == other.dialect.delimiter.strip(" ")


def with_escape(candidate: DialectCandidate, sample: bytes, final: bool, escape: str) -> DialectCandidate:
    return read_candidate(sample, replace(candidate.dialect, escape=escape), final)
