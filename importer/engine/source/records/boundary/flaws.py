"""Flaws of the records of a block other than quotes: bytes, a trailing delimiter, and comments that may be records."""

from collections.abc import Iterator, Sequence

from importer.engine.source import encodings
from importer.engine.source.arrays import np
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.boundary.boundaries import Ends, count_between
from importer.engine.source.records.boundary.lines import begins_a_line, line_ends
from importer.engine.source.records.boundary.stray_quotes import (
    DOUBTFUL,
    ENCODING,
    SHOWN,
    TRAILING,
    MalformedRecord,
    line_around,
    reader_of,
)


def encoding_flaws(data: bytes, ends: Ends, dialect: Dialect, offset: int, line: int) -> Iterator[MalformedRecord]:
    """A flaw for each record of data[:ends.size] with bytes that are invalid in the dialect's encoding.

    `data` begins at `offset` in the file, on `line`.
    """
    low = counted = 0
    while low < ends.size and (at := encodings.invalid_at(data, dialect.encoding, low, ends.size)) >= 0:
        line += line_ends(data, dialect.line_end, counted, at)
        counted, low = at, ends.first(at)
        yield not_encoded(data, at, offset, line, dialect).of_record(ends.count(0, low) - 1)


def not_encoded(data: bytes, at: int, offset: int, line: int, dialect: Dialect) -> MalformedRecord:
    """The flaw for the invalid byte data[at]; `data` begins at `offset` in the file."""
    name = "UTF-8" if dialect.encoding == encodings.UTF8 else dialect.encoding
    what = f"The byte 0x{data[at]:02X} at offset {offset + at:,} is not {name}."
    advice = "Choose the file's encoding (--encoding cp1252 for western Windows), or save it as UTF-8."
    if dialect.encoding == encodings.UTF8 and encodings.is_cut(data, at):
        what = f"The file ends within a letter of UTF-8, at offset {offset + at:,}: it was cut."
        advice = "Get the whole file. --on-error reject loads the rows above it."
    return MalformedRecord(ENCODING, line, 0, what, advice, line_around(at, reader_of(data)))


def trailing_flaws(
    data: bytes, ends: Ends, dialect: Dialect, line: int, blank: Sequence[int]
) -> Iterator[MalformedRecord]:
    """A flaw for each record without the dialect's trailing delimiter: its last field would be lost.

    If the delimiter at the end is escaped, the server itself reports too few fields.
    """
    if not dialect.trailing_delimiter:
        return
    if _all_end_in(data, ends, dialect):
        return
    delimiter, low = dialect.delimiter_bytes, 0
    for record, high in enumerate(ends.as_array().tolist()):
        ended = data[max(low, high - len(delimiter) - 2) : high].rstrip(b"\r\n")
        if not ended.endswith(delimiter) and not count_between(blank, low, high):
            yield MalformedRecord(
                TRAILING,
                line + line_ends(data, dialect.line_end, 0, low),
                0,
                f"The record does not end in the delimiter {dialect.delimiter!r}.",
                "If only some records end in it, say that the file has no trailing delimiter.",
                record=record,
            )
        low = high


def _all_end_in(data: bytes, ends: Ends, dialect: Dialect) -> bool:
    """Whether each record ends in delimiter and line end, by one check for all; False may also mean "not certain"."""
    if dialect.line_end == ANY_LINE_END:
        return False
    mark = dialect.delimiter_bytes + dialect.line_end.encode()
    view, lasts = np.frombuffer(data, np.uint8), ends.as_array()
    if np.diff(lasts, prepend=0).min() < len(mark):
        return False
    return all((view[lasts - len(mark) + at] == byte).all() for at, byte in enumerate(mark))


def doubtful_comments(
    data: bytes, ends: Ends, dialect: Dialect, line: int, blank: Sequence[int]
) -> Iterator[MalformedRecord]:
    """A flaw for each comment that may be a record (records/no_records.py)."""
    comment = dialect.comment_bytes
    if "comment" not in dialect.sampled or not begins_a_line(data, comment):
        return
    none, low = set(blank), 0
    for record, high in enumerate(ends.as_array().tolist()):
        if data.startswith(comment, low) and low not in none:
            yield MalformedRecord(
                DOUBTFUL,
                line + line_ends(data, dialect.line_end, 0, low),
                0,
                f"The line begins with {dialect.comment}, as the comments do, and has {dialect.width} fields, as the"
                " records do.",
                f"If it is a comment, state the mark: --comment '{dialect.comment}'. If these lines are records:"
                " --comment ''.",
                data[low:high].rstrip(b"\r\n")[:SHOWN],
                record,
            )
        low = high
