"""The preview of one uploaded file before its import: its first rows, their mapping, and the plan."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property

from dashboard.new_import.created_table import CreatedTable, create_table
from dashboard.new_import.form import NewImportForm
from dashboard.new_import.questions import Question, addable_columns, questions
from importer.connections.source_location import location_of
from importer.engine.errors import Problem, SourceProblem, TableExists, TargetUnreachable, UnknownTable
from importer.engine.mapping.columns import ColumnMapping, FieldOverride, GeneratedColumn
from importer.engine.mapping.suggest import map_to_new, suggest_mapping
from importer.engine.mapping.transforms import check_transforms
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.error_messages import explain
from importer.engine.reading.build import make_reading
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.other_file import profile_like
from importer.engine.reading.reading import Reading
from importer.engine.schema.added_columns import with_added
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.table import Table
from importer.engine.schema.type_inference import check_type
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.source.encodings import UTF8
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.target.write_modes import KEEPING
from importer.jobs.rejects import downloads, origin
from importer.jobs.rejects.corrected import HELD, dialect_of_corrected
from importer.models import MappingPreset, SourceFile, Target
from importer.preparation import like, presets
from importer.preparation.loadable_tables import offered_tables, read_loadable, table_name_of
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest, NewTableRequest
from importer.sources import uploads

# A connection to the target, and the table as it was read by it.
Known = tuple[Connection, Table]


@dataclass
class Preview:
    """The preview of one file as far as it can be made: everything up to the first problem."""

    source: SourceFile
    choices: NewImportForm
    dialect: Dialect = RFC4180
    profile: Profile | None = None
    tables: list[str] = field(default_factory=list)
    table: Table | None = None
    # The table that mode create makes, and the choices for it.
    new_table: NewTable | None = None
    new_table_request: NewTableRequest | None = None
    created: CreatedTable | None = None
    # The columns that a table that exists gets, with the types as entered; and the column that it could get for each
    # field without one, by the field's position (from 0).
    added: tuple[NewColumn, ...] = ()
    addable: Mapping[int, NewColumn] = field(default_factory=dict)
    mapping: tuple[ColumnMapping, ...] = ()
    fillings: tuple[GeneratedColumn, ...] = ()
    presets: list[MappingPreset] = field(default_factory=list)
    basis: str = ""
    prepared: PreparedImport | None = None
    reading: Reading | None = None
    problem: Problem | None = None

    def use(self, preset: MappingPreset) -> None:
        """Show this preset, which was just saved from the page, as the chosen one."""
        self.presets = [preset, *self.presets]
        self.choices = NewImportForm({**self.choices.values, "preset": str(preset.pk)})

    @property
    def target(self) -> Target | None:
        return self.choices.target

    @property
    def table_name(self) -> str:
        return self.choices.table or (self.table.name if self.table else "")

    @property
    def creatable(self) -> str:
        """The name of the table that the page offers to create, as there is none for the file; "" if there is one."""
        undecided = self.problem is None or isinstance(self.problem, UnknownTable)
        if self.profile is None or self.target is None or self.table or not undecided:
            return ""
        return self.choices.table or table_name_of(self.source.name)

    @property
    def exists(self) -> bool:
        """Whether the new table cannot be made because there is one of its name."""
        return isinstance(self.problem, TableExists)

    @property
    def unreachable(self) -> bool:
        """Whether the server of the target does not answer: it may at the next try, with the same choices."""
        return isinstance(self.problem, TargetUnreachable)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the mapping, to check before the import."""
        if not self.table:
            return ()
        preset = self.choices.preset
        changed = presets.differences(preset, self.table) if preset else []
        since = f"The table has changed since the preset {preset} was saved: {'; '.join(changed)}."
        return (since,) if changed else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the mapping, without those about the format, and those of which the page makes a button.

        They are about columns that no field goes into, and about the primary key of a new table.
        """
        if not self.reading:
            return ()
        listed = {each.evidence for each in self.reading.decisions if each.name == "unfilled_columns"}
        if self.new_table and self.new_table.proposed_key:
            listed.add(self.new_table.key_note)
        if self.profile:
            listed |= {*self.profile.notes}
        return tuple(each for each in self.reading.notes if each not in listed)

    @property
    def format_questions(self) -> list[Question]:
        """The questions about the file's format."""
        return [each for each in self.questions if not each.about_columns]

    @property
    def column_questions(self) -> list[Question]:
        """The questions about fields and columns."""
        return [each for each in self.questions if each.about_columns]

    @property
    def startable(self) -> PreparedImport | None:
        """The import, if nothing is in its way: no problem, and no question that is neither answered nor accepted."""
        return None if self.open_questions else self.prepared

    @property
    def open_questions(self) -> list[Question]:
        """The questions whose first answers nobody has accepted: also those that came up after others were."""
        return [each for each in self.questions if each.identity not in self.choices.accepted]

    @property
    def acceptance(self) -> str:
        """The value of the button that accepts the first answer to each question of the page."""
        return json.dumps({"accepted": " ".join(each.identity for each in self.questions)})

    @cached_property
    def questions(self) -> list[Question]:
        if not self.profile:
            return []
        # Before a table is chosen, the file's format alone is asked about.
        of_format = (*self.profile.differing, *self.profile.decisions)
        decisions = self.reading.decisions if self.reading else of_format
        return questions(decisions, self.profile.header, self.addable)


def read_preview(source: SourceFile, choices: NewImportForm) -> Preview:
    """Sniff the file, read the table, map and plan; stops at the first Problem, which the preview keeps."""
    choices = choices.with_chosen_preset()
    preview = Preview(source, choices)
    try:
        with ExitStack() as opened:
            known, unreachable = _read_existing_table(preview, opened)
            read_format(preview)
            # Files without a header are of one kind only if they have the same number of fields: no reason to choose.
            if not choices.values and len(preview.presets) == 1 and preview.presets[0].file_dialect.header:
                return read_preview(source, choices.with_preset(preview.presets[0]))
            if unreachable:
                raise unreachable
            if choices.mode == "create" and preview.profile and preview.target:
                _suggest_new_table(preview, preview.profile, preview.target)
            if preview.table and preview.target:
                _map_and_plan(preview, preview.table, preview.target, known)
    except Problem as problem:
        preview.problem = uploads.with_file_name(problem, source)
        if isinstance(problem, SourceProblem) and problem.dialect:
            preview.dialect = problem.dialect
    return preview


def read_format(preview: Preview) -> None:
    """Sniff the file with the table in hand; fields that the user has set are stated."""
    choices, before = preview.choices, _dialect_before(preview.source, preview.choices)
    preview.dialect = before or RFC4180
    known = choices.known_format
    preview.dialect = dialect = preview.dialect.stating(**known)
    expected = expected_columns(preview.table) if preview.table else ()
    file = location_of(preview.source)
    columns = [each.column for each in choices.before.mapping] if choices.before else []
    if choices.again:
        preview.profile = profile_like(file, dialect, columns, {*known, *HELD})
    elif choices.before:
        preview.profile = like.profile_for(choices.before, preview.source, dialect, known)
    else:
        preview.profile = profile_file(file, None, expected, **known)
    preview.dialect = preview.profile.dialect
    preview.presets = presets.for_header(preview.profile.header)


def _dialect_before(source: SourceFile, choices: NewImportForm) -> Dialect | None:
    """The dialect of the preset or the earlier import; None without either.

    A corrected reject file that is certainly UTF-8 is read as that, unless it is the import's own reject file.
    """
    if choices.again:
        place = location_of(source)
        start = like.utf8_start(place)
        encoding = UTF8 if start and not downloads.is_own_start(choices.again, start) else ""
        return dialect_of_corrected(choices.again, place, encoding)
    if choices.edited:
        return like.dialect_for(choices.edited, source)
    return choices.before.file_dialect if choices.before else None


def _read_existing_table(preview: Preview, opened: ExitStack) -> tuple[Known | None, Problem | None]:
    """Read the chosen table, or the one that has the file's name, by a connection that stays open for the plan.

    Returns both, and the problem if that is not possible.
    """
    target = preview.target
    if target is None or preview.choices.mode == "create":
        return None, None
    try:
        connection = opened.enter_context(connect(target.address))
        with explain(str(target.address)):
            preview.tables = offered_tables(connection, target)
            wanted = preview.choices.table or _table_named_as_file(connection, target, preview.source.name)
            schema, _, name = wanted.rpartition(".")
            if not name:
                return None, None
            preview.table = read_loadable(connection, target, schema or target.database, name)
    except Problem as problem:
        return None, problem
    return (connection, preview.table), None


def _suggest_new_table(preview: Preview, profile: Profile, target: Target) -> None:
    """Suggest the table that mode create makes, and apply the choices for it."""
    schema, _, name = (preview.choices.table or table_name_of(preview.source.name)).rpartition(".")
    schema = schema or target.database
    earlier = _mapping_of_new(preview, f"{schema}.{name}")
    created = create_table(preview.choices, schema, name, profile, earlier)
    preview.created, preview.new_table_request, preview.basis = created, created.request, created.basis
    # If changed() raises, the page shows the problem with what was entered.
    preview.new_table = created.entered()
    preview.table = preview.new_table.as_table()
    preview.mapping = created.entered_mapping or map_to_new(profile, preview.table)
    preview.new_table = created.changed()
    preview.table = preview.new_table.as_table()


def _table_named_as_file(connection: Connection, target: Target, file_name: str) -> str:
    """The table with the name of the file; "" if there is none."""
    stem = table_name_of(file_name)
    return next((name for name in offered_tables(connection, target, stem) if name.lower() == stem.lower()), "")


def _mapping_before(preview: Preview, table: Table) -> tuple[ColumnMapping, ...] | None:
    """The mapping of the earlier import or preset if it fits this file and table; dropped columns become unmapped."""
    before = preview.choices.before
    if not before or not preview.profile or preview.choices.null_markers is not None or preview.choices.match:
        return None
    other = bool(preview.choices.again) or preview.choices.is_for_other_file(preview.source)
    return like.mapping_for(before, preview.profile, f"{table.schema}.{table.name}", table.column_names, other=other)


def _mapping_of_new(preview: Preview, table: str) -> tuple[ColumnMapping, ...] | None:
    """The mapping of the import that is run again, if it makes the same new table; None without one."""
    edited = preview.choices.edited
    if not edited or not edited.new_table or not preview.profile:
        return None
    other = preview.choices.is_for_other_file(preview.source)
    return like.mapping_for(edited, preview.profile, table, other=other)


def _with_moved_fields(preview: Preview, mapping: tuple[ColumnMapping, ...], table: Table) -> tuple[ColumnMapping, ...]:
    """The mapping, with the suggested transforms for fields whose column was just changed."""
    assert preview.profile
    moved = {number: column for number, column in preview.choices.moved.items() if number < len(mapping)}
    if not moved:
        return mapping
    overrides = [FieldOverride(f"#{number + 1}", column) for number, column in moved.items()]
    suggested = suggest_mapping(preview.profile, table, preview.choices.null_markers, overrides=overrides)
    return tuple(suggested[number] if number in moved else each for number, each in enumerate(mapping))


def _fillings_before(preview: Preview, table: Table) -> tuple[GeneratedColumn, ...]:
    before = preview.choices.before
    if not before:
        return ()
    taken = [each.column for each in preview.mapping]
    fillings = like.fillings_for(before, f"{table.schema}.{table.name}", table.column_names, taken)
    again = preview.choices.again
    return origin.with_origin(fillings, origin.files_of(again)) if again else fillings


def _map(preview: Preview, profile: Profile, table: Table) -> frozenset[int]:
    """Map the fields to the table's columns. Returns the positions of those that an earlier import or preset maps."""
    choices = preview.choices
    if preview.created:
        before = preview.created.chosen if choices.edited else None
        if choices.mapping(len(profile.header), preview.basis) is None:
            preview.choices = choices.without_columns()
        preview.mapping = preview.created.mapping(table)
    else:
        before = _mapping_before(preview, table)
        chosen = choices.mapping(len(profile.header), preview.basis)
        if chosen is None:
            preview.choices = choices.without_columns()
        suggested = chosen or before or suggest_mapping(profile, table, choices.null_markers, choices.match)
        preview.mapping = _with_moved_fields(preview, suggested, table)
    return like.kept(choices.before, before) if before and choices.before else frozenset()


def _add_columns(preview: Preview, profile: Profile, table: Table) -> Table:
    """The table with the columns that the user adds to it."""
    preview.basis = preview.choices.basis(profile.dialect, profile.header, table)
    preview.added = preview.choices.added_columns(table, preview.basis)
    preview.table = with_added(table, preview.added)
    return preview.table


def _map_and_plan(preview: Preview, table: Table, target: Target, known: Known | None) -> None:
    profile = preview.profile
    assert profile
    if not preview.created:
        table = _add_columns(preview, profile, table)
    kept = _map(preview, profile, table)
    choices = preview.choices
    chosen = choices.fillings(table, preview.basis)
    preview.fillings = _fillings_before(preview, table) if chosen is None else chosen
    preview.addable = addable_columns(known[0], table, profile, preview.mapping) if known else {}
    added = [replace(each, type=check_type(each.type)) for each in preview.added]
    for each in preview.mapping:
        if each.column:
            check_transforms(each.transforms, each.datetime_format, table.column(each.column))
    whole_format = choices.before is not None
    whole_mapping = bool(kept) and len(kept) == len(preview.mapping)
    stated = choices.stated(profile.header, whole_format=whole_format, whole_mapping=whole_mapping)
    stated = stated.keeping(kept)
    request = ImportRequest(
        dialect=profile.dialect if whole_format else None,
        known_format=choices.known_format,
        mapping=preview.mapping,
        fillings=preview.fillings,
        options=choices.options,
        new_table=preview.new_table_request,
        added_columns=added,
        stated=stated,
        # The page shows the plan with the questions; nothing starts before they are answered.
        accept_guesses=True,
    )
    try:
        preview.prepared = prepare(
            preview.source, target, f"{table.schema}.{table.name}", request, lambda *_: profile, known=known
        )
        preview.reading, preview.mapping = preview.prepared.reading, preview.prepared.mapping
    except Problem:  # The page shows it with the questions.
        preview.reading = make_reading(
            profile, table, preview.mapping, preview.fillings, stated, preview.new_table, choices.mode in KEEPING
        )
        raise
