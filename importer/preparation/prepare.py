"""Makes a plan from a file and a table, which can be shown and started. Writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from importer.access.policy import require
from importer.connections.by_hand.read_by_server import find_server_file
from importer.connections.source_location import location_of
from importer.engine.errors import Problem, TableExists, TargetProblem
from importer.engine.mapping.columns import (
    ColumnMapping,
    FieldOverride,
    GeneratedColumn,
    check_given,
    overrides_by_position,
)
from importer.engine.mapping.new_table.filled_columns import add_filled_columns, for_fields
from importer.engine.mapping.new_table.suggestion import formats_of, suggest_table
from importer.engine.mapping.suggest import map_to_new, suggest_mapping
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.previous_imports import NO_PAST, Past
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.planner.decisions.row_order import outgrows
from importer.engine.preflight.session_settings import check_session
from importer.engine.preflight.transaction_probe import require_exactly_once
from importer.engine.reading.build import make_reading
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading
from importer.engine.reading.stated import Stated
from importer.engine.schema.column_names import may_exist
from importer.engine.schema.new_table import NewColumn, NewTable, change_table, name_columns_as, partition_table
from importer.engine.schema.table import Table, default_charset, existing_tables
from importer.engine.sorting.key_sample import KeyOrder, key_order
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.decisions import Standing
from importer.engine.source.decoding import needs_copy
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.target.global_settings import check_global_variables
from importer.models import ImportJob, Level, SourceFile, Target
from importer.preparation.added_columns import add_to_context, add_to_plan
from importer.preparation.joined_files import JoinedProfile, explain_order, join_files
from importer.preparation.previous_imports import earlier_load, noted, past
from importer.preparation.row_problems import refuse_unreadable_rows
from importer.preparation.table_context import SourceFacts, TableContext, read_context
from importer.sources.upload_storage import waits_for_whole_files


@dataclass(frozen=True)
class NewTableRequest:
    """The requested properties of mode create's table: types by column, and the columns of its primary key.

    Its columns have the names that a given mapping has for their fields. `not_null`: the columns that take no NULL.
    `widen`: a type that is too narrow for the whole file is widened; otherwise the import fails.
    """

    types: dict[str, str] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    widen: bool = True
    not_null: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PreparedImport:
    """All values of a new job, including its key."""

    key: UUID
    source: SourceFile
    target: Target
    profile: Profile
    table: Table
    mapping: tuple[ColumnMapping, ...]
    fillings: tuple[GeneratedColumn, ...]
    options: Options
    plan: ImportPlan
    # What the plan was made from.
    planned_from: PlanningContext
    reading: Reading
    # The table that mode create makes.
    new_table: NewTable | None = None
    # The files of an import of several.
    files: tuple[JoinedFile, ...] = ()
    # Earlier imports of its kind.
    previous: Past = NO_PAST

    @property
    def end_unread(self) -> bool:
        """Whether the end of the file had not arrived, and nobody has stated how it is read.

        A preset does not state it if its file's sample has shown it. Of a file that is unpacked or transcoded first, a
        profile never looks at the end.
        """
        stated = any(each.name == "skip_footer" and each.standing is Standing.STATED for each in self.reading.decisions)
        stated = stated and "skip_footer" not in self.profile.dialect.sampled
        return self.source.arriving and not stated and not self._copied

    @property
    def waits_for_whole_file(self) -> bool:
        """Whether no row can be loaded before the whole file has arrived."""
        needs_all = self._copied or self.plan.sorted_by or self.profile.dialect.skip_footer or self.new_table
        needs_all = needs_all or waits_for_whole_files()
        return self.source.arriving and bool(needs_all)

    @property
    def _copied(self) -> bool:
        return needs_copy(self.profile.packing, self.profile.dialect) or any(each.order for each in self.files)


@dataclass(frozen=True)
class ImportRequest:
    """The requested settings of an import. If dialect, mapping or options are None, the file's suggestions are used.

    `known_format`: stated fields of the dialect, where no whole `dialect` is given. `match` (mapping.suggest.MATCHES)
    and `overrides` apply only without a `mapping`; `new_table` is for mode create. `stated`: the decisions that a user
    has made; None: those that dialect, mapping and overrides give. `accept_guesses`: take the likeliest reading.
    """

    options: Options | None = None
    dialect: Dialect | None = None
    known_format: Mapping[str, Any] = field(default_factory=dict)
    mapping: Sequence[ColumnMapping] | None = None
    match: str = ""
    fillings: Sequence[GeneratedColumn] = ()
    null_markers: Sequence[str] | None = None
    overrides: Sequence[FieldOverride] = ()
    new_table: NewTableRequest | None = None
    # Columns that are added to a table that exists, as far as it does not have them.
    added_columns: Sequence[NewColumn] = ()
    stated: Stated | None = None
    accept_guesses: bool = False

    def statements(self, profile: Profile) -> Stated:
        """The decisions that the request states for a file with this profile."""
        stated = self.stated or Stated(format=self.dialect is not None, mapping=self.mapping is not None)
        overrides = overrides_by_position(self.overrides, profile.header)
        formats = {
            number
            for number, each in overrides.items()
            if each.transforms is not None or each.datetime_format is not None
        }
        keys = {"match"} if self.match else set()
        return replace(
            stated, fields=stated.fields | overrides.keys(), formats=stated.formats | formats, keys=stated.keys | keys
        )


def prepare(
    source: SourceFile,
    target: Target,
    table_name: str,
    request: ImportRequest = ImportRequest(),
    profile: Profile | None = None,
) -> PreparedImport:
    """Read the table and the file's format, map the fields and make the plan.

    `table_name` may be `table` or `schema.table`. `profile`: that of the file, if it was just read for this request.
    Raises NeedsAnswer for a file that can be read in several ways, unless guesses are accepted, Forbidden, and Problem.
    """
    options = request.options or Options()
    schema, name = require_load(target, table_name)
    with connect(target.address) as connection:
        server = _server(connection, target)
        if options.mode == "create":
            profile = profile or _profile(source, request)
            new_table = _new_table(connection, server, _suggested_table(schema, name, profile, request), request)
            context = read_context(connection, target, server, f"{schema}.{name}", options, new_table)
        else:
            context = read_context(connection, target, server, f"{schema}.{name}", options, None)
            profile = profile or _profile(source, request, expected_columns(context.table))
        before = context.table
        context, added = add_to_context(connection, context, request.added_columns)
        server_file = find_server_file(connection, server, source, profile, options)
    joined = _joined(source, profile, options, context.table.column_names)
    profile, mapping = joined.profile, tuple(_mapping(request, joined.profile, context))
    context = context.with_suggested_null(profile, mapping, request.null_markers, request.overrides)
    reading = _reading(source, request, profile, context, mapping)
    key = uuid4()
    facts = SourceFacts(profile.size - profile.data_offset, profile.dialect, mapping, tuple(request.fillings))
    previous = past(target, context.table.schema, context.table.name, options.mode, profile.size)
    planned_from = replace(
        context.planning_context(key, facts, options),
        packing=profile.packing,
        past=previous,
        key_order=_key_order(profile, source, context, mapping, options),
        record_bytes=profile.record_bytes,
        server_file=server_file,
    )
    plan = explain_order(add_to_plan(make_plan(planned_from), before, added), joined.files)
    plan = noted(plan, earlier_load(source, target, context.table.schema, context.table.name, options.mode))
    _try_session(target, plan, server)
    return PreparedImport(
        key=key,
        source=source,
        target=target,
        profile=profile,
        table=context.table,
        mapping=mapping,
        fillings=facts.fillings,
        options=options,
        plan=plan,
        planned_from=planned_from,
        reading=reading,
        new_table=context.new_table,
        files=joined.files,
        previous=previous,
    )


def _joined(source: SourceFile, profile: Profile, options: Options, columns: Sequence[str]) -> JoinedProfile:
    """The files as one. Raises Problem if several are to be loaded in the order of the key: they keep their own."""
    joined = join_files(source, profile, columns)
    if joined.files and options.sort == "key":
        raise Problem(
            "Several files cannot be sorted as one.", advice="Choose sort keep, or import them apart.", option="sort"
        )
    return joined


def require_load(target: Target, table_name: str) -> tuple[str, str]:
    """The schema and the name of a table. Raises Forbidden unless the acting person may load into it."""
    schema, _, name = table_name.rpartition(".")
    schema = schema or target.database
    require(Level.LOAD, target, schema, name)
    return schema, name


def _profile(source: SourceFile, request: ImportRequest, expected: Sequence[ExpectedColumn] = ()) -> Profile:
    return profile_file(location_of(source), request.dialect, expected, **request.known_format)


def _reading(
    source: SourceFile,
    request: ImportRequest,
    profile: Profile,
    context: TableContext,
    mapping: Sequence[ColumnMapping],
) -> Reading:
    """The reading of the file. Raises NeedsAnswer if it is not certain, and the request does not accept guesses.

    Raises RecordUnreadable for a row that its format cannot read, unless such rows are left out.
    """
    refuse_unreadable_rows(source, profile, request.options or Options())
    stated = request.statements(profile)
    # Without a column for any field the format may be read wrongly: that question comes first, if the fields could go
    # into the columns by position, or where fields end is only guessed.
    possible = len(mapping) in _widths(context.table) or any(
        each.name == "widths" and each.guessed for each in profile.decisions
    )
    if any(each.column for each in mapping) or not possible:
        check_given(mapping, context.table, request.fillings, profile.of_bytes)
    reading = make_reading(profile, context.table, mapping, request.fillings, stated, context.new_table)
    if reading.guesses and not request.accept_guesses:
        raise NeedsAnswer(reading, source.name)
    check_given(mapping, context.table, request.fillings, profile.of_bytes)
    return replace(reading, accepted=True) if reading.guesses else reading


def _widths(table: Table) -> tuple[int, int]:
    """The numbers of fields that go in by position: with a field for AUTO_INCREMENT columns, and without."""
    taken = table.fillable_columns
    return len(taken), sum(not column.auto_increment for column in taken)


def _mapping(request: ImportRequest, profile: Profile, context: TableContext) -> Sequence[ColumnMapping]:
    if request.mapping is not None:
        return request.mapping
    if context.new_table:
        table = for_fields(context.table, request.fillings)
        return map_to_new(profile, table, request.null_markers, overrides=request.overrides)
    return suggest_mapping(profile, context.table, request.null_markers, request.match, request.overrides)


def _try_session(target: Target, plan: ImportPlan, server: Server) -> None:
    """Check before the import that the server accepts the plan's session and global variables. Raises Problem."""
    variables = plan.temporary_changes.variables if plan.temporary_changes else {}
    if plan.session or plan.lock_table or variables:
        with connect(target.address) as connection:
            check_global_variables(connection, variables, server)
            check_session(connection, plan, server)


def _suggested_table(schema: str, name: str, profile: Profile, request: ImportRequest) -> NewTable:
    """The table that the sample suggests, for the formats that the request has."""
    given = request.overrides if request.mapping is None else formats_of(request.mapping)
    return suggest_table(schema, name, profile, request.null_markers, given)


def _new_table(connection: Connection, server: Server, table: NewTable, request: ImportRequest) -> NewTable:
    """The table of mode create: the sample's suggestion, changed as requested."""
    if not may_exist(table.schema, table.name):
        raise Problem(f"No table can be named {table.name}.", advice="Leave emoji out of its name.")
    if existing_tables(connection, table.schema, [table.name]):
        raise TableExists(
            f"There is a table {table.schema}.{table.name} already.", advice="Choose another name, or mode replace."
        )
    if default_charset(connection, table.schema) == table.charset:
        table = replace(table, charset="")
    if request.mapping is not None:
        table = name_columns_as(table, [each.column for each in request.mapping])
    table = add_filled_columns(table, request.fillings)
    if wanted := request.new_table:
        table = change_table(table, wanted.types, wanted.primary_key, wanted.widen, wanted.not_null)
    if request.options and request.options.partitions:
        table = partition_table(table, request.options.partitions)
    if server.on("sql_require_primary_key") and not table.primary_key:
        raise TargetProblem(
            "The server makes no table without a primary key (sql_require_primary_key).",
            advice="Say which columns are the primary key.",
        )
    return table


def _key_order(
    profile: Profile, source: SourceFile, context: TableContext, mapping: Sequence[ColumnMapping], options: Options
) -> KeyOrder | None:
    """How far the file is from the order of the primary key; None if the order does not matter or is unknown."""
    copied = needs_copy(profile.packing, profile.dialect)
    if (
        copied
        or source.arriving
        or source.file_count > 1
        or options.sort != "auto"
        or not outgrows(profile.size, context.table, options, context.server)
    ):
        return None
    try:
        key = SortKey.of(context.table, mapping)
    except Unsortable:
        return None
    with open_source(location_of(source)) as fd:
        return key_order(fd, profile.dialect, key, profile.data_offset, profile.size)


def replan(job: ImportJob, key: UUID, refused: str = "") -> ImportPlan:
    """A new plan for the rest of a job, for its table and server as they are now. Its chunks do not change.

    `key` is the job's key from now on; `refused` is a method that the server has refused. Raises Problem with the
    first obstacle.
    """
    with connect(job.target.address) as connection:
        server = _server(connection, job.target)
        no_file = bool(refused) and METHODS[refused].from_file
        server = server.after_refusal(of_pipe=METHODS[refused].from_pipe) if refused and not no_file else server
        context = read_context(
            connection, job.target, server, f"{job.schema_name}.{job.table_name}", job.options, job.new_table
        )
        before = context.table
        context, added = add_to_context(connection, context, job.plan.added_columns)
    options = replace(job.options, chunk_bytes=job.plan.chunk_bytes, parallelism=job.parallelism)
    if not job.is_sorted:
        options = replace(options, sort="keep")
    facts = SourceFacts(job.data_bytes, job.file_dialect, job.mapping, job.fillings)
    plan = make_plan(
        replace(
            context.planning_context(key, facts, options),
            packing=job.packing,
            sorted_by=job.plan.sorted_by,
            server_file=None if no_file else job.plan.statements.server_file,
        )
    )
    plan = noted(add_to_plan(plan, before, added).with_chunks_of(job.plan), job.plan.loaded_before)
    _try_session(job.target, plan, server)
    return plan


def _server(connection: Connection, target: Target) -> Server:
    """The target's server, with the folder for files that it shares with this machine; fit to load exactly once."""
    server = replace(read_server(connection, target.address), files_dir=settings.SERVER_FILES_DIR)
    require_exactly_once(target.address, server)
    return server


def fall_back_plan(job: ImportJob) -> ImportPlan:
    """The job's plan with the next best method, after the server has refused the plan's.

    Everything else stays, because it must match the chunks that are loaded. Raises Problem if there is no other method.
    """
    plan = job.plan
    other = replan(job, job.key, refused=plan.statements.method)
    if other.statements.method == plan.statements.method:
        raise Problem(
            f"The server refuses the method {plan.statements.method}.", advice="Ask for method auto.", option="method"
        )
    reasons = [next(each for each in other.reasons if each.option == "method")]
    reasons += [each for each in plan.reasons if each.option != "method"]
    return replace(plan, statements=other.statements, reasons=tuple(reasons))
