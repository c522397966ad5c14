"""Finds files by a pattern in the places of connections, fetches them, and keeps, moves or deletes them afterwards.

connection_kinds.py lists the kinds of places, each declared in kinds/. protocols/ has the code of each (protocol.py has
their methods, file_server.py what SFTP and FTP share), imported with its first use since large libraries are behind it.
"""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from importer.connections.connection_kinds import kind_of, open_location
from importer.connections.file_pattern import fill_in_dates
from importer.connections.listing import ListedFile
from importer.connections.protocol import RemoteLocation
from importer.engine.errors import Problem, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import Schedule, SourceConnection, SourceFile

__all__ = ["ListedFile", "afterwards", "check", "fetch", "find"]


def find(
    connection: SourceConnection, pattern: str, moment: datetime, zone: tzinfo, subfolders: bool = False
) -> list[ListedFile]:
    """The connection's files that match the pattern (pattern.py) at a moment, sorted by name; none is fine.

    Raises Problem for a pattern that cannot be read, a place that cannot or must not be reached, or too many files;
    `retryable` if a later look may well do.
    """
    return _place(connection).find(fill_in_dates(pattern, moment, zone, subfolders))


def fetch(connection: SourceConnection, found: ListedFile, user: User | None = None) -> SourceFile:
    """A source of what was found, READY: fetched, or to be read where it is. The same version gives the same source.

    Raises Problem; SourceChanged if the file is another one by now, DiskFull.
    """
    return _place(connection).fetch(found, user)


def afterwards(connection: SourceConnection, found: ListedFile, what: str, move_to: str = "") -> None:
    """Keep, move (into the folder `move_to` below the base) or delete a file; doing it twice is harmless.

    Raises SourceProblem if there is another file of that name already, or if it is not allowed; SourceChanged if the
    file is no longer the one that was found, which then stays as it is.
    """
    kind = kind_of(connection)
    moves, deletes = what == Schedule.Afterwards.MOVE, what == Schedule.Afterwards.DELETE
    if (moves and not kind.moves) or (deletes and not kind.deletes):
        where = f"{connection.base.rstrip('/')}/{found.name}"
        raise SourceProblem("Files of that place can only be kept where they are.", where, "Keep it.")
    if moves:
        folder = folder_below(move_to)
        _place(connection).move(found, folder)
        # Imports that read it where it was can be looked at, and tried again, where it is.
        path = f"{connection.base}/{folder}/{found.name.rpartition('/')[2]}"
        connection.files.filter(owned=False, found_name=found.name, found_etag=found.etag).update(path=path)
    elif deletes:
        _place(connection).delete(found)


def folder_below(text: str) -> str:
    """A folder below a connection's base. Raises SourceProblem for one that is not."""
    folder = text.strip("/")
    if "\\" in text or "\0" in text or any(part.strip() in ("", ".", "..") for part in folder.split("/")):
        raise SourceProblem("That is no folder below the connection's base.", text, "Write one such as loaded/2026.")
    return folder


def check(connection: SourceConnection) -> list[dict[str, Any]]:
    """Look the place over, keep what was found with the connection, and return it: Finding as JSON."""
    found = [finding.as_json() for finding in _findings(connection)]
    connection.findings, connection.checked_at = found, timezone.now()
    connection.save(update_fields=["findings", "checked_at"])
    return found


def _findings(connection: SourceConnection) -> Iterator[Finding]:
    try:
        yield from _place(connection).check()
    except Problem as problem:
        yield Finding("connection", "fail", f"{problem.where}: {problem.what}".removeprefix(": "), problem.advice)


def _place(connection: SourceConnection) -> RemoteLocation:
    place: RemoteLocation = open_location(connection)
    return place
