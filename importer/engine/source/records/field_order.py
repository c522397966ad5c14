"""Puts the fields of records into another order, for a file whose columns have the order of another file."""

from collections.abc import Iterable, Iterator, Sequence

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.boundary.patterns import field_patterns
from importer.engine.source.records.fields import fields
from importer.engine.source.records.no_records import COMMENT, kind_of
from importer.engine.source.records.record_stream import whole_records

LONGEST_SHOWN = 100  # bytes of a record


def in_order(pieces: Iterable[bytes], dialect: Dialect, order: Sequence[int], first_line: int = 1) -> Iterator[bytes]:
    """The bytes of records with their fields in another order: the n-th is the one that was at `order[n]`, from 0.

    Values keep their quotes, so each record has the same length and the same lines as before. A record with another
    number of fields or a stray quote, and a comment, stays as it is: the scan finds what is wrong. A repeated header is
    moved: then it is the first file's. `first_line`: the one on which the pieces begin. Raises SourceProblem for a
    record that would be read otherwise in the other order.
    """
    held, line = bytearray(), first_line

    def noted() -> Iterator[bytes]:
        for piece in pieces:
            held.extend(piece)
            yield piece

    for data, ends in whole_records(noted(), dialect):
        del held[: len(data)]
        begin, moved = 0, []
        for end in ends.as_array().tolist():
            record = data[begin:end]
            moved.append(_moved(record, dialect, order))
            if not _is_read_alike(record, moved[-1], dialect, order):
                raise _read_otherwise(record, line + line_ends(data, dialect.line_end, 0, begin), dialect)
            begin = end
        line += line_ends(data, dialect.line_end)
        yield b"".join(moved)
    # After a quote that never closes.
    yield bytes(held)


def _moved(record: bytes, dialect: Dialect, order: Sequence[int]) -> bytes:
    """The record with its fields in the other order; the same object if it stays as it is."""
    if kind_of(record, 0, dialect) == COMMENT:
        return record
    spans = _spans(record, dialect)
    if len(spans) != len(order):
        return record
    moved = [record[spans[at][0] : spans[at][1]] for at in order]
    return dialect.delimiter_bytes.join(moved) + record[spans[-1][1] :]


def _is_read_alike(record: bytes, moved: bytes, dialect: Dialect, order: Sequence[int]) -> bool:
    """Whether the moved record has the record's values: a value may begin as a comment, or with half a delimiter."""
    if moved is record:
        return True
    values = fields(record, dialect)
    return kind_of(moved, 0, dialect) != COMMENT and fields(moved, dialect) == [values[at] for at in order]


def _read_otherwise(record: bytes, line: int, dialect: Dialect) -> SourceProblem:
    shown = encodings.excerpt(record[:LONGEST_SHOWN].rstrip(b"\r\n"), dialect.encoding)
    return SourceProblem(
        f"The row {shown!r} cannot be put into the order of the first file: it would be read as other values there."
        " A value without quotes begins with the mark of comments, or has a part of the delimiter at an end.",
        f"line {line}",
        "Import this file apart, or write its columns in the order of the first file.",
    )


def _spans(record: bytes, dialect: Dialect) -> list[tuple[int, int]]:
    """Where each field begins and ends, with its quotes; none if a quote is stray: elsewhere it would mean another."""
    pattern, delimiter = field_patterns(dialect).field, dialect.delimiter_bytes
    spans: list[tuple[int, int]] = []
    at = 0
    while True:
        field = pattern.match(record, at)
        assert field is not None, "an unenclosed field can be empty, so there is always one"
        if field.lastgroup in ("unclosed", "rest"):
            return []
        spans.append((at, field.end()))
        at = field.end()
        if not record.startswith(delimiter, at):
            break
        at += len(delimiter)
    is_empty = len(spans) > 1 and spans[-1][0] == spans[-1][1]
    return spans[:-1] if dialect.trailing_delimiter and is_empty else spans
