"""Finds the files of a connection by a pattern, fetches them, and keeps, moves or deletes them after their import."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from importer.connections.connection_kinds import kind_of, open_location
from importer.connections.file_pattern import fill_in_dates
from importer.connections.listed_files import ListedFile, refuse_long_name
from importer.connections.protocol import RemoteLocation
from importer.connections.protocols import host_key
from importer.engine.errors import NoConnection, Problem, SourceProblem
from importer.engine.mysql.addresses import AddressRefused
from importer.engine.mysql.sign_in import reasons
from importer.engine.mysql.waits import ASKING_SECONDS, within
from importer.engine.preflight.finding import Finding
from importer.models import Schedule, SourceConnection, SourceFile


def find(
    connection: SourceConnection, pattern: str, moment: datetime, zone: tzinfo, subfolders: bool = False
) -> list[ListedFile]:
    """The connection's files that match the pattern (file_pattern.py) at a moment, sorted by name; may be empty.

    Files that are being written are among them, as not `settled`.

    Raises Problem for an invalid pattern, a location that cannot or must not be reached, or too many files;
    `retryable` if a later attempt may succeed.
    """
    location, wanted = _location(connection), fill_in_dates(pattern, moment, zone, subfolders)
    with reasons_hidden():
        return location.find(wanted)


def find_settled(
    connection: SourceConnection, pattern: str, moment: datetime, zone: tzinfo, subfolders: bool = False
) -> list[ListedFile]:
    """As find(), without files that are being written: for people, who do not watch a file until it is complete."""
    return [each for each in find(connection, pattern, moment, zone, subfolders) if each.settled]


def folders(connection: SourceConnection, folder: str) -> list[str]:
    """The names of the folders in a folder below the connection's base, "" for the base. Raises Problem as find()."""
    parts = tuple(folder_below(folder).split("/")) if folder else ()
    with reasons_hidden():
        return _location(connection).folders(parts)


def head(connection: SourceConnection, file: ListedFile, size: int) -> bytes:
    """The first `size` bytes of a listed file, without a copy. Raises Problem as find() and fetch() do."""
    with reasons_hidden():
        return _location(connection).head(file, size)


@contextmanager
def reasons_hidden() -> Iterator[None]:
    """Hide from people who are no admins why there is no connection; each reason takes the same time."""
    began = time.monotonic()
    try:
        yield
    except (NoConnection, AddressRefused) as problem:
        if reasons.shows_reasons():
            raise
        reasons.wait_alike(began)
        advice = reasons.WHO_SEES_PLACE_REASONS
        raise NoConnection(reasons.PLACE_REASON_HIDDEN, advice=advice, retryable=problem.retryable) from problem


def seen(connection: SourceConnection, name: str) -> ListedFile | None:
    """The file of this name as it is now; None if it is not there. Raises Problem as find() does."""
    with reasons_hidden():
        found: ListedFile | None = _location(connection).seen(name)
        return found


def fetch(connection: SourceConnection, file: ListedFile, user: User | None = None) -> SourceFile:
    """A READY source of a listed file: a local copy, or a reference to the remote file if ranges of it can be read.

    Two calls for one version of a file return one source. Raises Problem; SourceChanged if the file has changed since
    it was listed, DiskFull.
    """
    return _location(connection).fetch(file, user)


def afterwards(connection: SourceConnection, file: ListedFile, what: str, move_to: str = "") -> None:
    """Keep, move (into the folder `move_to` below the base) or delete an imported file. Idempotent.

    Raises SourceProblem if the target name is taken, or if the kind does not allow it; SourceChanged if the file has
    changed since it was listed. The file then stays unchanged.
    """
    kind = kind_of(connection)
    moves, deletes = what == Schedule.Afterwards.MOVE, what == Schedule.Afterwards.DELETE
    if (moves and not kind.moves) or (deletes and not kind.deletes):
        where = f"{connection.base.rstrip('/')}/{file.name}"
        raise SourceProblem("Files of that place can only be kept where they are.", where, "Keep it.")
    if moves:
        folder = folder_below(move_to)
        # Imports that read the file without a copy read it at its new path, so that they can be retried.
        path = f"{connection.base}/{folder}/{file.name.rpartition('/')[2]}"
        refuse_long_name(path)
        etag = _location(connection).move(file, folder)
        read_there = connection.files.filter(owned=False, found_name=file.name, found_etag=file.etag)
        read_there.update(path=path, found_etag=etag)
    elif deletes:
        _location(connection).delete(file)


def folder_below(text: str) -> str:
    """The path of a folder below a connection's base. Raises SourceProblem if it would leave the base."""
    folder = text.strip("/")
    if "\\" in text or "\0" in text or any(part.strip() in ("", ".", "..") for part in folder.split("/")):
        raise SourceProblem("That is no folder below the connection's base.", text, "Write one such as loaded/2026.")
    return folder


def folder_at(text: str, moment: datetime, zone: tzinfo) -> str:
    """The path of a folder below a connection's base, with its dates filled in. Raises SourceProblem as above."""
    return folder_below(fill_in_dates(folder_below(text), moment, zone).text)


def check(connection: SourceConnection) -> list[dict[str, Any]]:
    """Check the connection, store the findings on it, and return them: Finding as JSON."""
    began = time.monotonic()
    with within(ASKING_SECONDS):
        findings = [finding.as_json() for finding in _findings(connection)]
    if not kind_of(connection).local and any(each["status"] == "fail" for each in findings):
        reasons.wait_alike(began)
    connection.findings, connection.checked_at = findings, timezone.now()
    connection.save(update_fields=["findings", "checked_at"])
    return findings


def confirm_host_key(connection: SourceConnection, shown: str) -> None:
    """Trust the server's key from now on, and repeat the check. Raises SourceProblem if the last check saw another."""
    if not shown or shown != host_key.key_to_confirm(connection):
        raise SourceProblem(
            "That is not the key that the last check was shown.", connection.base, "Check again, and compare the key."
        )
    connection.settings = {**connection.settings, "host_key": shown}
    connection.save(update_fields=["settings"])
    check(connection)


def told_findings(connection: SourceConnection) -> list[dict[str, Any]]:
    """The findings of the last check. Who may not see why a connection failed sees only that it did.

    A host key is shown, because it is to be compared.
    """
    if reasons.shows_reasons() or kind_of(connection).local:
        return list(connection.findings)
    hidden = {"message": reasons.PLACE_REASON_HIDDEN, "fix": reasons.WHO_SEES_PLACE_REASONS}
    keeps = ("ok", "warn")
    return [
        each if each["status"] in keeps or each["name"] == host_key.NAME else {**each, **hidden}
        for each in connection.findings
    ]


def _findings(connection: SourceConnection) -> Iterator[Finding]:
    try:
        yield from _location(connection).check()
    except Problem as problem:
        yield Finding("connection", "fail", f"{problem.where}: {problem.what}".removeprefix(": "), problem.advice)


def _location(connection: SourceConnection) -> RemoteLocation:
    location: RemoteLocation = open_location(connection)
    return location
