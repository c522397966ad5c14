"""A file's records a block at a time, each checked: what the scan counts and the review looks at again."""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.source import encodings
from importer.engine.source.arrays import Offsets
from importer.engine.source.byte_source import Readable, read_at
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records import null_words
from importer.engine.source.records.boundary.boundaries import (
    Ends,
    LineEnds,
    ListedEnds,
    blank_records,
    count_between,
    find_ends,
)
from importer.engine.source.records.boundary.state_machine import Quote, RecordWalk
from importer.engine.source.records.boundary.stray_quotes import (
    ENCODING,
    TRAILING,
    MalformedRecord,
    line_around,
    reader_of,
    resolve_quotes,
)
from importer.engine.source.records.byte_scan import has_null_letters, scan_bytes
from importer.engine.source.records.lines import ends_in_lf, line_ends

# Small enough for what is made of a block to stay in the second-level cache, large enough that the fixed cost of some
# 200 calls into numpy does not show (measured: 256 KiB takes 1.15 times as long, 1 MiB as long).
BLOCK_BYTES = 512 * 1024
MAX_RECORD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Block:
    """Whole records that lie together: `size` bytes from `offset` on, the first on line `first_line`.

    `data` begins with them; it is empty for a record that is larger than a block. `ends` are those of all records,
    `blank` the places in `data` where one begins that is a blank line and does not count. `flaws` are the records that
    cannot be read safely. `null_word`: a field may be the word NULL. `ascii`: all bytes are. A record too large to be
    searched may have anything.
    """

    offset: int
    first_line: int
    size: int
    lines: int
    ends: Ends
    data: bytes
    blank: Sequence[int] = ()
    flaws: tuple[MalformedRecord, ...] = ()
    null_word: bool = True
    ascii: bool = False

    def row_numbers(self) -> Offsets:
        """For each of the block's records its number among those that are rows, as an array; -1 for a blank line."""
        import numpy as np

        rows = np.ones(self.ends.count(0, self.size), bool)
        rows[np.searchsorted(self.ends.listed(), np.asarray(self.blank, np.int64), side="right")] = False
        return np.where(rows, np.cumsum(rows) - 1, -1)

    def rows(self, low: int, high: int) -> int:
        """How many records there are between two ends, blank lines left out."""
        if high - low == self.size and isinstance(self.ends, LineEnds):
            return self.lines + self.ends.is_cut(low, high) - len(self.blank)
        return self.ends.count(low, high) - count_between(self.blank, low, high)

    def rows_and_lines(self, low: int, high: int, line_end: str) -> tuple[int, int]:
        """How many of rows() and how many physical lines there are between two ends."""
        rows = self.rows(low, high)
        if high - low == self.size:
            return rows, self.lines
        if isinstance(self.ends, LineEnds) and ends_in_lf(line_end):
            # Each line end ends a record, so that they need not be counted again.
            return rows, rows + count_between(self.blank, low, high) - self.ends.is_cut(low, high)
        return rows, line_ends(self.data, line_end, low, high)

    def end_within(self, low: int, high: int, count: int) -> int:
        """Where the last of at most `count` rows between two ends ends; `low` for none."""
        # A row has a byte at least, so that most often they need not be counted, nor the end of each be found.
        if high - low < count or self.rows(low, high) < count:
            return high
        if count <= 0:
            return low
        at = int(self._row_ends.searchsorted(low, side="right")) + count - 1
        return int(self._row_ends[at])

    @cached_property
    def _row_ends(self) -> Offsets:
        """The ends of the records that are rows, as an array."""
        return self.ends.listed()[self.row_numbers() >= 0] if len(self.blank) else self.ends.listed()

    def has_null_word(self, low: int, high: int) -> bool:
        """Whether a field may be the word NULL between two ends."""
        return self.null_word and (not self.data or has_null_letters(self.data, low, high))

    def is_ascii(self, low: int, high: int) -> bool:
        """Whether all bytes between two ends are ASCII."""
        return self.ascii or (high - low < self.size and self.data[low:high].isascii())

    def blemished(self, low: int, high: int) -> bool:
        """Whether anything between two ends must not be sent: a flawed record, a blank line."""
        if not self.flaws:
            return bool(count_between(self.blank, low, high))
        first, last = self.ends.count(0, low), self.ends.count(0, high)
        return any(first <= flaw.record < last for flaw in self.flaws) or bool(count_between(self.blank, low, high))


def blocks(
    fd: Readable,
    dialect: Dialect,
    start: int,
    first_line: int,
    end: int,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[Block]:
    """All records between `start` and `end`, a block at a time, checked.

    Raises SourceProblem with the line where records cannot be told apart: a line end that is not the dialect's, a
    quote that is never closed (or not within `max_record_bytes`) on a line that has not the file's number of fields;
    SourceChanged if the file ends before `end`.
    """
    offset, line = start, first_line
    while offset < end:
        data = read_exactly(fd, min(block_bytes, end - offset), offset)
        ends = find_ends(data, dialect, final=offset + len(data) == end)
        if ends.size:
            block = _checked(data, ends, dialect, offset, line)
        else:
            block = _large_record(fd, dialect, offset, line, end, block_bytes, max_record_bytes)
        yield block
        offset += block.size
        line += block.lines


def _checked(data: bytes, ends: Ends, dialect: Dialect, offset: int, line: int) -> Block:
    seen = scan_bytes(data, ends.size)
    may_be_blank = seen.empty_line and dialect.blank_lines == "skip"
    blank = blank_records(data, ends, dialect) if may_be_blank else ()
    flaws = [replace(flaw, line=flaw.line + line - 1) for flaw in ends.flaws]
    if not seen.ascii:
        flaws += _encoding_flaws(data, ends, dialect, offset, line)
    flaws += _trailing_flaws(data, ends, dialect, line, blank)
    counted = ends_in_lf(dialect.line_end)
    lines = seen.line_feeds if counted else line_ends(data, dialect.line_end, 0, ends.size)
    if len(flaws) > 1:
        flaws.sort(key=lambda flaw: flaw.record)
    null_word = seen.null_letters and null_words.occur(data, ends.size, dialect)
    return Block(offset, line, ends.size, lines, ends, data, blank, tuple(flaws), null_word, seen.ascii)


def _encoding_flaws(data: bytes, ends: Ends, dialect: Dialect, offset: int, line: int) -> Iterator[MalformedRecord]:
    """One for each record of data[:ends.size] with bytes that are not in the dialect's encoding.

    `data` lies at `offset` in the file, on `line`.
    """
    low = counted = 0
    while low < ends.size and (at := encodings.invalid_at(data, dialect.encoding, low, ends.size)) >= 0:
        line += line_ends(data, dialect.line_end, counted, at)
        counted, low = at, ends.first(at)
        yield _not_encoded(data, at, offset, line, dialect).of_record(ends.count(0, low) - 1)


def _not_encoded(data: bytes, at: int, offset: int, line: int, dialect: Dialect) -> MalformedRecord:
    """For the byte data[at]; `data` lies at `offset` in the file."""
    name = "UTF-8" if dialect.encoding == encodings.UTF8 else dialect.encoding
    return MalformedRecord(
        ENCODING,
        line,
        0,
        f"The byte 0x{data[at]:02X} at offset {offset + at:,} is not {name}.",
        "Choose the file's encoding (--encoding cp1252 for western Windows), or save it as UTF-8.",
        line_around(at, reader_of(data)),
    )


def _trailing_flaws(
    data: bytes, ends: Ends, dialect: Dialect, line: int, blank: Sequence[int]
) -> Iterator[MalformedRecord]:
    """One for each record that does not end in the delimiter where the dialect has one: its last field would be lost.

    Where the delimiter is escaped there, the server itself finds too few fields.
    """
    if not dialect.trailing_delimiter:
        return
    if _all_end_in(data, ends, dialect):
        return
    delimiter, low = dialect.delimiter_bytes, 0
    for record, high in enumerate(ends.listed().tolist()):
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


def read_exactly(fd: Readable, size: int, offset: int) -> bytes:
    """`size` bytes of the file from `offset` on. Raises SourceChanged if it ends before."""
    data = read_at(fd, size, offset)
    while len(data) < size:
        more = read_at(fd, size - len(data), offset + len(data))
        if not more:
            raise SourceChanged(
                f"The file ends at byte {offset + len(data):,}; it was longer when it was first looked at.",
                advice="Wait until whatever writes it has finished, then import it again.",
            )
        data += more
    return data


def pieces(fd: Readable, offset: int, end: int) -> Iterator[bytes]:
    """The bytes from `offset` to `end`, in blocks."""
    for at in range(offset, end, BLOCK_BYTES):
        yield read_exactly(fd, min(BLOCK_BYTES, end - at), at)


def end_of_records(fd: Readable, dialect: Dialect, start: int, end: int) -> int:
    """Where the last record ends: before blank lines that follow it, unless they are records or may be escaped."""
    if dialect.escape or dialect.blank_lines == "keep":
        return end
    mark = b"" if dialect.line_end == ANY_LINE_END else dialect.line_end.encode()
    at = end
    while at > start:
        low = max(start, at - BLOCK_BYTES)
        data = read_exactly(fd, at - low, low)
        blank_from = len(data.rstrip(b"\r\n")) if not mark else _without_marks(data, mark)
        at = low + blank_from
        if blank_from:
            mark = mark or (b"\r\n" if read_exactly(fd, min(2, end - at), at) == b"\r\n" else b"\n")
            return min(at + len(mark), end)
    return start


def _without_marks(data: bytes, mark: bytes) -> int:
    size = len(data)
    while data.endswith(mark, 0, size):
        size -= len(mark)
    return size


def _large_record(
    fd: Readable, dialect: Dialect, offset: int, line: int, end: int, block_bytes: int, max_record_bytes: int
) -> Block:
    """The record at `offset`, whatever its size: for one that a block cuts, or that find_ends() is not certain of."""
    walk = RecordWalk(dialect, line)
    at, length = offset, 0
    while not length and at < end and at - offset < max_record_bytes:
        data = read_exactly(fd, min(block_bytes, end - at), at)
        length = walk.feed(data, final=at + len(data) == end)
        at += len(data)
        if walk.foreign_line:
            raise _foreign_line_end(dialect, walk.foreign_line)

    def look(low: int, high: int) -> bytes:
        return read_exactly(fd, min(offset + high, at) - offset - low, offset + low)

    flaw, length = resolve_quotes(walk, look, length, at - offset, dialect)
    if not length:
        raise _endless(walk.opened if walk.is_open else None, line, at == end, max_record_bytes)
    return _single(fd, dialect, offset, line, length, [flaw] if flaw else [])


def _all_end_in(data: bytes, ends: Ends, dialect: Dialect) -> bool:
    """Whether each record ends in delimiter and line end, told at once; False may mean that it is not that simple."""
    if dialect.line_end == ANY_LINE_END:
        return False
    import numpy as np

    mark = dialect.delimiter_bytes + dialect.line_end.encode()
    view, lasts = np.frombuffer(data, np.uint8), ends.listed()
    if np.diff(lasts, prepend=0).min() < len(mark):
        return False
    return all((view[lasts - len(mark) + at] == byte).all() for at, byte in enumerate(mark))


def _single(fd: Readable, dialect: Dialect, offset: int, line: int, length: int, flaws: list[MalformedRecord]) -> Block:
    """The block of a single record."""
    ends = ListedEnds((length,))
    if length <= BLOCK_BYTES:
        block = _checked(read_exactly(fd, length, offset), ends, dialect, offset, line)
        return replace(block, flaws=(*flaws, *block.flaws))
    decode = codecs.getincrementaldecoder(dialect.encoding)().decode
    lines, at, before = 0, offset, b""
    for piece in pieces(fd, offset, offset + length):
        try:
            decode(piece, final=at + len(piece) == offset + length)
        except UnicodeDecodeError as error:
            flaws = [*flaws, _flaw_in_piece(error, piece, at, line + lines, dialect)]
            decode = codecs.getincrementaldecoder("latin-1")().decode  # one flaw of a record is enough
        lines += line_ends(piece, dialect.line_end, before=before)
        at, before = at + len(piece), piece[-1:]
    low = max(0, length - BLOCK_BYTES)
    tail = read_exactly(fd, length - low, offset + low)
    flaws = [*flaws, *_trailing_flaws(tail, ListedEnds((len(tail),)), dialect, line, ())]
    return Block(offset, line, length, lines, ends, b"", (), tuple(flaws))


def _flaw_in_piece(error: UnicodeDecodeError, piece: bytes, at: int, line: int, dialect: Dialect) -> MalformedRecord:
    """For an error found in `piece`, which lies at `at` and begins on `line`."""
    # What a decoder kept from the piece before stands at the front; it holds no line end.
    kept = len(error.object) - len(piece)
    line += line_ends(error.object, dialect.line_end, 0, error.start)
    return _not_encoded(error.object, error.start, at - kept, line, dialect)


def _foreign_line_end(dialect: Dialect, line: int) -> SourceProblem:
    name, other, choose = {
        "\n": ("LF", "CR LF", "CR LF"),
        "\r\n": ("CR LF", "a bare LF", "LF"),
        "\r": ("CR", "another line end", "CR LF or LF"),
    }[dialect.line_end]
    return SourceProblem(
        f"Line {line} ends with {other}, but the file is read with {name} as its line end.",
        where=f"line {line}",
        advice=f"Choose {choose} as the line end, or, if lines end in more than one way, any of them.",
    )


def _endless(opened: Quote | None, line: int, at_end: bool, max_record_bytes: int) -> SourceProblem:
    within = "" if at_end else f" within {max_record_bytes:,} bytes"
    if opened:
        return SourceProblem(
            f"The quote that opens field {opened.field} on line {opened.line} is not closed{within}.",
            where=f"line {opened.line}",
            advice="Close it, or double it where it is part of the value. If the file quotes nothing, choose no quote.",
        )
    return SourceProblem(
        f"No record ends{within} from line {line} on.",
        where=f"line {line}",
        advice="Check that this is a CSV file, and its line end.",
    )
