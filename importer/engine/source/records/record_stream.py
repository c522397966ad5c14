"""Whole records out of pieces of bytes that begin and end anywhere."""

from collections.abc import Iterable, Iterator
from io import BytesIO

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import Ends, ListedEnds, find_ends, first_record
from importer.engine.source.records.boundary.state_machine import RecordWalk
from importer.engine.source.records.boundary.stray_quotes import resolve_quotes
from importer.engine.source.records.oversized_values import LARGE


def whole_records(pieces: Iterable[bytes], dialect: Dialect) -> Iterator[tuple[bytes, Ends]]:
    """The same bytes in pieces that end with a record each, and where the records of each piece end.

    A record larger than LARGE comes by itself, and is in memory once.
    """
    coming = filter(None, pieces)
    data, enough = b"", 0
    piece = next(coming, b"")
    while piece:
        data += piece
        piece = next(coming, b"")
        if len(data) < enough and piece:
            continue
        while data:
            if (ends := _ends(data, dialect, final=not piece)).size:
                yield data[: ends.size], ends
                data = data[ends.size :]
            elif len(data) > LARGE and piece:
                record = _LargeRecord(data, dialect)
                data, piece = b"", record.read(piece, coming)
                if record.length:
                    yield record.take(), ListedEnds((record.length,))
                data = record.behind
            else:
                break
        # A record of many pieces is looked at again each time it has doubled, not with each piece.
        enough = 2 * len(data)


def _ends(data: bytes, dialect: Dialect, *, final: bool) -> Ends:
    ends = find_ends(data, dialect, final=final)
    if ends.size:
        return ends
    length = first_record(data, dialect, final=final)[1]
    return ListedEnds((length,) if length else ())


class _LargeRecord:
    """A record that is put together from its pieces, of which `beginning` is the first; its end is not in there.

    `behind` are the bytes that have been read behind it. Joining a list of pieces would hold all of it twice, as would
    adding each to what there is; BytesIO grows in place, and hands out what it has without a copy.
    """

    def __init__(self, beginning: bytes, dialect: Dialect) -> None:
        self._dialect, self._walk, self._held = dialect, RecordWalk(dialect), BytesIO()
        self._held.write(beginning)
        self.length = self._walk.feed(beginning)
        self.behind = b""

    def read(self, piece: bytes, coming: Iterator[bytes]) -> bytes:
        """Read on until it ends, from `piece` on; the piece that comes after those that were read."""
        while piece and not self.length:
            self._held.write(piece)
            read, piece = piece, next(coming, b"")
            self.length = self._walk.feed(read, final=not piece)
        self._settle()
        return piece

    def take(self) -> bytes:
        """The record's bytes, which are let go of."""
        held, self._held = self._held, BytesIO()
        return held.getvalue()

    def _settle(self) -> None:
        """What is behind it is cut off; a quote in it may be astray, and the record shorter than it seems."""
        size, look = self._held.tell(), self._look
        self.length = resolve_quotes(self._walk, look, self.length, size, self._dialect)[1]
        self.behind = look(self.length, size)
        self._held.truncate(self.length)

    def _look(self, low: int, high: int) -> bytes:
        self._held.seek(low)
        return self._held.read(high - low)
