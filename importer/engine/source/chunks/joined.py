"""Several files that are read as one: the records of each follow those of the one before it.

The first file is there from its first byte. Of each other file, what stands before its records (a byte order mark, the
header) is left out, and a line end is added where the file before it ends without one. So the joined bytes are a file
that the scan and the load read as any other. No chunk has records of two files.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from importer.engine.errors import SourceChanged, in_file
from importer.engine.source.byte_source import Readable, SourceLocation, open_source, read_at, size_of
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines
from importer.engine.source.dialect import ANY_LINE_END, LINE_ENDS, Dialect
from importer.engine.source.records.field_order import in_order

# Files that one reader keeps open: the scan and a loader read on in one file for a long time.
MOST_OPEN = 4


@dataclass(frozen=True)
class JoinedFile:
    """One of the files. Offsets and sizes are bytes of the plain file: unpacked, and in UTF-8 where that is needed.

    - `begin`: where its records begin in the joined bytes; `skip`: where in the file itself; `line`: on which physical
      line of it.
    - `length`: the bytes from there to its end; an estimate until a packed file is unpacked.
    - `added`: the line end that is added to it, "" for none.
    - `packing`: how the file is packed, "" if it is not; `size`: its own bytes, packed or not.
    - `before`: the lines before its records (SkippedLines.as_json()).
    - `order`: where the fields of the first file are in its records, by position from 0; () in the same order.
    """

    name: str
    begin: int
    skip: int
    line: int
    length: int
    size: int
    added: str = ""
    packing: str = ""
    before: dict[str, Any] | None = None
    order: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The joined offset behind it."""
        return self.begin + self.length + len(self.added)

    @property
    def lines_before(self) -> SkippedLines:
        return SkippedLines.from_json(self.before) if self.before else NO_LINES

    def own_offset(self, offset: int) -> int:
        """The offset in the file itself of a joined offset."""
        return offset - self.begin + self.skip


@dataclass(frozen=True)
class JoinedFiles:
    """The place of the joined bytes; `places` are those of the files."""

    files: tuple[JoinedFile, ...]
    places: tuple[SourceLocation, ...]

    @property
    def name(self) -> str:
        return self.files[0].name

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """Open the files, each when it is read. Reading raises SourceProblem for one that is gone or has changed."""
        with ExitStack() as opened:
            yield _JoinedBytes(self, opened)


class _JoinedBytes:
    """Reads the joined bytes (byte_source.RangeReader)."""

    def __init__(self, joined: JoinedFiles, opened: ExitStack) -> None:
        self._files, self._places = joined.files, joined.places
        self._begins = [each.begin for each in joined.files]
        self._open: dict[int, tuple[Readable, AbstractContextManager[Readable]]] = {}
        opened.callback(self._close_all)
        self.size = joined.files[-1].end

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from `offset` on, `length` of them or up to the end."""
        pieces: list[bytes] = []
        while length > 0 and offset < self.size and (piece := self._piece(offset, length)):
            pieces.append(piece)
            offset, length = offset + len(piece), length - len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _piece(self, offset: int, length: int) -> bytes:
        number = max(0, bisect_right(self._begins, offset) - 1)
        file = self._files[number]
        left = file.begin + file.length - offset
        if left <= 0:
            return file.added.encode()[-left : length - left]
        return read_at(self._opened(number), min(length, left), file.own_offset(offset))

    def _opened(self, number: int) -> Readable:
        if number not in self._open:
            if len(self._open) == MOST_OPEN:
                self._close(next(iter(self._open)))
            with in_file(self._files[number].name):
                context = open_source(self._places[number])
                self._open[number] = context.__enter__(), context
                require_size(self._open[number][0], self._files[number])
        return self._open[number][0]

    def _close(self, number: int) -> None:
        self._open.pop(number)[1].__exit__(None, None, None)

    def _close_all(self) -> None:
        for number in list(self._open):
            self._close(number)


def require_size(source: Readable, file: JoinedFile) -> None:
    """Raise SourceChanged if the open file has another size than when the import was planned."""
    if (size := size_of(source)) != file.size:
        raise SourceChanged(
            f"The file has {size:,} bytes, it had {file.size:,} when the import was planned.",
            advice="Wait until it is complete, then import the files again.",
        )


def copy_joined(
    files: Sequence[JoinedFile],
    dialect: Dialect,
    plain: Callable[[int], Iterator[bytes]],
    write: Callable[[bytes], object],
) -> tuple[JoinedFile, ...]:
    """Write the joined bytes of files that are copied; the files with their exact places in them.

    `plain(number)` are the plain bytes of a file from its start, in this `dialect`.
    """
    placed: list[JoinedFile] = []
    for number, file in enumerate(files):
        begin = placed[-1].end if placed else 0
        length, last = 0, b""
        kept = _behind(plain(number), file.skip if placed else 0)
        # What a copy has to move is named with its file.
        with in_file(file.name):
            for piece in in_order(kept, dialect, file.order, file.line) if file.order else kept:
                write(piece)
                length, last = length + len(piece), piece[-1:]
        added = line_end_of(dialect) if length and last not in (b"\n", b"\r") and number < len(files) - 1 else ""
        write(added.encode())
        # The first file's records begin behind its header, which is there.
        head = 0 if placed else file.skip
        placed.append(replace(file, begin=begin + head, length=length - head, added=added))
    return tuple(placed)


def _behind(pieces: Iterator[bytes], left_out: int) -> Iterator[bytes]:
    """The bytes behind the first `left_out` ones."""
    for piece in pieces:
        kept = piece[left_out:]
        left_out -= len(piece) - len(kept)
        if kept:
            yield kept


def line_end_of(dialect: Dialect) -> str:
    """The characters that end a record of the dialect; LF where several do."""
    return LINE_ENDS["lf"] if dialect.line_end == ANY_LINE_END else dialect.line_end
