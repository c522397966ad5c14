"""Divides a file into chunks of whole records in one pass: counts rows, checks records, computes digests."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import xxhash

from importer.engine.source.byte_source import Readable
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.skipped_lines import NO_LINES, LineCounter, SkippedLines
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, MAX_RECORD_BYTES, Block, blocks, end_of_records, pieces
from importer.engine.source.records.malformed import unreadable_record


@dataclass(frozen=True)
class Position:
    """Where a chunk begins: at this byte and physical line (1-based, counting LF), with this number and data row.

    `file` is the number (from 0) of the file, of several that are read as one (source/joined.py); the line is its own.
    """

    offset: int = 0
    line: int = 1
    number: int = 0
    row: int = 1
    file: int = 0


# For a file with nothing before its data.
FILE_BEGIN = Position()


@dataclass(frozen=True)
class ChunkRange:
    """Consecutive whole records of a file: `rows` rows in `length` bytes from `offset` on.

    - `first_line`: the physical line (1-based, counting LF) of the first byte.
    - `digest`: the XXH3 of the bytes (64 bits, in hex).
    - `null_word`: a field may be the word NULL, which the server reads as SQL's NULL.
    - `null_marker`: a value may be a NULL marker of its column of numbers or times, which the load then compares.
    - `suspect`: a record may be rejected or cause a notice; the load checks each record before it sends any.
    - `first_row`: the number (1-based) of the first record among all data records of the file.
    - `ascii`: all bytes are ASCII.
    - `parts`: the lengths of the chunks that were joined into this one (load/shared_transaction.py); `digest` is then
      the concatenation of their digests.
    - `file`: the number (from 0) of its file, of several that are read as one; the line is that file's.
    - `skipped`: the lines in it that are no records. Only the scan knows them.
    """

    number: int
    offset: int
    length: int
    rows: int
    first_line: int
    digest: str
    null_word: bool = False
    null_marker: bool = True
    suspect: bool = False
    first_row: int = 1
    ascii: bool = False
    parts: tuple[int, ...] = ()
    file: int = 0
    skipped: SkippedLines = NO_LINES

    @property
    def end(self) -> int:
        """The offset of the first byte behind it."""
        return self.offset + self.length


class BlockLook(Protocol):
    """A look at the values of one block; implemented by validation.BlockLook."""

    @property
    def suspicious(self) -> bool:
        """Whether a value in the block may be rejected or changed."""

    def may_have_null_marker(self) -> bool:
        """Whether a value in the block may be a NULL marker that the fast statement does not compare."""


class ValueChecks(Protocol):
    """Checks values while they are scanned; implemented by validation.ValidationRules."""

    def look(self, block: Block) -> BlockLook:
        """Look at the block."""


@dataclass(frozen=True)
class ScanPolicy:
    """How a scan treats records.

    `drop_blank_end`: blank lines after the last record are in no chunk; false for a range inside a file. `tolerate`:
    records that cannot be read safely are rows of suspect chunks, instead of ending the scan. `exactness` checks the
    values of each block. Blocks have `block_bytes` bytes, records at most `max_record_bytes`.
    """

    drop_blank_end: bool = True
    tolerate: bool = False
    exactness: ValueChecks | None = None
    block_bytes: int = BLOCK_BYTES
    max_record_bytes: int = MAX_RECORD_BYTES


def scan(
    fd: Readable,
    dialect: Dialect,
    sizes: ChunkSizes,
    begin: Position = FILE_BEGIN,
    *,
    end: int,
    policy: ScanPolicy = ScanPolicy(),
) -> Iterator[ChunkRange]:
    """The chunks from `begin`, where a record begins, to `end`, the file's size in bytes; each when it is complete.

    A scan that continues from the end of any chunk gives the same chunks. Memory does not depend on the file's size.

    Blank lines that the dialect skips, and comments, are not rows. A chunk is suspect if the policy's checks find a
    suspicious value in one of its blocks, or if it has lines that must not be sent.

    Raises SourceProblem with the line for the first record that cannot be read safely (malformed.py), unless the policy
    tolerates it; raises as blocks() does in any case.
    """
    exactness = policy.exactness
    if policy.drop_blank_end:
        end = end_of_records(fd, dialect, begin.offset, end)
    chunk = _OpenChunk(begin, LineCounter(dialect))
    for block in blocks(fd, dialect, begin.offset, begin.line, end, policy.block_bytes, policy.max_record_bytes):
        if block.flaws and not policy.tolerate:
            raise unreadable_record(block.flaws[0], dialect.encoding)
        low, look = 0, _look(exactness, block, dialect)
        while low < block.size:
            most = sizes.most_bytes(chunk.begin.number, end - chunk.begin.offset)
            high = block.ends.last(low, chunk.begin.offset + most - block.offset)
            if high and sizes.rows:
                high = block.end_within(low, high, sizes.rows - chunk.rows)
            if high <= low and chunk.length:
                yield chunk.closed()
                chunk = chunk.following()
                continue
            high = high or block.ends.first(low)
            chunk.look_at(look)
            chunk.take(fd, block, low, high)
            low = high
    if chunk.length:
        yield chunk.closed()


def _look(exactness: ValueChecks | None, block: Block, dialect: Dialect) -> BlockLook | None:
    if not exactness:
        return None
    # A comment with a quote would hide the records after it.
    return exactness.look(block.only_rows() if dialect.leaves_lines_out else block)


@dataclass
class _OpenChunk:
    begin: Position
    skipped: LineCounter
    length: int = 0
    rows: int = 0
    lines: int = 0
    null_word: bool = False
    null_marker: bool = False
    suspect: bool = False
    ascii: bool = True
    hash: xxhash.xxh3_64 = field(default_factory=xxhash.xxh3_64)

    def look_at(self, look: BlockLook | None) -> None:
        """Learn of the values in the block that is looked at; None if values are not checked."""
        if look is None:
            self.null_marker = True
        elif not self.suspect:
            # Where no value may be a NULL marker, none is suspicious either, and the block is looked at once.
            self.null_marker = self.null_marker or look.may_have_null_marker()
            self.suspect = look.suspicious

    def take(self, fd: Readable, block: Block, low: int, high: int) -> None:
        """Add the records between two ends of a block."""
        self.length += high - low
        rows, lines = block.rows_and_lines(low, high, self.skipped.dialect.line_end)
        self.rows += rows
        self.lines += lines
        self.skipped.add_block(block, low, high)
        self.suspect |= block.has_excluded(low, high)
        self.null_word = self.null_word or block.has_null_word(low, high)
        self.ascii = self.ascii and block.is_ascii(low, high)
        if block.data:
            self.hash.update(memoryview(block.data)[low:high])
            return
        for piece in pieces(fd, block.offset + low, block.offset + high):
            self.hash.update(piece)

    def closed(self) -> ChunkRange:
        digest = self.hash.hexdigest()
        return ChunkRange(
            self.begin.number,
            self.begin.offset,
            self.length,
            self.rows,
            self.begin.line,
            digest,
            null_word=self.null_word,
            null_marker=self.null_marker,
            suspect=self.suspect,
            first_row=self.begin.row,
            ascii=self.ascii,
            file=self.begin.file,
            skipped=self.skipped.lines(),
        )

    def following(self) -> "_OpenChunk":
        begin = self.begin
        following = Position(
            begin.offset + self.length,
            begin.line + self.lines,
            begin.number + 1,
            begin.row + self.rows,
            begin.file,
        )
        return _OpenChunk(following, LineCounter(self.skipped.dialect))
