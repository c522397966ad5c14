"""From a file's bytes to chunks: runs of whole records, counted, checked and fingerprinted, in one pass."""

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import xxhash

from importer.engine.boundaries import Ends, ListedEnds, find_ends
from importer.engine.dialect import Dialect
from importer.engine.encodings import UTF8
from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.walk import RecordWalk

# Small enough for a processor's second-level cache, large enough that a read's fixed cost does not show.
BLOCK_BYTES = 256 * 1024
MAX_RECORD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class ChunkRange:
    """A run of whole records: `rows` of them in `length` bytes from `offset` on.

    `first_line` is the physical line (1-based, counting LF) of its first byte, `digest` the XXH3 (64 bits, in hex) of
    its bytes. `null_word`: the letters NULL may occur, which the server may take for SQL's NULL. `suspect`: some record
    may not go in as it is, or not without a notice; the load looks at each of them before it sends any. `first_row` is
    the number (1-based) of its first record among all of the file's data.
    """

    number: int
    offset: int
    length: int
    rows: int
    first_line: int
    digest: str
    null_word: bool = False
    suspect: bool = False
    first_row: int = 1


@dataclass(frozen=True)
class Block:
    """Whole records that lie together: `size` bytes from `offset` on, the first on line `first_line`.

    `data` begins with them; it is empty for a record that is larger than a block.
    """

    offset: int
    first_line: int
    size: int
    lines: int
    ends: Ends
    data: bytes


class Checks(Protocol):
    """What looks at values as they are scanned: an Exactness."""

    def suspicious(self, block: Block) -> bool:
        """Whether some value in the block may not go in as it is."""


def scan(
    fd: int,
    dialect: Dialect,
    *,
    start: int,
    first_line: int,
    end: int,
    chunk_bytes: int,
    number: int = 0,
    first_row: int = 1,
    drop_blank_end: bool = True,
    exactness: Checks | None = None,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[ChunkRange]:
    """The chunks of a file's bytes from `start`, where a record begins, to `end`, the file's size; each when complete.

    A chunk is as many whole records as go into `chunk_bytes`, or one that is larger by itself. Going on from the end of
    any chunk, with the line and numbers that follow, gives the same chunks. Memory stays the same whatever the file.
    Line ends that follow the last record are no records, unless the dialect escapes: so the server writes empty values
    of a table of one column. With `drop_blank_end` false they are, as any blank line is: for a range inside a file.
    A chunk in which `exactness` finds anything suspicious is marked so.

    Raises SourceProblem with the line for a quote that is never closed (or not within `max_record_bytes`), for bytes
    that are not in the dialect's encoding, and for a line end that is not the dialect's; SourceChanged if the file
    ends before `end`.
    """
    if drop_blank_end:
        end = end_of_records(fd, dialect, start, end)
    chunk = _OpenChunk(number, start, first_line, first_row)
    for block in blocks(fd, dialect, start, first_line, end, block_bytes, max_record_bytes):
        low, suspicious = 0, None if exactness else False
        while low < block.size:
            high = block.ends.last(low, chunk.offset + chunk_bytes - block.offset)
            if not high and chunk.rows:
                yield chunk.closed()
                chunk = chunk.following()
                continue
            high = high or block.ends.first(low)
            if suspicious is None and exactness and not chunk.suspect:
                suspicious = exactness.suspicious(block)
            chunk.suspect |= bool(suspicious)
            chunk.take(fd, block, low, high)
            low = high
    if chunk.rows:
        yield chunk.closed()


def blocks(
    fd: int,
    dialect: Dialect,
    start: int,
    first_line: int,
    end: int,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[Block]:
    """All records between `start` and `end`, a block at a time, checked. Raises as scan() does."""
    offset, line = start, first_line
    while offset < end:
        data = read_exactly(fd, min(block_bytes, end - offset), offset)
        ends = find_ends(data, dialect, final=offset + len(data) == end)
        if ends.size:
            check_encoding(data, ends.size, offset, line, dialect.encoding)
            block = Block(offset, line, ends.size, data.count(b"\n", 0, ends.size), ends, data)
        else:
            block = _large_record(fd, dialect, offset, line, end, block_bytes, max_record_bytes)
        yield block
        offset += block.size
        line += block.lines


def read_exactly(fd: int, size: int, offset: int) -> bytes:
    """`size` bytes of the file from `offset` on. Raises SourceChanged if it ends before."""
    data = os.pread(fd, size, offset)
    while len(data) < size:
        more = os.pread(fd, size - len(data), offset + len(data))
        if not more:
            raise SourceChanged(
                f"The file ends at byte {offset + len(data):,}; it was longer when it was first looked at.",
                advice="Wait until whatever writes it has finished, then import it again.",
            )
        data += more
    return data


def pieces(fd: int, offset: int, end: int) -> Iterator[bytes]:
    """The bytes from `offset` to `end`, in blocks."""
    for at in range(offset, end, BLOCK_BYTES):
        yield read_exactly(fd, min(BLOCK_BYTES, end - at), at)


@dataclass
class _OpenChunk:
    number: int
    offset: int
    first_line: int
    first_row: int
    length: int = 0
    rows: int = 0
    lines: int = 0
    null_word: bool = False
    suspect: bool = False
    hash: xxhash.xxh3_64 = field(default_factory=xxhash.xxh3_64)

    def take(self, fd: int, block: Block, low: int, high: int) -> None:
        """Add the records between two ends of a block."""
        self.length += high - low
        self.rows += block.ends.count(low, high)
        if high - low == block.size:
            self.lines += block.lines
        else:
            self.lines += block.data.count(b"\n", low, high)
        if block.data:
            self.hash.update(memoryview(block.data)[low:high])
            self.null_word = self.null_word or block.data.find(b"NULL", low, high) >= 0
            return
        self.null_word = True  # a record as large as this is not worth the search
        for piece in pieces(fd, block.offset + low, block.offset + high):
            self.hash.update(piece)

    def closed(self) -> ChunkRange:
        digest = self.hash.hexdigest()
        return ChunkRange(
            self.number,
            self.offset,
            self.length,
            self.rows,
            self.first_line,
            digest,
            null_word=self.null_word,
            suspect=self.suspect,
            first_row=self.first_row,
        )

    def following(self) -> "_OpenChunk":
        return _OpenChunk(
            self.number + 1, self.offset + self.length, self.first_line + self.lines, self.first_row + self.rows
        )


def end_of_records(fd: int, dialect: Dialect, start: int, end: int) -> int:
    """Where the last record ends: before line ends that follow it, unless the dialect escapes (see scan())."""
    if dialect.escape:
        return end
    mark = dialect.line_end.encode()
    at = end
    while at > start:
        low = max(start, at - BLOCK_BYTES)
        data = read_exactly(fd, at - low, low)
        blank_from = len(data)
        while data.endswith(mark, 0, blank_from):
            blank_from -= len(mark)
        at = low + blank_from
        if blank_from:
            return min(at + len(mark), end)
    return start


def _large_record(
    fd: int, dialect: Dialect, offset: int, line: int, end: int, block_bytes: int, max_record_bytes: int
) -> Block:
    """The record at `offset`, whatever its size: for one that a block cuts, or that find_ends() is not certain of."""
    walk = RecordWalk(dialect, line)
    decode = codecs.getincrementaldecoder(dialect.encoding)().decode
    at, lines = offset, 0
    while at < end and at - offset < max_record_bytes:
        data = read_exactly(fd, min(block_bytes, end - at), at)
        length = walk.feed(data, final=at + len(data) == end)
        if walk.foreign_line:
            raise _foreign_line_end(dialect, walk.foreign_line)
        data = data[: offset + length - at] if length else data
        try:
            decode(data, final=bool(length))
        except UnicodeDecodeError as error:
            raise _not_encoded(error, at, data, line + lines, dialect.encoding) from None
        lines += data.count(b"\n")
        if length:
            return Block(offset, line, length, lines, ListedEnds((length,)), b"")
        at += len(data)
    raise _endless(walk.open_line, line, at == end, max_record_bytes)


def check_encoding(data: bytes, size: int, offset: int, line: int, encoding: str) -> None:
    """Raise SourceProblem unless data[:size], which lies at `offset` in the file, on `line`, is in the encoding."""
    if data.isascii():
        return
    try:
        codecs.getdecoder(encoding)(memoryview(data)[:size], "strict")
    except UnicodeDecodeError as error:
        raise _not_encoded(error, offset, data[:size], line, encoding) from None


def _not_encoded(error: UnicodeDecodeError, offset: int, data: bytes, line: int, encoding: str) -> SourceProblem:
    """For an error found in `data`, which lies at `offset` and begins on `line`."""
    # What a decoder kept from the piece before stands at the front; it holds no line end.
    kept = len(error.object) - len(data)
    line += error.object.count(b"\n", 0, error.start)
    name = "UTF-8" if encoding == UTF8 else encoding
    return SourceProblem(
        f"The byte 0x{error.object[error.start]:02X} at offset {offset - kept + error.start:,} is not {name}.",
        where=f"line {line}",
        advice="Choose the file's encoding (--encoding cp1252 for western Windows), or save it as UTF-8.",
    )


def _foreign_line_end(dialect: Dialect, line: int) -> SourceProblem:
    if dialect.line_end == "\n":
        what, advice = "ends with CR LF, but the file is read with LF", "Choose CR LF as the line end"
    else:
        what, advice = "ends with a bare LF, but the file is read with CR LF", "Choose LF as the line end"
    return SourceProblem(
        f"Line {line} {what} as its line end.",
        where=f"line {line}",
        advice=f"{advice}, or, if lines end in both ways, save the file with one of them.",
    )


def _endless(open_line: int, line: int, at_end: bool, max_record_bytes: int) -> SourceProblem:
    within = "" if at_end else f" within {max_record_bytes:,} bytes"
    if open_line:
        return SourceProblem(
            f"The quote that opens a field on line {open_line} is not closed{within}.",
            where=f"line {open_line}",
            advice="Close it, or double it where it is part of the value. If the file quotes nothing, choose no quote.",
        )
    return SourceProblem(
        f"No record ends{within} from line {line} on.",
        where=f"line {line}",
        advice="Check that this is a CSV file, and its line end.",
    )
