"""A file that lies on the database's host, named by its path there.

Where this machine sees the same file under the same path, it is read in place. Otherwise it is copied through the
server, because reading, plan and checks need its bytes. Loading does not: the server reads the file itself.
"""

import hashlib
import io
from pathlib import Path, PurePosixPath

from importer.access.acting import acting_user
from importer.access.policy import require_admin
from importer.connections.download import copy_stream
from importer.connections.listed_files import ListedFile
from importer.engine.errors import SourceProblem
from importer.engine.mysql import server_files
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.methods import FROM_FILE
from importer.engine.units import MIB, human_bytes
from importer.models import SourceFile, Target
from importer.sources import uploads
from importer.sources.limits import MOST_COPIED_AT_ONCE

# Bytes of a file that the server hands over at once; it reads the whole file each time.
WINDOW = 8 * MIB


def find_on_server(target: Target, path: str) -> SourceFile:
    """The file of this path on the database's host, as a source that the target's server reads itself.

    Raises Forbidden if a person acts who is no admin: an import of the file shows what it holds. Raises TargetProblem
    if the server cannot read it, and SourceProblem if it is too large to be copied and is not here under this path.
    """
    require_admin("load a file that lies on the database's host")
    with connect(target.address) as connection:
        server = read_server(connection, target.address)
        FROM_FILE.require(server)
        server_files.require_allowed(server, path)
        seen = server_files.look_at(connection, server, path)
        if _is_here(Path(path), seen):
            return uploads.register(Path(path), path)
        if seen.size is None or seen.size > MOST_COPIED_AT_ONCE:
            raise _too_large(path, seen.size, server.number("max_allowed_packet") or 0)
        if not seen.size:
            raise SourceProblem("The file is empty.", path, "Look at what writes it.")
        source = _copied(connection, path, seen.size)
    SourceFile.objects.filter(pk=source.pk).update(server_path=path)
    source.server_path = path
    return source


def _is_here(path: Path, seen: server_files.SeenFile) -> bool:
    """Whether this process sees the same file under the same path."""
    try:
        with path.open("rb") as file:
            if seen.size is None:
                return seen.on_this_machine
            same = path.stat().st_size == seen.size
            return same and hashlib.file_digest(file, "sha256").hexdigest() == seen.digest
    except OSError:
        return False


def _copied(connection: Connection, path: str, size: int) -> SourceFile:
    stream = io.BufferedReader(_ServerBytes(connection, path), WINDOW)
    return copy_stream(None, ListedFile(PurePosixPath(path).name, size, None), stream, size, acting_user())


def _too_large(path: str, size: int | None, packet: int) -> SourceProblem:
    much = f"more than {human_bytes(packet)}, which is max_allowed_packet" if size is None else human_bytes(size)
    return SourceProblem(
        f"The file is not on this machine under that path, and it has {much}: at most"
        f" {human_bytes(MOST_COPIED_AT_ONCE)} are copied through the server to be read here.",
        path,
        "Run the import on the database's host; or mount the folder here under the same path; or copy the file here"
        " (sftp://), and load the copy.",
    )


class _ServerBytes(io.RawIOBase):
    """The file's bytes, asked of the server window by window."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection, self._path, self._at = connection, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        part = server_files.read_part(self._connection, self._path, self._at, min(len(buffer), WINDOW))
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)
