"""The lines of a sample among and below its records that are no records: comments, headers, units, a footer."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from importer.engine.source.decisions import Decision, answer, asked
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8_MARK
from importer.engine.source.formats.footer import LastLine, count_footer, footer_question
from importer.engine.source.formats.header_names import are_units
from importer.engine.source.profile.header import header_decision, kind
from importer.engine.source.profile.layout.lines_above import LONGEST_SHOWN
from importer.engine.source.profile.readings import SampleReading
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS
from importer.engine.source.records.fields import fields
from importer.engine.source.records.no_records import find_no_records, kind_of

COMMENTS = ("#", "//")
TEXTS_SHOWN = 2
IsRow = Callable[[Sequence[str]], bool]
_WORD = re.compile(rb"#? ?[^\W\d]\w*")


def comment_begin(sample: bytes) -> str:
    """What comments may begin with, "" if no line, or most lines, begin so: then it is a part of values."""
    text = b"\n" + sample.replace(b"\r", b"\n")
    for begin in COMMENTS:
        # Counted before the lines are: most files have none of them.
        count = text.count(b"\n" + begin.encode())
        if count and count <= sum(map(bool, text.split(b"\n"))) / 2:
            return begin
    return ""


def comment_decision(best: SampleReading, names: Sequence[str]) -> Decision | None:
    """The decision that `best`, in whose dialect some lines are comments, is right; None if they are none.

    Proved if each of them has another number of fields than the table, or if all stand above the table's names. The
    only line with # may be the header itself.
    """
    sample, dialect, ends = best.sample, best.dialect, best.ends
    none = find_no_records(sample[: ends.size], ends, dialect)
    begins = [at for at in none if kind_of(sample, at, dialect) == "comment"]
    lines = [sample[at : ends.first(at)].rstrip(b"\r\n") for at in begins]
    if not lines or not best.rows:
        return None
    as_records = any(len(fields(line, replace(dialect, comment=""))) == best.width for line in lines)
    is_above, header = begins[-1] < best.starts[0], best.header_row(names)
    if is_above and as_records and header is None:
        return None
    plural = "s begin" if len(lines) > 1 else " begins"
    evidence = f"{len(lines)} line{plural} with {dialect.comment} and {'are' if len(lines) > 1 else 'is'} left out."
    may_be_names = is_above and header is None and _may_be_names(lines[-1], ends.first(begins[-1]), best)
    proved = best.width > 1 and (not (as_records or may_be_names) or (is_above and header == 0))
    shown = _shown(lines, dialect)
    comments = answer("they are comments", shown, comment=dialect.comment)
    return asked("comment", evidence, comments, answer("they are records", shown, comment=""), proved=proved)


def _may_be_names(comment: bytes, end: int, best: SampleReading) -> bool:
    """Whether the last comment has words between delimiters, and ends where the first record of a file without a
    header begins.
    """
    names = fields(comment, replace(best.dialect, comment=""))
    if end != best.starts[0] or len(names) < 2 or not all(map(_WORD.fullmatch, names)):
        return False
    return header_decision(best.text_rows()).value == "no"


def without_repeated_header(best: SampleReading) -> SampleReading | None:
    """The reading without the records that repeat the first one, which may be a header; None if none does."""
    if best.width < 2 or not best.rows or any(kind(value.decode("latin-1")) for value in best.rows[0]):
        return None
    repeated = (best.rows[0], (UTF8_MARK + best.rows[0][0], *best.rows[0][1:]))
    kept = [number for number, row in enumerate(best.rows) if not number or row not in repeated]
    if not 1 < len(kept) < len(best.rows):
        return None
    rows, starts = [best.rows[number] for number in kept], [best.starts[number] for number in kept]
    dialect = replace(best.dialect, skip_repeated_header=True)
    return replace(best, dialect=dialect, rows=tuple(rows), starts=tuple(starts))


def repeated_header_decision(best: SampleReading, names: Sequence[str]) -> Decision:
    """The decision to leave out the records that repeat the header; proved if it has the names of the table."""
    line = best.dialect.delimiter.join(best.text_rows(1)[0])[:LONGEST_SHOWN]
    evidence = f"The header {line!r} comes again among the records: left out."
    again = answer("the header comes again", [f"left out: {line}"], skip_repeated_header=True)
    rows = answer("these are records", [f"a row: {line}"], skip_repeated_header=False)
    return asked("skip_repeated_header", evidence, again, rows, proved=best.header_row(names) == 0)


def units_decision(best: SampleReading) -> Decision | None:
    """The decision to leave out a line of units below the header: all of its fields, and no others, in brackets.

    Proved if a number stands below a unit, which is no number.
    """
    first = best.text_rows(3)
    if len(first) < 3 or len(first[1]) != best.width or not are_units(first[1]):
        return None
    below = best.text_rows()[2:]
    if any(map(are_units, below)):
        return None
    shown = best.dialect.delimiter.join(first[1])[:LONGEST_SHOWN]
    evidence = f"The line below the header has units ({shown}): left out."
    units = answer("units", [f"left out: {shown}"], skip_after_header=1)
    record = answer("a record", [f"a row: {shown}"], skip_after_header=0)
    proved = any(kind(value) for row in below for value in row)
    return asked("skip_after_header", evidence, units, record, proved=proved)


def footer_decision(
    tail: bytes, dialect: Dialect, width: int, is_row: IsRow | None = None
) -> tuple[int, Decision | None]:
    """The number of lines at the end that are a footer, and the guess that they are.

    `tail`: the last bytes of the file. The table has `width` fields. `is_row`: whether these values are known to be a
    row.
    """
    lines = re.split(RECORD_ENDS[dialect.line_end], tail.rstrip(b"\r\n"))
    count = count_footer(_upwards(lines[1:], dialect, width, is_row))
    if not count or width < 2:
        return 0, None
    return count, footer_question(count, _shown([line for line in lines[-count:] if line.strip()], dialect))


def _upwards(lines: Sequence[bytes], dialect: Dialect, width: int, is_row: IsRow | None) -> Iterator[LastLine]:
    """The lines from the last one on, up to a row, or one that may be the end of a value of several lines."""
    for line in reversed(lines):
        if dialect.quote and line.count(dialect.quote.encode()) % 2:
            return
        row = [value.decode(dialect.plain.encoding, "replace") for value in fields(line, dialect)]
        if is_row and is_row(row):
            return
        yield LastLine(row[0], len(row) < width, blank=not line.strip())


def last_lines(tail: bytes, dialect: Dialect, count: int) -> str:
    """The last lines of a file as one text, for a message."""
    lines = re.split(RECORD_ENDS[dialect.line_end], tail.rstrip(b"\r\n"))[-count:]
    return " / ".join(_shown([line for line in lines if line.strip()], dialect))


def _shown(lines: Sequence[bytes], dialect: Dialect) -> tuple[str, ...]:
    texts = (line.decode(dialect.plain.encoding, "replace")[:LONGEST_SHOWN] for line in lines[:TEXTS_SHOWN])
    return tuple(texts)
