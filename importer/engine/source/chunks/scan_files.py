"""Divides several files that are read as one into chunks, each of records of one file."""

from collections.abc import Iterator, Sequence

from importer.engine.errors import in_file
from importer.engine.source.byte_source import Readable
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import end_of_contents, end_of_records


def scan_files(
    fd: Readable,
    dialect: Dialect,
    sizes: ChunkSizes,
    begin: Position,
    files: Sequence[JoinedFile],
    policy: ScanPolicy,
) -> Iterator[ChunkRange]:
    """The chunks from `begin` to the end of the last file; the lines of each are those of its own file.

    Raises as scan() does, with the name of the file.
    """
    position = begin
    for number, file in enumerate(files):
        if number < begin.file:
            continue
        if number > begin.file:
            position = Position(file.begin, file.line, position.number, position.row, number)
        if position.offset >= (end := _end(fd, dialect, file)):
            continue
        with in_file(file.name):
            for chunk in scan(fd, dialect, sizes, position, end=end, policy=policy):
                yield chunk
                position = Position(chunk.end, 0, chunk.number + 1, chunk.first_row + chunk.rows, number)


def record_ranges(
    fd: Readable, dialect: Dialect, files: Sequence[JoinedFile], whole: tuple[int, int, int]
) -> list[tuple[int, int, int]]:
    """Start, first line and end of the records of each of the `files`; of a single file, `whole` alone."""
    ranges = [(each.begin, each.line, _end(fd, dialect, each)) for each in files] or [whole]
    return [(start, line, end_of_records(fd, dialect, start, end)) for start, line, end in ranges]


def _end(fd: Readable, dialect: Dialect, file: JoinedFile) -> int:
    """The end of the file, with its added line end unless that follows more than records."""
    own = file.begin + file.length
    contents = end_of_contents(fd, dialect, file.begin, own)
    return file.end if contents == own else contents
