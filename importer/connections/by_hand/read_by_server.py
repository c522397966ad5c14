"""Finds out whether the target's server can read the file of an import itself, and whether it is the same file."""

import hashlib
from pathlib import Path

from importer.connections.source_location import location_of
from importer.engine.errors import SourceProblem, TargetProblem
from importer.engine.mysql import server_files
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.server_info import Server
from importer.engine.plan.methods import AUTO, FROM_FILE
from importer.engine.plan.options import Options
from importer.engine.plan.server_file import ServerFile
from importer.engine.source.byte_source import SourceLocation, open_source, size_of
from importer.engine.source.decoding import needs_copy
from importer.engine.source.profile.profile import Profile
from importer.engine.source.records.blocks import pieces, read_exactly
from importer.models import SourceFile
from importer.sources.store.stored_file import StoredFile

SENT = "Let the rows be sent: choose another method."


def find_server_file(
    connection: Connection, server: Server, source: SourceFile, profile: Profile, options: Options
) -> ServerFile | None:
    """The file as the server is to read it itself; None if the rows are sent.

    A file that is named by its path on the database's host is read there, unless a method is chosen that sends it.
    Raises SourceProblem for a file that no server reads as it is, and TargetProblem if this one does not see the same
    bytes, or if that cannot be determined.
    """
    if options.method != FROM_FILE.name and not (options.method == AUTO and source.server_path):
        return None
    FROM_FILE.require(server)
    here = _plain_file(source, profile)
    path = source.server_path or str(here)
    server_files.require_allowed(server, path)
    seen = server_files.look_at(connection, server, path)
    if seen.size is not None:
        _require_same(here, path, seen)
    elif not (seen.on_this_machine and Path(path) == here) and options.verify != "full":
        packet = server.number("max_allowed_packet") or 0
        raise TargetProblem(
            "It cannot be determined whether the server sees the same file: it is larger than max_allowed_packet"
            f" ({packet:,} bytes), and what is read here is a copy, or on another machine than the server.",
            where=path,
            advice="SET GLOBAL max_allowed_packet to more than the file's size, up to 1 GiB; or compare every value"
            " with verify full; or let the rows be sent by another method.",
            option="method",
        )
    return ServerFile(path, _skipped_lines(here, profile), seen.digest)


def _plain_file(source: SourceFile, profile: Profile) -> Path | StoredFile:
    """The file here, or our copy of it in the store, if the server can read its bytes as they are."""
    location = location_of(source)
    if source.file_count > 1:
        raise SourceProblem("The server reads one file itself, and these are several.", source.name, SENT)
    if not isinstance(location, Path) and not (isinstance(location, StoredFile) and source.server_path):
        raise SourceProblem("The file is still arriving, or lies elsewhere: no server sees it.", source.name, SENT)
    if needs_copy(profile.packing, profile.dialect):
        raise SourceProblem(
            "The file is packed, or of another format or encoding: no server reads it itself.", source.name, SENT
        )
    return location


def _require_same(here: SourceLocation, path: str, seen: server_files.SeenFile) -> None:
    """Raise TargetProblem if the server sees other bytes than this process."""
    with open_source(here) as opened:
        size, digest = size_of(opened), hashlib.sha256()
        for piece in pieces(opened, 0, size if size == seen.size else 0):
            digest.update(piece)
    if size != seen.size or digest.hexdigest() != seen.digest:
        raise TargetProblem(
            f"The server sees another file there: it has {seen.size:,} bytes, the one here {size:,}.",
            where=path,
            advice="The server runs elsewhere, or the file is being written. Name the file by its path on the"
            " database's host, or let the rows be sent by another method.",
            option="method",
        )


def _skipped_lines(here: SourceLocation, profile: Profile) -> int:
    """How many line ends the server has to pass before the first record."""
    with open_source(here) as opened:
        before = read_exactly(opened, profile.data_offset, 0)
    line_end = profile.dialect.line_end.encode()
    if before and not before.endswith(line_end):
        raise SourceProblem(
            "The first row begins behind a byte order mark, which the server would take for a part of it.",
            str(here),
            SENT,
        )
    return before.count(line_end)
