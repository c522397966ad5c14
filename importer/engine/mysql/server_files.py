"""Files on the database's host as the server sees them.

The server shows a file's bytes by LOAD_FILE() up to max_allowed_packet (manual, String Functions): enough to compare a
file with one that is here, and to read a small one. Of a larger file it shows only that it exists.
"""

import socket
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from MySQLdb.constants import ER

from importer.engine.errors import SourceChanged, TargetProblem
from importer.engine.mysql.connection import Connection, fetch_all
from importer.engine.mysql.server_info import Server

_TOO_LARGE = ER.WARN_ALLOWED_PACKET_OVERFLOWED


@dataclass(frozen=True)
class SeenFile:
    """What the server sees of a file: its bytes, and their SHA-256, hexadecimal.

    None and "" if it is larger than the server shows. `on_this_machine`: the server has this machine's host name, and
    is reached without a network.
    """

    size: int | None
    digest: str
    on_this_machine: bool


def require_allowed(server: Server, path: str) -> None:
    """Raise TargetProblem if the server loads no file of this path, whether it exists or not.

    It loads from secure_file_priv and below, or from anywhere if that is empty (manual, secure_file_priv).
    """
    if not PurePosixPath(path).is_absolute():
        raise TargetProblem(
            f"{path} is not an absolute path on the database's host.",
            advice="Give the path from the root, such as /var/lib/mysql-files/orders.csv.",
        )
    allowed = server.variables.get("secure_file_priv", "")
    if allowed and not _is_below(path, allowed, here=server.local):
        raise TargetProblem(
            f"The server loads files from {allowed} only (secure_file_priv).",
            where=path,
            advice="Put the file there, or load it from this machine.",
        )


def look_at(connection: Connection, server: Server, path: str) -> SeenFile:
    """What the server sees of the file. Raises TargetProblem if it sees none, or may not read it."""
    ((size, digest),) = fetch_all(connection, "SELECT LENGTH(LOAD_FILE(%s)), SHA2(LOAD_FILE(%s), 256)", (path, path))
    if size is None and _TOO_LARGE not in [code for _, code, _ in fetch_all(connection, "SHOW WARNINGS")]:
        raise TargetProblem(
            "The server does not find the file, or may not read it.",
            where=f"{path} on the database's host",
            advice="Check the path there; the server's account must get into the folders above it, and be allowed to"
            " read the file. MariaDB takes only files that everybody may read (chmod o+r).",
        )
    ((host,),) = fetch_all(connection, "SELECT @@hostname")
    return SeenFile(size, _text(digest), server.local and _text(host) == socket.gethostname())


def require_same(connection: Connection, path: str, digest: str) -> None:
    """Raise SourceChanged if the file no longer has these bytes (SHA-256, hexadecimal) for the server."""
    ((now,),) = fetch_all(connection, "SELECT SHA2(LOAD_FILE(%s), 256)", (path,))
    if _text(now) != digest:
        raise SourceChanged(
            "The file on the database's host is not the one that was planned.",
            where=path,
            advice="Leave the file alone while it loads; import it again as a new file.",
        )


def read_part(connection: Connection, path: str, offset: int, length: int) -> bytes:
    """Bytes of the file from `offset` on, `length` of them or up to the end. The server reads all of it each time."""
    ((part,),) = fetch_all(connection, "SELECT SUBSTRING(LOAD_FILE(%s), %s, %s)", (path, offset + 1, length))
    if part is None:
        raise SourceChanged(
            "The server no longer finds the file, or it has grown.", where=path, advice="Import it once it is complete."
        )
    return bytes(part)


def _is_below(path: str, folder: str, *, here: bool) -> bool:
    """Whether the path lies in the folder: as it is written, or on this machine by its links."""
    if PurePosixPath(path).is_relative_to(folder):
        return True
    return here and Path(path).resolve().is_relative_to(Path(folder).resolve())


def _text(value: str | bytes | None) -> str:
    return value.decode() if isinstance(value, bytes) else value or ""
