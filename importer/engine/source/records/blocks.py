"""Reads a file's records in checked blocks: for the scan, which counts them, and for the isolation of rejects."""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.source import encodings
from importer.engine.source.arrays import Offsets, np
from importer.engine.source.byte_source import Readable, read_at
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records import null_words
from importer.engine.source.records.boundary.boundaries import (
    Ends,
    LineEnds,
    ListedEnds,
    count_between,
    find_ends,
)
from importer.engine.source.records.boundary.flaws import doubtful_comments, encoding_flaws, not_encoded, trailing_flaws
from importer.engine.source.records.boundary.lines import ends_in_lf, line_ends
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS, Quote, RecordWalk
from importer.engine.source.records.boundary.stray_quotes import (
    MalformedRecord,
    resolve_quotes,
)
from importer.engine.source.records.byte_scan import has_null_letters, scan_bytes
from importer.engine.source.records.fields import values
from importer.engine.source.records.no_records import find_no_records
from importer.engine.source.records.refused import refused_records

# Small enough for a block's arrays to stay in the second-level cache, large enough to hide the fixed cost of some 200
# calls into numpy (measured: 256 KiB takes 1.15 times as long, 1 MiB takes as long).
BLOCK_BYTES = 512 * 1024
MAX_RECORD_BYTES = 64 * 1024 * 1024
LONGEST_FOOTER = 32 * 1024  # bytes that are read at once to find a footer
# What follows the last record of some files: Ctrl-Z, by which DOS marks the end, and the zeros that a file system keeps
# where the data was lost with the power.
END_MARKS = b"\0\x1a"


@dataclass(frozen=True)
class Block:
    """Consecutive whole records: `size` bytes from `offset` on, the first on physical line `first_line`.

    - `data` begins with the records; it is empty for a record that is larger than a block.
    - `ends`: the end of each record, in bytes from `offset`.
    - `blank`: the positions in `data` at which lines begin that are not rows: blank lines, comments.
    - `flaws`: the records that cannot be read safely.
    - `null_word`: a field may be the word NULL. `ascii`: all bytes are ASCII. In a record that is larger than a block,
      neither is searched for: then `null_word` is True and `ascii` False.
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
        """For each record of the block, its number (from 0) among the rows; -1 for a blank line."""
        rows = np.ones(self.ends.count(0, self.size), bool)
        rows[np.searchsorted(self.ends.as_array(), np.asarray(self.blank, np.int64), side="right")] = False
        return np.where(rows, np.cumsum(rows) - 1, -1)

    def only_rows(self) -> "Block":
        """The block without the lines that are no rows: record and row numbers are then the same. Without flaws."""
        if not len(self.blank):
            return replace(self, flaws=())
        kept, lengths = self.row_numbers() >= 0, np.diff(self.ends.as_array(), prepend=0)
        view = np.frombuffer(self.data, np.uint8, min(self.size, len(self.data)))
        data = view[np.repeat(kept, lengths)].tobytes() if self.data else b""
        ends = ListedEnds(np.cumsum(lengths[kept]))
        return replace(self, size=len(data), ends=ends, data=data, blank=(), flaws=())

    def rows(self, low: int, high: int) -> int:
        """The number of records between two ends, without blank lines."""
        if high - low == self.size and isinstance(self.ends, LineEnds):
            return self.lines + self.ends.is_cut(low, high) - len(self.blank)
        return self.ends.count(low, high) - count_between(self.blank, low, high)

    def rows_and_lines(self, low: int, high: int, line_end: str) -> tuple[int, int]:
        """The number of rows() and the number of physical lines between two ends."""
        rows = self.rows(low, high)
        if high - low == self.size:
            return rows, self.lines
        if isinstance(self.ends, LineEnds) and ends_in_lf(line_end):
            # Each line end ends a record, so lines need no second count.
            return rows, rows + count_between(self.blank, low, high) - self.ends.is_cut(low, high)
        return rows, line_ends(self.data, line_end, low, high)

    def end_within(self, low: int, high: int, count: int) -> int:
        """The end of the last of at most `count` rows between two ends; `low` if `count` is 0."""
        # A row has at least one byte, so usually neither a count nor the ends are needed.
        if high - low < count or self.rows(low, high) < count:
            return high
        if count <= 0:
            return low
        at = int(self._row_ends.searchsorted(low, side="right")) + count - 1
        return int(self._row_ends[at])

    @cached_property
    def _row_ends(self) -> Offsets:
        """The ends of the records that are rows."""
        return self.ends.as_array()[self.row_numbers() >= 0] if len(self.blank) else self.ends.as_array()

    def has_null_word(self, low: int, high: int) -> bool:
        """Whether a field may be the word NULL between two ends."""
        return self.null_word and (not self.data or has_null_letters(self.data, low, high))

    def is_ascii(self, low: int, high: int) -> bool:
        """Whether all bytes between two ends are ASCII."""
        return self.ascii or (high - low < self.size and self.data[low:high].isascii())

    def has_excluded(self, low: int, high: int) -> bool:
        """Whether there is a record between two ends that must not be sent: a flawed one, or a blank line."""
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
    """All records between the bytes `start` and `end`, in checked blocks.

    Raises SourceProblem with the line if records cannot be separated: for a line end that is not the dialect's, and for
    a quote that is not closed (or not within `max_record_bytes`) on a line without the file's number of fields. Raises
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
    byte_scan = scan_bytes(data, ends.size)
    blank = find_no_records(data, ends, dialect, empty_line=byte_scan.empty_line)
    flaws = [replace(flaw, line=flaw.line + line - 1) for flaw in ends.flaws]
    if not byte_scan.ascii:
        find = _flaws_of_texts if dialect.raw_fields else encoding_flaws
        flaws += find(data, ends, dialect, offset, line)
    flaws += trailing_flaws(data, ends, dialect, line, blank)
    flaws += doubtful_comments(data, ends, dialect, line, blank)
    if dialect.marks_refused:
        flaws += refused_records(data, ends, dialect)
    if flaws and dialect.leaves_lines_out:
        flaws = _of_records(flaws, ends, blank)
    counted = ends_in_lf(dialect.line_end)
    lines = byte_scan.line_feeds if counted else line_ends(data, dialect.line_end, 0, ends.size)
    if len(flaws) > 1:
        flaws.sort(key=lambda flaw: flaw.record)
    null_word = byte_scan.null_letters and null_words.occur(data, ends.size, dialect)
    return Block(offset, line, ends.size, lines, ends, data, blank, tuple(flaws), null_word, byte_scan.ascii)


def _flaws_of_texts(data: bytes, ends: Ends, dialect: Dialect, offset: int, line: int) -> Iterator[MalformedRecord]:
    """As encoding_flaws(), for a dialect with raw fields, whose bytes are not in the encoding."""
    low = 0
    for record, high in enumerate(ends.as_array().tolist()):
        raw = data[low:high]
        if not raw.isascii() and (at := encodings.invalid_at(raw, dialect.encoding)) >= 0 and _is_odd(raw, dialect):
            yield not_encoded(raw, at, offset + low, line, dialect).of_record(record)
        line, low = line + line_ends(raw, dialect.line_end), high


def _is_odd(record: bytes, dialect: Dialect) -> bool:
    """Whether a value that is a text is not valid in the encoding."""
    texts = (value for number, value in enumerate(values(record, dialect)) if number not in dialect.raw_fields)
    return any(value and encodings.invalid_at(value, dialect.encoding) >= 0 for value in texts)


def _of_records(flaws: list[MalformedRecord], ends: Ends, blank: Sequence[int]) -> list[MalformedRecord]:
    """The flaws of records, without those of lines that are none, which begin at `blank`."""
    none = {ends.count(0, at) for at in blank}
    return [flaw for flaw in flaws if flaw.record not in none]


def read_exactly(fd: Readable, size: int, offset: int) -> bytes:
    """`size` bytes of the file from `offset` on. Raises SourceChanged if the file ends before."""
    data = read_at(fd, size, offset)
    while len(data) < size:
        more = read_at(fd, size - len(data), offset + len(data))
        if not more:
            raise SourceChanged(
                f"The file ends at byte {offset + len(data):,}; it was longer when it was first looked at.",
                advice="Wait until the program that writes it has finished, then import it again.",
            )
        data += more
    return data


def pieces(fd: Readable, offset: int, end: int) -> Iterator[bytes]:
    """The bytes from `offset` to `end`, in blocks."""
    for at in range(offset, end, BLOCK_BYTES):
        yield read_exactly(fd, min(BLOCK_BYTES, end - at), at)


def end_of_records(fd: Readable, dialect: Dialect, start: int, end: int) -> int:
    """The end of the last record. Blank lines after it are excluded, unless they are records or may be escaped.

    The footer's lines (Dialect.skip_footer) are excluded, too, and what end_of_contents() excludes.
    """
    end = end_of_contents(fd, dialect, start, end)
    if dialect.skip_footer:
        end = _end_above_footer(fd, dialect, start, end)
    if dialect.escapes_all or dialect.blank_lines == "keep":
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


def end_of_contents(fd: Readable, dialect: Dialect, start: int, end: int) -> int:
    """The end without END_MARKS, and without a CR there if records end in LF or CR LF: the LF after it was cut.

    None of them is left out behind an escape.
    """
    whole = end
    kept = b""
    while end > start and not kept:
        low = max(start, end - LONGEST_FOOTER)
        kept = read_exactly(fd, end - low, low).rstrip(END_MARKS)
        end = low + len(kept)
    if kept.endswith(b"\r") and ends_in_lf(dialect.line_end):
        end, kept = end - 1, kept[:-1]
    return whole if dialect.escapes_all and kept.endswith(dialect.escape_bytes) else end


def _end_above_footer(fd: Readable, dialect: Dialect, start: int, end: int) -> int:
    """The end of the last line above the footer; `start` if there is none."""
    line_end, size = re.compile(RECORD_ENDS[dialect.line_end]), 2 * LONGEST_FOOTER
    while True:
        low = max(start, end - size)
        tail = read_exactly(fd, end - low, low).rstrip(b"\r\n")
        ends = [match.end() for match in line_end.finditer(tail)]
        if len(ends) >= dialect.skip_footer:
            return low + ends[-dialect.skip_footer]
        if low == start:
            return start
        size *= 2


def _without_marks(data: bytes, mark: bytes) -> int:
    """The length of the data without the marks at its end, of which there may be millions."""
    size = len(data)
    many = 1 << size.bit_length()
    while many := many // 2:
        while many * len(mark) <= size and data.endswith(mark * many, 0, size):
            size -= many * len(mark)
    return size


def _large_record(
    fd: Readable, dialect: Dialect, offset: int, line: int, end: int, block_bytes: int, max_record_bytes: int
) -> Block:
    """The record at `offset`, of any size: for one that a block cuts, or whose end find_ends() cannot determine."""
    walk = RecordWalk(dialect, line)
    at, length = offset, 0
    while not length and at < end and at - offset < max_record_bytes:
        data = read_exactly(fd, min(block_bytes, end - at), at)
        length = walk.feed(data, final=at + len(data) == end)
        at += len(data)
        if walk.foreign_line:
            raise _foreign_line_end(dialect, walk.foreign_line)

    def read_part(low: int, high: int) -> bytes:
        return read_exactly(fd, min(offset + high, at) - offset - low, offset + low)

    flaw, length = resolve_quotes(walk, read_part, length, at - offset, dialect)
    if not length:
        raise _endless(walk.opened if walk.is_open else None, line, at == end, max_record_bytes, offset)
    return _single(fd, dialect, offset, line, length, [flaw] if flaw else [])


def _single(fd: Readable, dialect: Dialect, offset: int, line: int, length: int, flaws: list[MalformedRecord]) -> Block:
    """The block for a single record."""
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
    comment = dialect.comment_bytes
    if comment and read_exactly(fd, len(comment), offset) == comment:
        return Block(offset, line, length, lines, ends, b"", (0,))
    flaws = [*flaws, *trailing_flaws(tail, ListedEnds((len(tail),)), dialect, line, ())]
    return Block(offset, line, length, lines, ends, b"", (), tuple(flaws))


def _flaw_in_piece(error: UnicodeDecodeError, piece: bytes, at: int, line: int, dialect: Dialect) -> MalformedRecord:
    """The flaw for a decoding error in `piece`, which begins at `at` in the file, on `line`."""
    # The error's bytes begin with those that the decoder kept from the piece before. They contain no line end.
    carried = len(error.object) - len(piece)
    line += line_ends(error.object, dialect.line_end, 0, error.start)
    return not_encoded(error.object, error.start, at - carried, line, dialect)


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
        option="line_end",
    )


def _endless(opened: Quote | None, line: int, at_end: bool, max_record_bytes: int, offset: int) -> SourceProblem:
    """The problem for a record at `offset` that does not end."""
    within = "" if at_end else f" within {max_record_bytes:,} bytes"
    if opened:
        return SourceProblem(
            f"The quote that opens field {opened.field} on line {opened.line} is not closed{within}.",
            where=f"line {opened.line}",
            advice="Close it, or double it where it is part of the value. If the file quotes nothing, choose no quote.",
            option="quote",
        ).at_byte(offset + opened.offset)
    return SourceProblem(
        f"No record ends{within} from line {line} on.",
        where=f"line {line}",
        advice="Check that this is a CSV file, and its line end.",
        option="line_end",
    )
