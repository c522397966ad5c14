"""Turns the names of an import's files into one source."""

from collections.abc import Iterator, Sequence

from importer.connections.by_hand.connection_files import fetch_files, named_connection
from importer.connections.by_hand.limits import refuse_too_many
from importer.connections.by_hand.local_files import local_files
from importer.connections.by_hand.standard_input import standard_input
from importer.engine.errors import SourceProblem
from importer.models import SourceFile
from importer.sources import uploads

STANDARD_INPUT = "-"


def resolve_sources(names: Sequence[str], connection: str = "") -> SourceFile:
    """One source for the files that a command names: paths, patterns, `-`; with a connection, its files.

    Raises Problem with the name at fault. Copies that were made until then are removed.
    """
    files: list[SourceFile] = []
    try:
        for name in names:
            files += _with_connection(connection, name) if connection else _sources(name)
            refuse_too_many(len(files), name)
        return _as_one(files)
    except BaseException:
        forget_unused(files)
        raise


def _with_connection(connection: str, name: str) -> list[SourceFile]:
    return fetch_files(named_connection(connection), name)


def _sources(name: str) -> Iterator[SourceFile]:
    if name == STANDARD_INPUT:
        yield standard_input()
        return
    for path in local_files(name):
        yield uploads.register(path)


def _as_one(files: Sequence[SourceFile]) -> SourceFile:
    if len(files) != 1:
        raise SourceProblem(
            "One import takes one file.", ", ".join(each.name for each in files), "Import the files one after another."
        )
    return files[0]


def forget_unused(files: Sequence[SourceFile]) -> None:
    """Remove the copies among the files that no import reads: standard input, and files of an address."""
    for each in files:
        if each.owned and each.connection_id is None and not each.jobs.exists():
            uploads.discard(each)
