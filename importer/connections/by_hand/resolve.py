"""Turns the names of an import's files into one source.

Most are files of this machine, so the modules of the others are imported where they are used.
"""

from collections.abc import Iterator, Sequence

from importer.connections.by_hand.schemes import is_address
from importer.models import SourceFile
from importer.sources import in_place, uploads
from importer.sources.limits import refuse_too_many
from importer.sources.local_files import local_files
from importer.sources.several import as_one

STANDARD_INPUT = "-"


def resolve_sources(
    names: Sequence[str], connection: str = "", *, private_allowed: bool = False, all_members: bool = False
) -> SourceFile:
    """One source for the files that a command names: paths, patterns, addresses, `-`; with a connection, its files.

    Of several files it is one that an import reads as one. `private_allowed`: the hosts of addresses may have private
    ones. `all_members`: each file is an archive, of which all files are read. Raises Problem with the name at fault.
    Copies that were made until then are removed.
    """
    files: list[SourceFile] = []
    archives: list[SourceFile] = []
    try:
        for name in names:
            found = _with_connection(connection, name) if connection else _sources(name, private_allowed)
            for each in found:
                (archives if all_members else files).append(each)
                files += _members(each) if all_members else ()
                refuse_too_many(len(files), name)
        forget_unused(archives)
        return as_one(files)
    except BaseException:
        forget_unused([*files, *archives])
        raise


def refuse_missing(names: Sequence[str]) -> None:
    """Raise SourceProblem for a file of this machine that is not there, or that is no readable regular file.

    It costs nothing, so it comes before a password is asked for and a server is reached.
    """
    for name in names:
        if name != STANDARD_INPUT and not is_address(name):
            for path in local_files(name):
                in_place.status_of(path.absolute())


def _with_connection(connection: str, name: str) -> list[SourceFile]:
    from importer.connections.by_hand.connection_files import fetch_files, named_connection

    return fetch_files(named_connection(connection), name)


def _members(archive: SourceFile) -> list[SourceFile]:
    from importer.connections.by_hand.members import copy_members

    return copy_members(archive)


def _sources(name: str, private_allowed: bool) -> Iterator[SourceFile]:
    if name == STANDARD_INPUT:
        from importer.connections.by_hand.standard_input import standard_input

        yield standard_input()
        return
    if is_address(name):
        from importer.connections.by_hand.addresses import fetch_address

        yield from fetch_address(name, private_allowed=private_allowed)
        return
    for path in local_files(name):
        yield uploads.register(path)


def forget_unused(files: Sequence[SourceFile]) -> None:
    """Remove the copies among the files that no import reads: standard input, and files of an address.

    Everything else may be open on somebody's page, and goes by itself when it is not used (importer/retention).
    """
    for each in files:
        copies = [part for part in each.files if part.owned and part.connection_id is None]
        if each.jobs.exists():
            continue
        if each.file_count > 1 and copies:
            each.delete()
        for part in copies:
            if not (part.jobs.exists() or part.member_of.exists()):
                uploads.discard(part)
