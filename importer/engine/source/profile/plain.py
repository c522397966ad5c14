"""The first reading of a sample: RFC 4180 with a usual delimiter.

If its header names columns of the table only, and every record has the header's width, it is the reading: nothing that
the values look like overrules it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from importer.engine.source.arrays import np
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.dialect import ANY_LINE_END, RFC4180, Dialect
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.delimiters import DELIMITERS
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_name, may_be_row
from importer.engine.source.profile.layout.lines_among import COMMENTS
from importer.engine.source.profile.quoting import stands_in
from importer.engine.source.profile.readings import Readings, SampleReading
from importer.engine.source.records.boundary.boundaries import LineEnds, find_ends, first_record, quotes_are_regular
from importer.engine.source.records.boundary.state_machine import RecordWalk
from importer.engine.source.records.fields import fields

_SINGLE = '--quote "\'"'
HEADER_BYTES = 64 * 1024  # of a header, at most


def plain_reading(
    readings: Readings, base: Dialect, expected: Sequence[ExpectedColumn], stated: Collection[str] = ()
) -> SampleReading | None:
    """The sample in RFC 4180, if that reads it whole and its header has names of the table's columns only; else None.

    `base` has the `stated` marks, `expected` are the table's columns.
    """
    if base.escape or base.comment or not expected:
        return None
    for dialect in _named(readings.sample, base, [column.name for column in expected], readings.final, stated):
        reading = readings.read(dialect)
        if _is_plain(reading) and not _has_comments(reading, expected):
            return reading
    return None


def names_first(sample: bytes, names: Sequence[str], *, final: bool) -> bool:
    """Whether the first record has names of the table's columns only, with a usual delimiter in UTF-8."""
    return bool(names) and any(_named(sample, RFC4180, names, final))


def _named(
    sample: bytes, base: Dialect, names: Sequence[str], final: bool, stated: Collection[str] = ()
) -> Iterator[Dialect]:
    """The dialects in which the sample's first record has names of the table's columns only."""
    possible = (("\r\n", b"\r\n" in sample), ("\n", b"\n" in sample or b"\r" not in sample))
    line_ends = [base.line_end] if "line_end" in stated else [each for each, may_be in possible if may_be]
    for line_end, delimiter in product(line_ends, [base.delimiter] if "delimiter" in stated else DELIMITERS):
        dialect = replace(base, delimiter=delimiter, line_end=line_end)
        if _names_columns(sample, dialect, names, final):
            yield dialect


def _names_columns(sample: bytes, dialect: Dialect, names: Sequence[str], final: bool) -> bool:
    """Whether all fields of the sample's first record have the name of a column."""
    flaw, length = first_record(sample[:HEADER_BYTES], dialect, final=final and len(sample) <= HEADER_BYTES)
    if flaw or not length:
        return False
    record = sample[:length].rstrip(b"\r\n")
    header = [value.decode(dialect.plain.encoding, "replace") for value in fields(record, dialect)]
    # A blank around a name shows that blanks may belong to the delimiter.
    exact = all(name in names or name == name.strip() for name in header)
    return bool(record) and exact and all(match_names(header, names))


def _is_plain(reading: SampleReading) -> bool:
    """Whether the reading leaves nothing over: every record has the header's width, and each mark has its place."""
    if reading.agreement < 1 or reading.stray or not _is_regular(reading):
        return False
    rest = reading.sample[reading.reach :]
    if rest and reading.readings.final:
        return False
    walk = RecordWalk(reading.dialect)
    return not (walk.feed(rest) or walk.foreign_line or walk.stray or walk.fields > reading.width)


def _is_regular(reading: SampleReading) -> bool:
    """Whether all quotes are around fields or doubled in them, and line ends of another kind only in quotes."""
    read, ends, dialect = reading.sample[: reading.reach], reading.ends, reading.dialect
    regular = isinstance(ends, LineEnds) or ends.regular
    if not regular and (len(dialect.delimiter_bytes) > 1 or not quotes_are_regular(read, dialect)):
        return False
    if b"\r" not in read:
        return True
    every = find_ends(read, replace(dialect, line_end=ANY_LINE_END), final=True)
    return np.array_equal(every.as_array(), ends.as_array())


def _has_comments(reading: SampleReading, expected: Sequence[ExpectedColumn]) -> bool:
    """Whether a record begins as a comment, and the table does not take it."""
    marks = tuple(each.encode() for each in COMMENTS)
    if not any(row[0].startswith(marks) for row in reading.rows):
        return False
    header, *rows = reading.text_rows()
    columns = columns_by_name(expected, header)
    return any(row[0].startswith(COMMENTS) and not may_be_row(row, columns) for row in rows)


def kept(name: str, value: str, what: str, flag: str) -> Decision:
    """The note that something looks like no value, and is one, since the first reading explains the file."""
    return Decision(name, value, Standing.RULE, f"{what}, which the table takes as it is; {flag} reads it otherwise.")


def plain_decisions(reading: SampleReading, known: Mapping[str, Any]) -> Iterator[Decision]:
    """The decisions about the marks of the first reading; notes where a value looks like another mark."""
    is_quoted = not isinstance(reading.ends, LineEnds)
    quote = Decision("quote", reading.dialect.quote or "none", Standing.PROVED if is_quoted else Standing.RULE, "")
    if not is_quoted:
        for values in zip(*reading.rows[1:], strict=True):
            given = [value for value in values if value]
            if given and all(stands_in(b"'", value) for value in given):
                what = f"Values such as {reading.text(given[0])} stand in single quotes"
                quote = kept("quote", reading.dialect.quote, what, _SINGLE)
                break
    yield from (each for each in (Decision("escape", "none", Standing.RULE, ""), quote) if each.name not in known)
    first = (row[0] for row in reading.rows[1:])
    mark = next((mark for value in first for mark in COMMENTS if value.startswith(mark.encode())), "")
    if mark and "comment" not in known:
        yield kept("comment", "", f"A record begins with {mark}", f"--comment '{mark}'")
