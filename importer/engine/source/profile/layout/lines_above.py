"""The lines of a sample above its header, or above its first record, that are no records."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from importer.engine.source.decisions import Decision, SkippedLine, Standing, answer, asked
from importer.engine.source.dialect import Dialect, unescape_mark
from importer.engine.source.profile.header import header_decision, kind
from importer.engine.source.profile.readings import BOUNDS, SampleReading
from importer.engine.source.records.boundary.lines import line_end_pattern, line_ends

LONGEST_SHOWN = 200  # characters of a line
MOST_SKIPPED = 20  # lines before the header
# Excel reads the delimiter from such a first line.
_SEPARATOR_LINE = re.compile(rb'"?sep=(\\t|[^\r\n"])"?(?:\r\n|\n|\r|\Z)', re.IGNORECASE)


@dataclass(frozen=True)
class Skipped:
    """The first lines that are no records: their number, their size in bytes, and the decision, None without lines."""

    lines: int = 0
    bytes: int = 0
    decision: Decision | None = None


def separator_line(sample: bytes) -> tuple[str, Skipped]:
    """The delimiter that a first line such as `sep=;` names, and that line; "" without one."""
    match = _SEPARATOR_LINE.match(sample)
    if not match:
        return "", Skipped()
    mark = unescape_mark(match[1].decode("latin-1"))
    evidence = f"The first line names the delimiter for Excel ({match[0].decode('latin-1').strip()}): left out."
    return mark, Skipped(1, match.end(), Decision("skipped_lines", "1", Standing.PROVED, evidence))


def lines_before_table(best: SampleReading, names: Sequence[str]) -> Skipped:
    """The lines above the header, or above the first record, that are no records.

    Lines above a row with the names of the table's columns are none. Otherwise those of a title or a note above a wider
    table may be none; that is a guess.
    """
    header = best.header_row(names)
    if header:
        return _skipped(best, header, "above the names of the table's columns", proved=True)
    if header is None and best.divides and _has_names_below(best):
        return _skipped(best, 1, "numbers above what looks like names", proved=False)
    if header == 0 or not best.divides or _filled(best.rows[0]) == best.width:
        return Skipped()
    # A delimiter at the end of each record makes no field.
    width = min(best.width, max(map(_filled, best.rows)))
    narrow = list(takewhile(lambda row: _filled(row) < width, best.rows))
    below = best.rows[len(narrow) :]
    fits = sum(len(row) == best.width for row in below)
    if not 0 < len(narrow) <= MOST_SKIPPED or len(below) < 2 or fits < BOUNDS["below a title"] * len(below):
        return Skipped()
    if any(_filled(row) > max(1, width // 2) for row in narrow) and not _certainly_above(best, len(narrow)):
        return Skipped()
    return _skipped(best, len(narrow), f"with fewer fields than the {width} below", proved=False)


def _certainly_above(best: SampleReading, count: int) -> bool:
    """Whether the first `count` records, which are nearly as wide as the table, stand above a header.

    A header with one name less than the table has fields is a header, and an error that must be named.
    """
    found = header_decision(best.text_rows()[count:])
    return count > 1 and (found.value, found.standing) == ("yes", Standing.PROVED)


def _has_names_below(best: SampleReading) -> bool:
    """Whether the first record has numbers only, as the size of a table, and the second one is a header."""
    if len(best.rows) < 3 or len(best.rows[1]) != best.width:
        return False
    if not all(kind(best.text(value)) == "number" for value in best.rows[0]):
        return False
    found = header_decision(best.text_rows()[1:])
    return (found.value, found.standing) == ("yes", Standing.PROVED)


def _filled(row: Sequence[bytes]) -> int:
    """The number of fields up to the last one with a text: programs pad titles with delimiters."""
    return max((number for number, value in enumerate(row, start=1) if value.strip()), default=0)


def _skipped(best: SampleReading, rows: int, where: str, *, proved: bool) -> Skipped:
    end = best.starts[rows]
    lines = line_ends(best.sample, best.dialect.line_end, 0, end)
    count = "The first line is" if lines == 1 else f"The first {lines} lines are"
    evidence = f"{count} no part of the table ({where}): left out."
    shown = tuple(each.text for each in skipped_lines(best.sample, best.dialect, lines))
    left_out = answer(f"{lines} line{'s' if lines > 1 else ''} left out", shown, skip_rows=lines)
    # If these are single fields, all lines are.
    records = answer("they are records", shown, skip_rows=0)
    if all(len(row) == 1 for row in best.rows[:lines]):
        unused = best.readings.unused_delimiter
        records = answer("each line is a single field", shown, skip_rows=0, delimiter=unused)
    return Skipped(lines, end, asked("skipped_lines", evidence, left_out, records, proved=proved))


def skipped_lines(sample: bytes, dialect: Dialect, lines: int, first_line: int = 1) -> tuple[SkippedLine, ...]:
    """The texts of the first lines of the sample, which are no records."""
    texts = line_end_pattern(dialect.line_end).split(sample[: 64 * 1024])[:lines]
    shown = [text.rstrip(b"\r").decode(dialect.plain.encoding, "replace")[:LONGEST_SHOWN] for text in texts]
    kinds = ["preamble" if text.strip() else "blank" for text in texts]
    return tuple(map(SkippedLine, range(first_line, first_line + len(texts)), shown, kinds))
