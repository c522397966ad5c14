"""Puts the fields of records into another order, for a file whose columns have the order of another file."""

from collections.abc import Iterable, Iterator, Sequence

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.fields import field_patterns
from importer.engine.source.records.record_stream import whole_records


def in_order(pieces: Iterable[bytes], dialect: Dialect, order: Sequence[int]) -> Iterator[bytes]:
    """The bytes of records with their fields in another order: the n-th is the one that was at `order[n]`, from 0.

    Values keep their quotes, so each record has the same length and the same lines as before. A record with another
    number of fields or a stray quote, and a line that is no record, stays as it is: the scan finds what is wrong.
    """
    held = bytearray()

    def noted() -> Iterator[bytes]:
        for piece in pieces:
            held.extend(piece)
            yield piece

    for data, ends in whole_records(noted(), dialect):
        del held[: len(data)]
        begin, moved = 0, []
        for end in ends.as_array().tolist():
            moved.append(_moved(data[begin:end], dialect, order))
            begin = end
        yield b"".join(moved)
    # After a quote that never closes.
    yield bytes(held)


def _moved(record: bytes, dialect: Dialect, order: Sequence[int]) -> bytes:
    spans = _spans(record, dialect)
    if len(spans) != len(order):
        return record
    fields = [record[spans[at][0] : spans[at][1]] for at in order]
    return dialect.delimiter_bytes.join(fields) + record[spans[-1][1] :]


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
