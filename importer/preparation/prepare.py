"""Makes a plan from a file and a table, which can be shown and started. Writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

from django.conf import settings

from importer.connections.source_location import location_of
from importer.engine.errors import Problem, TargetProblem
from importer.engine.mapping.columns import ColumnMapping, FieldOverride, GeneratedColumn
from importer.engine.mapping.suggest import map_to_new, suggest_mapping
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.planner import make_plan
from importer.engine.planner.decisions.row_order import outgrows
from importer.engine.preflight.session_settings import check_session
from importer.engine.schema.new_table import LONGEST_NAME, NewTable, change_table, partition_table, suggest_table
from importer.engine.schema.table import Table
from importer.engine.sorting.key_sample import KeyOrder, key_order
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.byte_source import open_source
from importer.engine.source.decoding import needs_copy
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.target.global_settings import check_global_variables
from importer.engine.target.staging import existing_tables
from importer.models import ImportJob, SourceFile, Target
from importer.preparation.previous_imports import past
from importer.preparation.table_context import SourceFacts, TableContext, read_context


@dataclass(frozen=True)
class NewTableRequest:
    """The requested properties of mode create's table: types by column, and the columns of its primary key.

    `widen`: a type that is too narrow for the whole file is widened; otherwise the import fails.
    """

    types: dict[str, str] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    widen: bool = True


@dataclass(frozen=True)
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
    # The table that mode create makes.
    new_table: NewTable | None = None


@dataclass(frozen=True)
class ImportRequest:
    """The requested settings of an import. If dialect, mapping or options are None, the file's suggestions are used.

    `overrides` apply only without a `mapping`; `new_table` is for mode create.
    """

    options: Options | None = None
    dialect: Dialect | None = None
    mapping: Sequence[ColumnMapping] | None = None
    fillings: Sequence[GeneratedColumn] = ()
    null_markers: Sequence[str] | None = None
    overrides: Sequence[FieldOverride] = ()
    new_table: NewTableRequest | None = None


def prepare(
    source: SourceFile,
    target: Target,
    table_name: str,
    request: ImportRequest = ImportRequest(),
) -> PreparedImport:
    """Profile the file, read the table and make the plan.

    `table_name` may be `table` or `schema.table`. Raises Problem with the first obstacle.
    """
    options = request.options or Options()
    profile = profile_file(location_of(source), request.dialect)
    schema, _, name = table_name.rpartition(".")
    schema = schema or target.database
    with connect(target.address) as connection:
        server = _server(connection, target)
        new_table = None
        if options.mode == "create":
            new_table = _new_table(connection, server, suggest_table(schema, name, profile), request)
        context = read_context(connection, target, server, f"{schema}.{name}", options, new_table)
    mapping = tuple(_mapping(request, profile, context))
    key = uuid4()
    facts = SourceFacts(profile.size - profile.data_offset, profile.dialect, mapping, tuple(request.fillings))
    plan = make_plan(
        replace(
            context.planning_context(key, facts, options),
            packing=profile.packing,
            past=past(target, context.table.schema, context.table.name, options.mode, profile.size),
            key_order=_key_order(profile, source, context, mapping, options),
            record_bytes=profile.record_bytes,
        )
    )
    _try_session(target, plan, server)
    return PreparedImport(
        key, source, target, profile, context.table, mapping, facts.fillings, options, plan, context.new_table
    )


def _mapping(request: ImportRequest, profile: Profile, context: TableContext) -> Sequence[ColumnMapping]:
    if request.mapping is not None:
        return request.mapping
    suggest = map_to_new if context.new_table else suggest_mapping
    return suggest(profile, context.table, request.null_markers, overrides=request.overrides)


def _try_session(target: Target, plan: ImportPlan, server: Server) -> None:
    """Check before the import that the server accepts the plan's session and global variables. Raises Problem."""
    variables = plan.temporary_changes.variables if plan.temporary_changes else {}
    if plan.session or plan.lock_table or variables:
        with connect(target.address) as connection:
            check_global_variables(connection, variables, server)
            check_session(connection, plan, server)


def _new_table(connection: Connection, server: Server, table: NewTable, request: ImportRequest) -> NewTable:
    """The table of mode create: the sample's suggestion, changed as requested."""
    if not table.name or len(table.name) > LONGEST_NAME:
        raise Problem("The new table has no name that the server takes.", advice="Give it one of 1 to 64 characters.")
    if existing_tables(connection, table.schema, [table.name]):
        raise TargetProblem(
            f"There is a table {table.schema}.{table.name} already.", advice="Choose another name, or mode replace."
        )
    if wanted := request.new_table:
        table = change_table(table, wanted.types, wanted.primary_key, wanted.widen)
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
    copied = needs_copy(profile.packing, profile.dialect.encoding)
    if copied or options.sort != "auto" or not outgrows(profile.size, context.table, options, context.server):
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
        server = server.after_refusal(of_pipe=METHODS[refused].from_pipe) if refused else server
        context = read_context(
            connection, job.target, server, f"{job.schema_name}.{job.table_name}", job.options, job.new_table
        )
    options = replace(job.options, chunk_bytes=job.plan.chunk_bytes, parallelism=job.parallelism)
    if not job.is_sorted:
        options = replace(options, sort="keep")
    facts = SourceFacts(job.data_bytes, job.file_dialect, job.mapping, job.fillings)
    plan = make_plan(
        replace(
            context.planning_context(key, facts, options),
            packing=job.packing,
            sorted_by=job.plan.sorted_by,
        )
    )
    _try_session(job.target, plan, server)
    return plan


def _server(connection: Connection, target: Target) -> Server:
    """The target's server, with the folder for files that it shares with this machine."""
    return replace(read_server(connection, target.address), files_dir=settings.SERVER_FILES_DIR)


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
