"""Counts the lines of a file that are no records, by kind, and keeps the text of the first of each kind.

Physical lines are counted as boundary/lines.py counts them. The lines of all records and these lines are the lines of
the file.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from importer.engine.source import encodings
from importer.engine.source.byte_source import Readable
from importer.engine.source.decisions import LINE_KINDS, MOST_LINES_SHOWN, SkippedLine
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.sample import skipped_bytes
from importer.engine.source.records.blocks import Block, end_of_contents, read_exactly
from importer.engine.source.records.boundary.boundaries import count_between
from importer.engine.source.records.boundary.lines import ends_in_lf, line_ends
from importer.engine.source.records.fields import records
from importer.engine.source.records.no_records import kind_of

LONGEST_TEXT = 200  # characters of a line that are kept
# More bytes than LONGEST_TEXT characters have in any encoding that is read.
_LONGEST_BYTES = 4 * LONGEST_TEXT + 4
_ANY_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class SkippedLines:
    """`counts`: the number of lines by kind. `shown`: the first MOST_LINES_SHOWN of each kind, in the file's order."""

    counts: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[SkippedLine, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __add__(self, later: "SkippedLines") -> "SkippedLines":
        """These lines, and those of a later part of the file."""
        if not (self and later):
            return self or later
        return SkippedLines(Counter(self.counts) + Counter(later.counts), _first_of_each((*self.shown, *later.shown)))

    def __str__(self) -> str:
        """`1 header, 2 above the table, 3 blank`; "none" if there are none."""
        counted = (f"{self.counts[kind]:,} {words}" for kind, words in LINE_KINDS.items() if kind in self.counts)
        return ", ".join(counted) or "none"

    def as_json(self) -> dict[str, Any]:
        """The key `lines` of reports: for each kind its count, and line and text of the first."""
        return {
            kind: {
                "count": self.counts[kind],
                "texts": [{"line": each.line, "text": each.text} for each in self.shown if each.kind == kind],
            }
            for kind in LINE_KINDS
            if kind in self.counts
        }

    @classmethod
    def from_json(cls, kinds: Mapping[str, Any]) -> "SkippedLines":
        """What as_json() has written."""
        shown = (SkippedLine(**each, kind=kind) for kind, lines in kinds.items() for each in lines["texts"])
        counts = {kind: lines["count"] for kind, lines in kinds.items()}
        return cls(counts, tuple(sorted(shown, key=lambda each: each.line)))


NO_LINES = SkippedLines()


@dataclass
class LineCounter:
    """Counts the skipped lines of a part of the file, which it is given in the file's order."""

    dialect: Dialect
    counts: Counter[str] = field(default_factory=Counter)
    shown: list[SkippedLine] = field(default_factory=list)

    def add(self, line: int, raw: bytes, kind: str) -> None:
        """Add one line: its number and its bytes, with or without its line end."""
        self.counts[kind] += 1
        if self.counts[kind] <= MOST_LINES_SHOWN:
            text = encodings.readable_text(raw[:_LONGEST_BYTES].rstrip(b"\r\n"), self.dialect.encoding)
            self.shown.append(SkippedLine(line, text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…", kind))

    def add_block(self, block: Block, low: int, high: int) -> None:
        """Add the lines of a block between two ends that are no records."""
        if not (count := count_between(block.blank, low, high)):
            return
        first = count_between(block.blank, 0, low)
        if self.dialect.leaves_lines_out:
            self._add_each(block, block.blank[first : first + count])
            return
        shown = max(0, min(count, MOST_LINES_SHOWN - self.counts["blank"]))
        for begin in block.blank[first : first + shown]:
            self.add(block.first_line + line_ends(block.data, self.dialect.line_end, 0, begin), b"", "blank")
        self.counts["blank"] += count - shown

    def _add_each(self, block: Block, begins: Sequence[int]) -> None:
        """Add the lines of a block that begin there, each of its own kind."""
        data = block.data or self.dialect.comment_bytes
        line, counted = block.first_line, 0
        for begin in begins:
            kind = kind_of(data, begin, self.dialect)
            if self.counts[kind] >= MOST_LINES_SHOWN:
                self.counts[kind] += 1
                continue
            line, counted = line + line_ends(data, self.dialect.line_end, counted, begin), begin
            text = _ANY_LINE_END.split(data[begin : min(block.ends.first(begin), begin + _LONGEST_BYTES)])[0]
            self.add(line, text, kind)

    def lines(self) -> SkippedLines:
        return SkippedLines(dict(self.counts), tuple(self.shown)) if self.counts else NO_LINES


def lines_before(fd: Readable, dialect: Dialect, end: int) -> SkippedLines:
    """The lines before the first data record, which begins at byte `end`: preamble, header, and blank lines."""
    begin, counter = read_exactly(fd, end, 0), LineCounter(dialect)
    mark = len(encodings.UTF8_MARK) if begin.startswith(encodings.UTF8_MARK) else 0
    header = mark + skipped_bytes(begin[mark:], dialect)
    preamble = list(_physical_lines(begin[mark:header], dialect))
    rest = list(_physical_lines(begin[header:], dialect))
    low, high = _header_lines(begin[header:], dialect)
    for line, raw in enumerate(preamble, start=1):
        counter.add(line, raw, "preamble" if raw.strip() else "blank")
    for at, raw in enumerate(rest):
        is_below = high <= at < high + dialect.skip_after_header and raw.strip(b"\r\n")
        kind = "header" if low <= at < high else "preamble" if is_below else kind_of(raw, 0, dialect)
        # Without any record, the footer comes before the data, too.
        kind = "footer" if kind == "blank" and raw.strip(b"\r\n") else kind
        counter.add(len(preamble) + at + 1, raw, kind)
    return counter.lines()


def _header_lines(data: bytes, dialect: Dialect) -> tuple[int, int]:
    """The numbers of the first line of the header and of the line after it, from 0; blank lines in it are its own."""
    for record in records(data, dialect, line=0):
        raw = data[record.start : record.end]
        if raw.strip(b"\r\n") and kind_of(raw, 0, dialect) != "comment":
            return record.line, record.line + len(list(_physical_lines(raw, dialect)))
    return 0, 0


def lines_after(fd: Readable, dialect: Dialect, begin: int, line: int, end: int) -> SkippedLines:
    """The lines from byte `begin` on, behind the last record, to the file's `end`. The first is number `line`.

    Those with a text belong to the footer (Dialect.skip_footer). What end_of_contents() excludes is no line.
    """
    counter = LineCounter(dialect)
    end = end_of_contents(fd, dialect, begin, end)
    for number, raw in enumerate(_physical_lines(read_exactly(fd, end - begin, begin), dialect), start=line):
        counter.add(number, raw, "footer" if raw.strip(b"\r\n") else "blank")
    return counter.lines()


def _physical_lines(data: bytes, dialect: Dialect) -> Iterator[bytes]:
    """The lines of whole records, without their line ends."""
    lines = data.split(b"\n") if ends_in_lf(dialect.line_end) else _ANY_LINE_END.split(data)
    # What follows the last line end is a line only if it is not empty.
    yield from lines if lines[-1] else lines[:-1]


def _first_of_each(lines: Iterable[SkippedLine]) -> tuple[SkippedLine, ...]:
    kept: Counter[str] = Counter()
    first = []
    for each in lines:
        kept[each.kind] += 1
        if kept[each.kind] <= MOST_LINES_SHOWN:
            first.append(each)
    return tuple(first)
