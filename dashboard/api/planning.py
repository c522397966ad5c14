"""From the body of a request to an import that can be started: finds file and target, and answers questions."""

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse

from dashboard.access import problems
from dashboard.api.wanted import ImportIn
from importer.access import limits
from importer.access.policy import seen
from importer.connections.by_hand.addresses import choose_address
from importer.connections.by_hand.connection_files import browse, choose, named_connection
from importer.connections.by_hand.members import copy_members
from importer.connections.by_hand.resolve import forget_unused
from importer.connections.by_hand.server_file import find_on_server
from importer.engine.errors import Problem, SourceProblem
from importer.jobs.report import report_of_problem
from importer.models import ImportJob, MappingPreset, SourceConnection, SourceFile, Target
from importer.preparation import like, presets
from importer.preparation.prepare import PreparedImport, prepare, require_load
from importer.preparation.whole_file import AsRead, read_alone, read_for_table
from importer.sources import uploads
from importer.sources.limits import refuse_none
from importer.sources.several import as_one

Person = User | AnonymousUser


class NotBegun(Exception):
    """An import did not begin because of a problem. The answer has the problem and the import's report."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


@contextmanager
def beginning() -> Iterator[None]:
    """Raise each Problem in the block as NotBegun."""
    try:
        yield
    except Problem as problem:
        raise NotBegun(problem) from problem


def tell(_request: HttpRequest, error: Any) -> HttpResponse:
    """The answer about an import that did not begin."""
    return problems.answer(error.problem, report=report_of_problem(error.problem))


def as_read(wanted: ImportIn, person: Person) -> AsRead:
    """The whole file of a request, as it is read for its table, or for a new one. Raises Problem as prepared() does."""
    if wanted.target or wanted.preset or wanted.like:
        made = prepared(wanted, person)
        with _naming(wanted, made.source):
            return read_for_table(made)
    if wanted.table and wanted.options.dict().get("mode") != "create":
        raise Problem("A table is named, and no target.", "body", "Name both; or for a new table the mode create.")
    source = _source(wanted, person, None)
    with _naming(wanted, source):
        return read_alone(source, wanted.wish())


def prepared(wanted: ImportIn, person: Person) -> PreparedImport:
    """The import that a request asks for.

    Raises NeedsAnswer for a question without an answer, and other Problems.
    """
    wish = wanted.wish()
    preset = presets.by_name(wanted.preset) if wanted.preset else None
    request = like.request_of(wish)
    target, table = _place(wanted, preset or request.before)
    require_load(target, table)
    source = _source(wanted, person, target)
    with _naming(wanted, source):
        if preset is None:
            return prepare(source, target, table, request, answers=wanted.answers)
        if refused := presets.decided(preset, wish):
            raise Problem(
                f"{refused[0]} cannot be combined with a preset, which decides that already.",
                where=f"body.{refused[0]}",
                advice="Leave it out, or import without the preset.",
            )
        return presets.prepare_with(preset, source, target, table, wish)


@contextmanager
def only_looking(wanted: ImportIn, source: SourceFile) -> Iterator[None]:
    """Afterwards remove the copies that were made for this request, unless an import reads them."""
    try:
        yield
    finally:
        _forget_copies(wanted, source)


@contextmanager
def _naming(wanted: ImportIn, source: SourceFile) -> Iterator[None]:
    """Give each Problem in the block the file's name. The copies that were made for the request are then removed."""
    try:
        yield
    except Problem as problem:
        named = uploads.with_file_name(problem, source)
        _forget_copies(wanted, source)
        raise named from problem


def _forget_copies(wanted: ImportIn, source: SourceFile) -> None:
    # Each request makes new copies of an address and of an archive's files. A connection's file is copied once, and
    # retention deletes the copy when it is not used.
    if wanted.address or wanted.all_members:
        forget_unused([source])


def _source(wanted: ImportIn, person: Person, target: Target | None) -> SourceFile:
    """The file, or several as one: uploads, files of a connection, or one on the target's host.

    Raises Problem, TooOften for what may make copies.
    """
    keys = [*([wanted.file] if wanted.file else []), *wanted.files]
    if sum(map(bool, (keys, wanted.connection, wanted.address, wanted.server_file))) != 1:
        what = "The request names no file, or two kinds."
        raise SourceProblem(what, "body", "Name file, files, connection, address, or server_file.")
    if wanted.server_file:
        if target is None:
            raise Problem("A file on a database's host is named, and no target.", "body", "Name target and table.")
        return find_on_server(target, wanted.server_file)
    if wanted.address or wanted.connection or wanted.all_members:
        limits.use(limits.UPLOADS)
    chosen = _chosen(wanted, keys, person)
    return _members(wanted, chosen) if wanted.all_members else chosen


def _members(wanted: ImportIn, chosen: SourceFile) -> SourceFile:
    """All files of the chosen archives as one. If that fails, the copies that were made until then are removed."""
    copies: list[SourceFile] = []
    try:
        for archive in chosen.files:
            copies += copy_members(archive, somebody_waits=True)
        return as_one(copies)
    except BaseException:
        forget_unused(copies)
        raise
    finally:
        if wanted.address:
            forget_unused([chosen])


def _chosen(wanted: ImportIn, keys: list[UUID], person: Person) -> SourceFile:
    if wanted.address:
        return choose_address(wanted.address)
    if wanted.connection:
        if not wanted.paths:
            raise SourceProblem("No file of the connection is named.", "body.paths", "Name one, or a pattern.")
        connection = named_connection(wanted.connection)
        return choose(connection, [name for path in wanted.paths for name in _names(connection, path)])
    return as_one([_upload(key, person) for key in keys])


def _names(connection: SourceConnection, path: str) -> list[str]:
    """The names of the files that a path or a pattern in its last part means. Raises SourceProblem for none."""
    if not glob.has_magic(path):
        return [path]
    folder, _, pattern = path.rpartition("/")
    found = [each.name for each in browse(connection, folder, pattern).files]
    refuse_none(len(found), path, "Check the pattern: GET connections/{id}/files lists what there is.")
    return found


def _upload(key: UUID, person: Person) -> SourceFile:
    """An upload, complete or as far as it has arrived. Raises SourceProblem."""
    source = uploads.importable_by(person).filter(key=key).first()
    if source is None:
        raise SourceProblem(f"There is no file {key}.", "body.file", "Upload it: POST /api/v1/uploads.")
    if source.arriving and source.received == source.size:
        uploads.finish(source)
    if not source.received:
        raise SourceProblem("Nothing of the file has arrived.", source.name, "Send its first part.")
    return source


def _place(wanted: ImportIn, before: MappingPreset | ImportJob | None) -> tuple[Target, str]:
    if not before and not (wanted.target and wanted.table):
        raise Problem("Target or table is missing.", "body", "Name both, or a preset or an import that knows them.")
    target = target_named(wanted.target) if wanted.target or not before else before.target
    return target, wanted.table or (before.table if before else "")


def target_named(name: str) -> Target:
    """The target of this name among those that the acting person may see. Raises Problem, with their names."""
    if target := seen(Target.objects.filter(name=name)).first():
        return target
    known = ", ".join(seen(Target.objects.registered().order_by("name")).values_list("name", flat=True)[:20]) or "none"
    raise Problem(f"There is no target named {name}.", advice=f"Known: {known}.")
