"""Files of a connection that a person chooses: what lies in a folder of it, the first lines of a file, the file itself.

The command, the pages and the API use these functions. Each asks the policy: the acting person needs the level LOAD on
the connection.
"""

import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from importer.access.acting import acting_user
from importer.access.policy import require, seen
from importer.connections import operations
from importer.connections.connection_kinds import kind_of
from importer.connections.listed_files import ListedFile
from importer.engine.errors import Problem, SourceProblem
from importer.engine.source import encodings
from importer.engine.source.archives import PACKING_NAMES, detect_packing
from importer.engine.source.encodings import UTF8
from importer.models import Level, SourceConnection, SourceFile
from importer.sources.limits import refuse_none, refuse_too_many, require_short_wait
from importer.sources.several import as_one

HEAD_BYTES = 16 * 1024
HEAD_LINES = 10
LONGEST_LINE = 300  # characters of a line that are shown


@dataclass(frozen=True)
class Listing:
    """What lies in a folder of a connection, "" for its base: the names of its folders, and the files that match."""

    folder: str
    folders: tuple[str, ...]
    files: tuple[ListedFile, ...]


@dataclass(frozen=True)
class FirstLines:
    """The first lines of a file as text, or why there is none to show. `more`: there are further lines."""

    lines: tuple[str, ...] = ()
    more: bool = False
    why_none: str = ""


def named_connection(name: str) -> SourceConnection:
    """The connection of this name. Raises Problem if the acting person sees none, Forbidden without the level LOAD."""
    known = seen(SourceConnection.objects.all())
    found = known.filter(name=name).first()
    if found is None:
        names = ", ".join(known.order_by("name").values_list("name", flat=True)) or "none"
        raise Problem(f"There is no connection named {name}.", advice=f"Known: {names}.")
    require(Level.LOAD, found)
    return found


def browse(connection: SourceConnection, folder: str = "", pattern: str = "*") -> Listing:
    """What lies in a folder of the connection: its folders, and the files that a pattern for their names matches.

    Raises Problem as connections.find() does, Forbidden.
    """
    require(Level.LOAD, connection)
    if "/" in pattern:
        raise SourceProblem("The pattern has a / in it.", pattern, "Choose the folder, and filter the names in it.")
    if not kind_of(connection).lists and glob.has_magic(pattern):
        return Listing(folder, (), ())
    files = _in_folder(connection, operations.folder_below(folder) if folder else "", pattern)
    return Listing(folder, tuple(operations.folders(connection, folder)), tuple(files))


def first_lines(connection: SourceConnection, name: str) -> FirstLines:
    """The first lines of a file of the connection; only its first bytes are read. Raises Problem as browse() does."""
    require(Level.LOAD, connection)
    (file,) = _listed(connection, [name])
    data = operations.head(connection, file, HEAD_BYTES)
    if packing := detect_packing(data):
        return FirstLines(why_none=f"Packed with {PACKING_NAMES[packing]}: the rows are shown once it is chosen.")
    if b"\0" in data:
        return FirstLines(why_none="It is no text in UTF-8: its rows are shown once it is chosen.")
    lines = encodings.readable_text(data, UTF8).splitlines()
    shown = tuple(each if len(each) <= LONGEST_LINE else f"{each[:LONGEST_LINE]}…" for each in lines[:HEAD_LINES])
    return FirstLines(shown, len(lines) > HEAD_LINES or len(data) == HEAD_BYTES)


def choose(connection: SourceConnection, names: Sequence[str]) -> SourceFile:
    """One source of the chosen files, for a request that somebody waits for.

    Raises SourceProblem, before anything is copied, if the copy would take too long.
    """
    require(Level.LOAD, connection)
    files = _listed(connection, names)
    if not kind_of(connection).in_place:
        sizes = [each.size for each in files if each.size is not None]
        require_short_wait(sum(sizes) if len(sizes) == len(files) else None, str(connection))
    return as_one([operations.fetch(connection, each, acting_user()) for each in files])


def fetch_files(connection: SourceConnection, pattern: str) -> list[SourceFile]:
    """The connection's files that a path or a pattern names, as sources, sorted by name.

    Raises SourceProblem if there is none, or if there are too many, before anything is fetched.
    """
    found = _find(connection, pattern)
    where = f"{connection.base.rstrip('/')}/{pattern}"
    refuse_none(len(found), where, "Check the name. * and ? stand for characters of one name, never for /.")
    refuse_too_many(len(found), where)
    return [operations.fetch(connection, each, acting_user()) for each in found]


def _find(connection: SourceConnection, pattern: str) -> list[ListedFile]:
    return operations.find_settled(connection, pattern, timezone.now(), timezone.get_current_timezone())


def _in_folder(connection: SourceConnection, folder: str, pattern: str = "*") -> list[ListedFile]:
    """The files of one folder, "" for the base, that a pattern for their names matches. Its name has no dates."""
    path = re.sub("[{}]", "?", glob.escape(folder))
    found = _find(connection, f"{path}/{pattern}" if folder else pattern)
    return [each for each in found if each.name.rpartition("/")[0] == folder]


def _listed(connection: SourceConnection, names: Sequence[str]) -> list[ListedFile]:
    """The files of these names as they are now, in this order. Raises SourceProblem for one that is gone."""
    refuse_none(len(names), str(connection), "Choose a file.")
    refuse_too_many(len(names), str(connection))
    if kind_of(connection).lists:
        listed = [_in_folder(connection, folder) for folder in {each.rpartition("/")[0] for each in names}]
    else:
        listed = [_find(connection, each) for each in names]
    found = {each.name: each for files in listed for each in files}
    for name in names:
        if name not in found:
            where = f"{connection.base.rstrip('/')}/{name}"
            raise SourceProblem(f"{name} is not there any more.", where, "Look at the folder again.")
    return [found[name] for name in names]
