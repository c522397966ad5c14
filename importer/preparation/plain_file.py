"""The plain contents of a source: unpacked, in UTF-8, converted; of several files, their joined bytes."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from django.conf import settings

from importer.connections.source_location import location_of, location_of_all
from importer.engine.errors import DiskFull, full_disk_as, in_file
from importer.engine.sorting.original_positions import WIDE, OriginalPositions, head, numbered_from
from importer.engine.source.byte_source import Readable, open_source, size_of
from importer.engine.source.chunks.joined import JoinedFile, copy_joined, require_size
from importer.engine.source.compression import unpacking_limits
from importer.engine.source.decoding import needs_copy, plain_pieces
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile
from importer.models import SourceFile
from importer.sources import in_place
from importer.sources.room import in_words, is_full

# Takes how many of the source's own bytes have been read.
OnBytes = Callable[[int], None]


@dataclass(frozen=True)
class CopyOut:
    """The open files of a copy: `data`, and the `places` of a converted file's rows (sorting/original_positions.py).

    `tolerate`: rows that their format cannot read are marked, and are no problem (source/records/refused.py).
    """

    data: IO[bytes]
    places: IO[bytes]
    tolerate: bool


def copy_one(fd: Readable, packing: str, dialect: Dialect, out: CopyOut, on_bytes: OnBytes) -> None:
    """Write the plain bytes of an open file. Raises SourceProblem as plain_pieces() does."""
    for piece in plain_pieces(fd, packing, dialect, unpacking_limits(), tolerate=out.tolerate):
        out.data.write(piece.data)
        if piece.places is not None:
            out.places.write(piece.places.tobytes())
        on_bytes(piece.used)


def copy_several(
    source: SourceFile, files: Sequence[JoinedFile], dialect: Dialect, data_line: int, out: CopyOut, on_bytes: OnBytes
) -> tuple[JoinedFile, ...]:
    """Write the plain bytes of several files as one (engine/source/joined.py); the files with their places in it.

    `data_line`: the first line of data of a converted file. Raises SourceProblem with the file's name.
    """
    sources, done, rows = source.files, 0, 0
    first_lines: list[int] = []

    def plain(number: int) -> Iterator[bytes]:
        nonlocal done, rows
        file = files[number]
        first_lines.append(data_line + rows if dialect.is_converted else file.line)
        with in_file(file.name), open_source(location_of(sources[number])) as fd:
            _refuse_changed(fd, file, sources[number], lambda: on_bytes(done))
            for piece in plain_pieces(fd, file.packing, dialect, unpacking_limits(), tolerate=out.tolerate):
                if piece.places is not None:
                    # Rows are numbered through all files.
                    out.places.write(numbered_from(piece.places, rows + 1).tobytes())
                    rows += len(piece.places)
                yield piece.data
                on_bytes(done + piece.used)
            _refuse_changed(fd, file, sources[number], lambda: on_bytes(done + file.size))
        done += file.size

    placed = copy_joined(files, dialect.plain, plain, out.data.write)
    return tuple(replace(each, line=line) for each, line in zip(placed, first_lines, strict=True))


def _refuse_changed(fd: Readable, file: JoinedFile, source: SourceFile, keep_alive: Callable[[], object]) -> None:
    require_size(fd, file)
    in_place.require_same(source, keep_alive)


@dataclass(frozen=True)
class PlainFile:
    """The plain contents, open as `fd`, of `size` bytes.

    `files`: of several, where the records of each lie in it. `places`: where the rows of a converted file stood.
    """

    fd: Readable
    size: int
    files: tuple[JoinedFile, ...] = ()
    places: OriginalPositions | None = None


@contextmanager
def open_plain(
    source: SourceFile, profile: Profile, files: tuple[JoinedFile, ...], on_bytes: OnBytes
) -> Iterator[PlainFile]:
    """Open the plain contents of a whole source with this profile; `files` are those of several, as join_files() says.

    A copy that is needed for it has no name, so that nothing stays of it. Raises SourceProblem, and DiskFull.
    """
    if not (needs_copy(profile.packing, profile.dialect) or any(each.order for each in files)):
        with open_source(location_of_all(source, files)) as fd:
            yield PlainFile(fd, size_of(fd), files)
        return
    settings.PLAIN_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (
        tempfile.TemporaryFile(dir=settings.PLAIN_DIR) as data,
        tempfile.TemporaryFile(dir=settings.PLAIN_DIR) as places,
    ):
        out = CopyOut(data, places, tolerate=True)
        places.write(head(WIDE))
        with full_disk_as(lambda: _disk_full(source, profile)):
            files = _copy(source, profile, files, out, on_bytes)
        # The system's name for an open file, which has none of its own.
        own = OriginalPositions(Path(f"/dev/fd/{places.fileno()}")) if profile.dialect.is_converted else None
        yield PlainFile(data.fileno(), size_of(data.fileno()), files, own)


def _copy(
    source: SourceFile, profile: Profile, files: tuple[JoinedFile, ...], out: CopyOut, on_bytes: OnBytes
) -> tuple[JoinedFile, ...]:
    def with_room(done: int) -> None:
        if is_full(settings.PLAIN_DIR):
            raise _disk_full(source, profile)
        on_bytes(done)

    if files:
        files = copy_several(source, files, profile.dialect, profile.data_line, out, with_room)
    else:
        with open_source(location_of(source)) as fd:
            copy_one(fd, profile.packing, profile.dialect, out, with_room)
    out.data.flush()
    out.places.flush()
    return files


def _disk_full(source: SourceFile, profile: Profile) -> DiskFull:
    return DiskFull(
        f"The disk is full: the file cannot be unpacked or converted. "
        f"{in_words(settings.PLAIN_DIR, profile.size, about=True)} What had been written of it was removed.",
        where=source.name,
        advice=f"Make room under {settings.PLAIN_DIR}, or give PLAIN_DIR a larger disk.",
    )
