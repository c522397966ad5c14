"""Joins pieces of bytes, which may be cut anywhere, into whole records."""

from collections.abc import Iterable, Iterator
from io import BytesIO

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import Ends, ListedEnds, find_ends, first_record
from importer.engine.source.records.boundary.state_machine import RecordWalk
from importer.engine.source.records.boundary.stray_quotes import resolve_quotes
from importer.engine.source.records.large_values import OVERSIZED_BYTES


def whole_records(pieces: Iterable[bytes], dialect: Dialect) -> Iterator[tuple[bytes, Ends]]:
    """The bytes in pieces that each end with a record, and the ends of each piece's records.

    A record larger than OVERSIZED_BYTES is a piece by itself, and is in memory once.
    """
    remaining = filter(None, pieces)
    data, next_try = b"", 0  # `next_try`: bytes from which on the data is searched again
    piece = next(remaining, b"")
    while piece:
        data += piece
        piece = next(remaining, b"")
        if len(data) < next_try and piece:
            continue
        while data:
            if (ends := _ends(data, dialect, final=not piece)).size:
                yield data[: ends.size], ends
                data = data[ends.size :]
            elif len(data) > OVERSIZED_BYTES and piece:
                record = _LargeRecord(data, dialect)
                data, piece = b"", record.read(piece, remaining)
                if record.length:
                    yield record.take(), ListedEnds((record.length,))
                data = record.behind
            else:
                break
        # A record of many pieces is searched again each time the data has doubled, not with each piece.
        next_try = 2 * len(data)


def _ends(data: bytes, dialect: Dialect, *, final: bool) -> Ends:
    ends = find_ends(data, dialect, final=final)
    if ends.size:
        return ends
    length = first_record(data, dialect, final=final)[1]
    return ListedEnds((length,) if length else ())


class _LargeRecord:
    """A record that is joined from its pieces. `beginning` is the first one and does not contain the record's end.

    `behind` are the bytes after the record that were read with it. Joining a list of pieces, or adding each to the
    bytes before it, would need twice the record's memory; BytesIO grows in place and returns its contents without a
    copy.
    """

    def __init__(self, beginning: bytes, dialect: Dialect) -> None:
        self._dialect, self._walk, self._buffer = dialect, RecordWalk(dialect), BytesIO()
        self._buffer.write(beginning)
        self.length = self._walk.feed(beginning)
        self.behind = b""

    def read(self, piece: bytes, remaining: Iterator[bytes]) -> bytes:
        """Read `piece` and the remaining pieces up to the record's end. Returns the first piece that was not read."""
        while piece and not self.length:
            self._buffer.write(piece)
            current, piece = piece, next(remaining, b"")
            self.length = self._walk.feed(current, final=not piece)
        self._cut_off_behind()
        return piece

    def take(self) -> bytes:
        """Return the record's bytes and release them."""
        buffer, self._buffer = self._buffer, BytesIO()
        return buffer.getvalue()

    def _cut_off_behind(self) -> None:
        """Move the bytes after the record to `behind`. A stray quote may make the record shorter than the walk read."""
        size, read_part = self._buffer.tell(), self._read_part
        self.length = resolve_quotes(self._walk, read_part, self.length, size, self._dialect)[1]
        self.behind = read_part(self.length, size)
        self._buffer.truncate(self.length)

    def _read_part(self, low: int, high: int) -> bytes:
        self._buffer.seek(low)
        return self._buffer.read(high - low)
