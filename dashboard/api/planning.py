"""From the body of a request to an import that can be started: finds file and target, and answers questions."""

import glob
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse

from dashboard.access import problems
from dashboard.api.wanted import ImportIn, options_of
from importer.access import limits
from importer.access.policy import seen
from importer.connections.by_hand.addresses import choose_address
from importer.connections.by_hand.connection_files import browse, choose, named_connection
from importer.connections.by_hand.members import copy_members
from importer.connections.by_hand.resolve import forget_unused
from importer.connections.by_hand.server_file import find_on_server
from importer.engine.errors import Problem, SourceProblem
from importer.engine.mapping.columns import FieldOverride
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading
from importer.engine.reading.stated import Stated
from importer.engine.schema.added_columns import as_requested
from importer.engine.source.decisions import Answer, Decision
from importer.jobs.report import report_of_problem
from importer.models import MappingPreset, SourceConnection, SourceFile, Target
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, NewTableRequest, PreparedImport, prepare, require_load
from importer.preparation.whole_file import AsRead, read_alone, read_for_table
from importer.sources import uploads
from importer.sources.limits import refuse_none
from importer.sources.several import as_one

Person = User | AnonymousUser
Read = TypeVar("Read")
Wish = TypeVar("Wish")
NO_OPTIONS: Mapping[str, Any] = {}


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


# What a preset decides, by the names in the request; of the format all but presets.statable().
OF_A_PRESET = ("match", "null", "columns", "generated", "add_columns", "ignore_fields", "new_table")


def as_read(wanted: ImportIn, person: Person) -> AsRead:
    """The whole file of a request, as it is read for its table, or for a new one. Raises Problem as prepared() does."""
    if wanted.target or wanted.preset:
        # Without the checks of values nothing would be found.
        made = prepared(wanted, person, checks=True)
        with _naming(wanted, made.source):
            return read_for_table(made)
    if wanted.table and options_of(wanted.options.dict()).mode != "create":
        raise Problem("A table is named, and no target.", "body", "Name both; or for a new table the mode create.")
    source = _source(wanted, person, None)
    with _naming(wanted, source):
        return _with_answers(partial(read_alone, source, wanted.table), _request(wanted), wanted.answers, _answered)


def prepared(wanted: ImportIn, person: Person, **options: Any) -> PreparedImport:
    """The import that a request asks for. `options`: those that hold in any case.

    Raises NeedsAnswer for a question without an answer, and other Problems.
    """
    preset = presets.by_name(wanted.preset) if wanted.preset else None
    target, table = _place(wanted, preset)
    require_load(target, table)
    source = _source(wanted, person, target)
    with _naming(wanted, source):
        if preset:
            return _by_preset(wanted, preset, source, target, table, options)
        plan = partial(prepare, source, target, table)
        return _with_answers(plan, _request(wanted, options), wanted.answers, _answered)


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


def _place(wanted: ImportIn, preset: MappingPreset | None) -> tuple[Target, str]:
    if not preset and not (wanted.target and wanted.table):
        raise Problem("Target or table is missing.", "body", "Name both, or a preset that knows them.")
    target = _target_named(wanted.target) if wanted.target or not preset else preset.target
    return target, wanted.table or (preset.table if preset else "")


def _target_named(name: str) -> Target:
    """The target of this name among those that the acting person may see. Raises Problem, with their names."""
    if target := seen(Target.objects.filter(name=name)).first():
        return target
    known = ", ".join(seen(Target.objects.registered().order_by("name")).values_list("name", flat=True)[:20]) or "none"
    raise Problem(f"There is no target named {name}.", advice=f"Known: {known}.")


def _request(wanted: ImportIn, options: Mapping[str, Any] = NO_OPTIONS) -> ImportRequest:
    return ImportRequest(
        options=options_of({**wanted.options.dict(), **options}),
        known_format=wanted.format.known(),
        match=wanted.match,
        null_markers=wanted.null,
        overrides=[each.override() for each in wanted.columns],
        fillings=wanted.fillings(),
        added_columns=as_requested(wanted.add_columns.items()),
        new_table=wanted.new_table.request(),
        stated=Stated(ignore_fields=wanted.ignore_fields),
        accept_guesses=wanted.accept_guesses,
    )


def _by_preset(
    wanted: ImportIn,
    preset: MappingPreset,
    source: SourceFile,
    target: Target,
    table: str,
    options: Mapping[str, Any],
) -> PreparedImport:
    """The import with the preset's settings; options, and what its files may differ in, may be given with it."""
    refused = [name for name in OF_A_PRESET if name in wanted.model_fields_set]
    refused += [f"format.{name}" for name in sorted(wanted.format.model_fields_set - presets.statable(preset))]
    if refused:
        raise Problem(
            f"{refused[0]} cannot be combined with a preset, which decides that already.",
            where=f"body.{refused[0]}",
            advice="Leave it out, or import without the preset.",
        )
    of_this_file: Mapping[str, Any] = wanted.format.known()
    chosen = options_of({**wanted.options.dict(), **options}, preset.options)

    def plan(stated: Mapping[str, Any]) -> PreparedImport:
        return presets.prepare_with(preset, source, target, table, chosen, stated, accept_guesses=wanted.accept_guesses)

    def state(stated: Mapping[str, Any], _reading: Reading, _guess: Decision, answer: Answer) -> Mapping[str, Any]:
        return {**stated, **dict(answer.states)}

    return _with_answers(plan, of_this_file, wanted.answers, state)


def _with_answers(
    read: Callable[[Wish], Read],
    wish: Wish,
    answers: Mapping[str, str],
    answered: Callable[[Wish, Reading, Decision, Answer], Wish],
) -> Read:
    """Plan or read, and answer the questions that come up, until there are none, or one without an answer.

    `answered` makes the wish that has an answer, too.
    """
    left = dict(answers)
    while True:
        try:
            return read(wish)
        except NeedsAnswer as asked:
            given = [(each, left.pop(each.key)) for each in asked.reading.guesses if each.key in left]
            if not given:
                raise
            for guess, label in given:
                wish = answered(wish, asked.reading, guess, _answer(guess, label))


def _answer(guess: Decision, label: str) -> Answer:
    """The answer of this label. Raises Problem, with the labels that there are."""
    for each in guess.answers:
        if each.label == label:
            return each
    known = "; ".join(each.label for each in guess.answers)
    raise Problem(f"“{label[:80]}” is no answer to {guess.key}.", f"body.answers.{guess.key}", f"Answers: {known}.")


def _answered(request: ImportRequest, reading: Reading, guess: Decision, answer: Answer) -> ImportRequest:
    """The request, with what the answer states."""
    stated = request.stated or Stated()
    request = replace(request, stated=replace(stated, keys=stated.keys | {guess.key}))
    states = dict(answer.states)
    if guess.field:
        return _answered_column(request, reading, guess.field, states)
    match = states.pop("match", request.match)
    return replace(request, match=match, known_format={**request.known_format, **states})


def _answered_column(request: ImportRequest, reading: Reading, field: str, states: dict[str, Any]) -> ImportRequest:
    """The request, with what an answer states about one field: its column, transforms, date format, or new type."""
    earlier = next((each for each in request.overrides if each.field == field), None)
    read = next((each.column for each in reading.columns if each.field == field), "")
    override = earlier or FieldOverride(field, read)
    if "type" in states:
        new = request.new_table or NewTableRequest()
        request = replace(request, new_table=replace(new, types={**new.types, read: states.pop("type")}))
    override = replace(override, **states)
    others = [each for each in request.overrides if each is not earlier]
    return replace(request, overrides=[*others, override])
