"""The first reading of a sample: RFC 4180 with a usual delimiter.

If its header names columns of the table only, and every record has the header's width, it is the reading: nothing that
the values look like overrules it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from importer.engine.source.arrays import np
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.dialect import ANY_LINE_END, RFC4180, Dialect
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.candidates import DialectCandidate, read_candidate
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_name, may_be_row
from importer.engine.source.profile.layout.lines_among import COMMENTS
from importer.engine.source.records.boundary.boundaries import LineEnds, find_ends, first_record, quotes_are_regular
from importer.engine.source.records.boundary.state_machine import RecordWalk
from importer.engine.source.records.fields import fields

DELIMITERS = (",", ";", "\t", "|")
_SINGLE = '--quote "\'"'
HEADER_BYTES = 64 * 1024  # of a header, at most


def plain_reading(
    sample: bytes, base: Dialect, expected: Sequence[ExpectedColumn], final: bool, stated: Collection[str] = ()
) -> DialectCandidate | None:
    """The sample in RFC 4180, if that reads it whole and its header has names of the table's columns only; else None.

    `base` has the `stated` marks, `expected` are the table's columns. `final`: the sample is the whole file.
    """
    if base.escape or base.comment or not expected:
        return None
    for dialect in _named(sample, base, [column.name for column in expected], final, stated):
        reading = read_candidate(sample, dialect, final)
        if _is_plain(sample, reading, final) and not _has_comments(reading, expected):
            return reading
    return None


def names_first(sample: bytes, names: Sequence[str], *, final: bool) -> bool:
    """Whether the first record has names of the table's columns only, with a usual delimiter in UTF-8."""
    return bool(names) and any(_named(sample, RFC4180, names, final))


def _named(
    sample: bytes, base: Dialect, names: Sequence[str], final: bool, stated: Collection[str] = ()
) -> Iterator[Dialect]:
    """The dialects in which the sample's first record has names of the table's columns only."""
    delimiters = (base.delimiter,) if "delimiter" in stated else DELIMITERS
    for line_end in (base.line_end,) if "line_end" in stated else _line_ends(sample):
        for delimiter in delimiters:
            dialect = replace(base, delimiter=delimiter, line_end=line_end)
            if _names_columns(sample, dialect, names, final):
                yield dialect


def _line_ends(sample: bytes) -> Iterator[str]:
    """The line ends that a plain file with these bytes may have."""
    if b"\r\n" in sample:
        yield "\r\n"
    if b"\n" in sample or b"\r" not in sample:
        yield "\n"


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


def _is_plain(sample: bytes, reading: DialectCandidate, final: bool) -> bool:
    """Whether the reading leaves nothing over: every record has the header's width, and each mark has its place."""
    width = reading.width
    even = bool(reading.rows) and all(len(row) == width for row in reading.rows)
    if not even or reading.stray or not _is_regular(sample, reading):
        return False
    rest = sample[reading.reach :]
    if rest and final:
        return False
    walk = RecordWalk(reading.dialect)
    return not (walk.feed(rest) or walk.foreign_line or walk.stray or walk.fields > width)


def _is_regular(sample: bytes, reading: DialectCandidate) -> bool:
    """Whether all quotes are around fields or doubled in them, and line ends of another kind only in quotes."""
    read, ends, dialect = sample[: reading.reach], reading.ends, reading.dialect
    regular = isinstance(ends, LineEnds) or ends.regular
    if not regular and (len(dialect.delimiter_bytes) > 1 or not quotes_are_regular(read, dialect)):
        return False
    if b"\r" not in read:
        return True
    every = find_ends(read, replace(dialect, line_end=ANY_LINE_END), final=True)
    return np.array_equal(every.as_array(), ends.as_array())


def _has_comments(reading: DialectCandidate, expected: Sequence[ExpectedColumn]) -> bool:
    """Whether a record begins as a comment, and the table does not take it."""
    marks = tuple(each.encode() for each in COMMENTS)
    if not any(row[0].startswith(marks) for row in reading.rows):
        return False
    rows = reading.text_rows()
    columns = columns_by_name(expected, rows[0])
    return any(row[0].startswith(COMMENTS) and not may_be_row(row, columns) for row in rows[1:])


def kept(name: str, value: str, what: str, flag: str) -> Decision:
    """The note that something looks like no value, and is one, since the first reading explains the file."""
    return Decision(name, value, Standing.RULE, f"{what}, which the table takes as it is; {flag} reads it otherwise.")


def plain_decisions(reading: DialectCandidate, known: Mapping[str, Any]) -> Iterator[Decision]:
    """The decisions about the marks of the first reading; notes where a value looks like another mark."""
    is_quoted = not isinstance(reading.ends, LineEnds)
    quote = Decision("quote", reading.dialect.quote or "none", Standing.PROVED if is_quoted else Standing.RULE, "")
    found = (Decision("escape", "none", Standing.RULE, ""), (not is_quoted and _kept_quotes(reading)) or quote)
    for each in found:
        stated = each.name in known
        yield Decision(each.name, known[each.name] or "none", Standing.STATED, "") if stated else each
    if "comment" not in known:
        yield from _kept_comments(reading)


def _kept_comments(reading: DialectCandidate) -> Iterator[Decision]:
    marks = {each.encode(): each for each in COMMENTS}
    first = (row[0] for row in reading.rows[1:])
    mark = next((text for value in first for begin, text in marks.items() if value.startswith(begin)), "")
    if mark:
        yield kept("comment", "", f"A record begins with {mark}", f"--comment '{mark}'")


def _kept_quotes(reading: DialectCandidate) -> Decision | None:
    for values in zip(*reading.rows[1:], strict=True):
        given = [value for value in values if value]
        if given and all(len(value) > 1 and value[:1] == value[-1:] == b"'" for value in given):
            shown = given[0].decode(reading.dialect.plain.encoding, "replace")
            return kept("quote", reading.dialect.quote, f"Values such as {shown} stand in single quotes", _SINGLE)
    return None
