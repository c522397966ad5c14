"""One chunk's bytes for the server: a byte range of the source as it lies, or what a row of steps makes of it.

`open_feed` decides which. A step is a generator over pieces of bytes (less some records, in another encoding, in
another dialect); pieces begin and end anywhere, only their joined bytes mean something.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import xxhash

from importer.engine.errors import SourceChanged
from importer.engine.source.arrays import Offsets
from importer.engine.source.byte_source import Readable, read_at
from importer.engine.source.dialect import Dialect

# A piece of the source: large enough that a call for each does not show.
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
    """The feed of `length` bytes of whole records from `offset` on, through `steps` in their order."""
    source = SourceBytes(fd, offset, length, on_sent, parts)
    if not steps:
        return source
    pieces: Iterator[bytes] = iter(source)
    for step in steps:
        pieces = step(pieces)
    return TransformedBytes(source, pieces)


class SourceBytes:
    """The bytes [offset, offset + length) of an open file as pieces, once, in order: a feed, or what steps begin with.

    Counts and digests what is read, so the digest is the source's whatever steps do; `parts` are the lengths of those
    that have a digest each, which together are the whole. `on_sent` is told the source bytes read so far, once for each
    piece.
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
        """xxh3-64 of the bytes read so far, hexadecimal; of several parts, one after the other."""
        return "".join(each.hexdigest() for each in self._digests)

    def __iter__(self) -> Iterator[bytes]:
        """Raises SourceChanged if the file is shorter than it was: an end of data always looks like success to the
        server (server-behaviour.md, The local-infile callback), so it must not look like one to us.
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
    """Pieces that steps make out of a range of the source. `sent` and `digest` are the source's.

    At the end of the pieces the whole range has been read, so the digest is that of the range.
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
        """Raises what the source or a step raises."""
        return self._pieces


def _shorter(at: int) -> SourceChanged:
    return SourceChanged(
        f"The file has become shorter: it ends at byte {at:,} but the scan saw more.",
        advice="Leave the file alone while it loads; import it again as a new file.",
    )


def skip_ranges(gaps: Offsets, offset: int) -> FeedTransform:
    """A step for the source's own bytes, which begin at `offset`: without these byte ranges of the file.

    `gaps` are pairs of start and end, ascending, as an array. Each costs a slice; the bytes between them go in one.
    """

    def step(pieces: Iterable[bytes]) -> Iterator[bytes]:
        at, index = offset, 0
        for piece in pieces:
            end = at + len(piece)
            stop = int(gaps[:, 0].searchsorted(end))
            kept, position = [], at
            for low, high in gaps[index:stop].tolist():
                kept.append(piece[position - at : max(position, low) - at])
                position = min(high, end)
            kept.append(piece[position - at :])
            yield b"".join(kept)
            # The last one may go on in the next piece.
            index = stop - 1 if stop and gaps[stop - 1, 1] > end else stop
            at = end

    return step


def terminate_last_record(dialect: Dialect) -> FeedTransform:
    """A step for records as the server is told them: a line end behind the last one, if it ends in a delimiter.

    At the very end of the data, the server takes an empty last field for a missing one (server-behaviour.md, LOAD DATA
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
