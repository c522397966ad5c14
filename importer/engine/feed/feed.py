"""Feeds the server with the bytes of one chunk: a byte range of the source, unchanged or converted by steps.

A step is a generator over pieces of bytes: it leaves out records, or converts encoding or dialect. Pieces begin and end
anywhere; only their concatenation has a meaning.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import xxhash

from importer.engine.errors import SourceChanged
from importer.engine.source.arrays import Offsets
from importer.engine.source.byte_source import Readable, read_at
from importer.engine.source.dialect import Dialect

# Bytes of a piece of the source: large enough that the cost of a call for each piece is negligible.
BLOCK = 256 * 1024

FeedTransform = Callable[[Iterable[bytes]], Iterator[bytes]]


def open_feed(
    fd: Readable,
    offset: int,
    length: int,
    *,
    steps: Sequence[FeedTransform] = (),
    on_sent: Callable[[int], None] | None = None,
    parts: Sequence[int] = (),
) -> "SourceBytes | TransformedBytes":
    """The feed of `length` bytes of whole records from `offset` on, converted by `steps` in this order."""
    source = SourceBytes(fd, offset, length, on_sent, parts)
    if not steps:
        return source
    pieces: Iterator[bytes] = iter(source)
    for step in steps:
        pieces = step(pieces)
    return TransformedBytes(source, pieces)


class SourceBytes:
    """The bytes [offset, offset + length) of an open file as pieces, once, in order: a feed, or the input of steps.

    Counts and digests the bytes that are read, so the digest is that of the source, independent of the steps. `parts`
    are the lengths, in bytes, of consecutive parts with a digest each; together they are the whole range. `on_sent` is
    called with the number of source bytes read so far, once for each piece.
    """

    def __init__(
        self,
        fd: Readable,
        offset: int,
        length: int,
        on_sent: Callable[[int], None] | None = None,
        parts: Sequence[int] = (),
    ) -> None:
        self._fd = fd
        self._start = self._next = offset
        self._on_sent = on_sent
        self._parts = parts or (length,)
        self._digests: list[xxhash.xxh3_64] = []

    @property
    def sent(self) -> int:
        """Bytes read so far."""
        return self._next - self._start

    @property
    def digest(self) -> str:
        """xxh3-64 of the bytes read so far, hexadecimal; for several parts, their digests concatenated."""
        return "".join(each.hexdigest() for each in self._digests)

    def __iter__(self) -> Iterator[bytes]:
        """Raises SourceChanged if the file has become shorter. To the server an end of data always looks like success
        (server-behaviour.md, The local-infile callback), so the feed has to check.
        """
        for length in self._parts:
            digest, end = xxhash.xxh3_64(), self._next + length
            self._digests.append(digest)
            while self._next < end:
                piece = read_at(self._fd, min(BLOCK, end - self._next), self._next)
                if not piece:
                    raise _shorter(self._next)
                self._next += len(piece)
                digest.update(piece)
                yield piece
                if self._on_sent:
                    self._on_sent(self.sent)


class TransformedBytes:
    """The pieces that the steps produce from a range of the source. `sent` and `digest` are those of the source.

    After the last piece the whole range has been read, so the digest is that of the range.
    """

    def __init__(self, source: SourceBytes, pieces: Iterator[bytes]) -> None:
        self._source = source
        self._pieces = pieces

    @property
    def sent(self) -> int:
        return self._source.sent

    @property
    def digest(self) -> str:
        return self._source.digest

    def __iter__(self) -> Iterator[bytes]:
        """Raises the errors of the source and of the steps."""
        return self._pieces


def _shorter(at: int) -> SourceChanged:
    return SourceChanged(
        f"The file has become shorter: it ends at byte {at:,} but the scan saw more.",
        advice="Leave the file alone while it loads; import it again as a new file.",
    )


def skip_ranges(gaps: Offsets, offset: int) -> FeedTransform:
    """A step that leaves out byte ranges of the file. Its input are the source's bytes, which begin at `offset`.

    `gaps` is an array of pairs (start, end), ascending. Each costs one slice; the bytes between two are copied at once.
    """

    def step(pieces: Iterable[bytes]) -> Iterator[bytes]:
        at, index = offset, 0
        for piece in pieces:
            end = at + len(piece)
            stop = int(gaps[:, 0].searchsorted(end))
            slices, position = [], at
            for low, high in gaps[index:stop].tolist():
                slices.append(piece[position - at : max(position, low) - at])
                position = min(high, end)
            slices.append(piece[position - at :])
            yield b"".join(slices)
            # The last range may continue in the next piece.
            index = stop - 1 if stop and gaps[stop - 1, 1] > end else stop
            at = end

    return step


def terminate_last_record(dialect: Dialect) -> FeedTransform:
    """A step that adds a line end after the last record if it ends in a delimiter. Its input is in the sent dialect.

    At the end of the data the server takes an empty last field for a missing one (server-behaviour.md, LOAD DATA
    LOCAL).
    """
    delimiter, line_end = dialect.sent.delimiter_bytes, dialect.sent.line_end.encode()

    def step(pieces: Iterable[bytes]) -> Iterator[bytes]:
        last = b""
        for piece in pieces:
            last = (last + piece)[-len(delimiter) :]
            yield piece
        if last == delimiter:
            yield line_end

    return step
