"""From a file and a table to a plan that can be shown and started: nothing is written anywhere yet."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

from django.conf import settings

from importer.connections.places import place_of
from importer.engine.errors import Problem, TargetProblem
from importer.engine.mapping.columns import ColumnMapping, FieldOverride, GeneratedColumn
from importer.engine.mapping.suggest import map_to_new, suggest_mapping
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.planner import make_plan
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions.row_order import outgrows
from importer.engine.preflight.session_settings import check_session
from importer.engine.schema.dependencies import NO_DEPENDENCIES, TableDependencies, read_surroundings
from importer.engine.schema.indexes import NO_INDEXES, Indexes, is_empty, read_indexes
from importer.engine.schema.new_table import LONGEST_NAME, NewTable, change_table, partition_table, suggest_table
from importer.engine.schema.table import Table, read_table
from importer.engine.sorting.key_sample import KeyOrder, key_order
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.byte_source import open_source
from importer.engine.source.decoding import needs_copy
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.target import write_modes
from importer.engine.target.global_settings import check_global_variables
from importer.engine.target.privileges import check_privileges, why_no_index_deferral
from importer.engine.target.staging import existing_tables, staging_name
from importer.models import ImportJob, SourceFile, Target
from importer.preparation.previous_imports import past


@dataclass(frozen=True)
class NewTableRequest:
    """What somebody wants of the table that mode create makes: types by column, and the columns of its primary key.

    `widen`: types that the whole file does not fit are made wider; else the import ends.
    """

    types: dict[str, str] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    widen: bool = True


@dataclass(frozen=True)
class PreparedImport:
    """Everything that a job is made of, its key included."""

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


def prepare(
    source: SourceFile,
    target: Target,
    table_name: str,
    *,
    dialect: Dialect | None = None,
    mapping: Sequence[ColumnMapping] | None = None,
    fillings: Sequence[GeneratedColumn] = (),
    null_markers: Sequence[str] | None = None,
    asked: Sequence[FieldOverride] = (),
    options: Options | None = None,
    asked_table: NewTableRequest | None = None,
) -> PreparedImport:
    """Profile the file, look at the table and plan. None leaves dialect, mapping or options to what the file suggests.

    `table_name` may be `table` or `schema.table`. `asked` counts where no whole mapping is given. Raises Problem with
    the first thing that stands in the way.
    """
    options = options or Options()
    profile = profile_file(place_of(source), dialect)
    schema, _, name = table_name.rpartition(".")
    schema = schema or target.database
    new_table = None
    with connect(target.address) as connection:
        server = _server(connection, target)
        if options.mode == "create":
            new_table = _new_table(connection, schema, name, profile, asked_table, options, server)
        found = _look(connection, target, server, schema, name, options, new_table)
    if mapping is None:
        suggest = map_to_new if new_table else suggest_mapping
        mapping = suggest(profile, found.table, null_markers, asked=asked)
    mapping = tuple(mapping)
    key = uuid4()
    plan = make_plan(
        replace(
            found.case(key, profile.size - profile.data_offset, profile.dialect, mapping, options, fillings),
            packing=profile.packing,
            past=past(target, found.table.schema, found.table.name, options.mode, profile.size),
            key_order=_key_order(profile, source, found.table, mapping, options, server),
            record_bytes=profile.record_bytes,
        )
    )
    _try_session(target, plan, server)
    return PreparedImport(key, source, target, profile, found.table, mapping, tuple(fillings), options, plan, new_table)


@dataclass(frozen=True)
class _Found:
    """What a plan has to know of a target and of its table; `new_table` is the one that mode create makes."""

    target: Target
    server: Server
    table: Table
    new_table: NewTable | None
    around: TableDependencies
    indexes: Indexes

    def case(
        self,
        key: UUID,
        data_bytes: int,
        dialect: Dialect,
        mapping: Sequence[ColumnMapping],
        options: Options,
        fillings: Sequence[GeneratedColumn],
    ) -> PlanningContext:
        """What is to be planned for the job with this key, as far as the target decides it."""
        return PlanningContext(
            data_bytes,
            dialect,
            self.table,
            mapping,
            options,
            self.server,
            fillings,
            job=str(key),
            around=self.around,
            indexes=self.indexes,
            create=self.new_table.statement(staging_name(str(key))) if self.new_table else "",
            distance=self.target.distance,
        )


def _look(
    connection: Connection,
    target: Target,
    server: Server,
    schema: str,
    name: str,
    options: Options,
    new_table: NewTable | None,
) -> _Found:
    table = new_table.as_table() if new_table else read_table(connection, schema, name)
    around = _look_around(connection, table, options)
    return _Found(target, server, table, new_table, around, _look_at_keys(connection, table, options))


def _try_session(target: Target, plan: ImportPlan, server: Server) -> None:
    """See that the server takes what the plan sets, for its sessions or for all: now, while nothing has begun."""
    variables = plan.arrangement.variables if plan.arrangement else {}
    if plan.session or plan.lock_table or variables:
        with connect(target.address) as connection:
            check_global_variables(connection, variables, server)
            check_session(connection, plan, server)


def _new_table(
    connection: Connection,
    schema: str,
    name: str,
    profile: Profile,
    asked: NewTableRequest | None,
    options: Options,
    server: Server,
) -> NewTable:
    """The table that is to be made, as suggested by the sample and changed as asked."""
    if not name or len(name) > LONGEST_NAME:
        raise Problem("The new table has no name that the server takes.", advice="Give it one of 1 to 64 characters.")
    if existing_tables(connection, schema, [name]):
        raise TargetProblem(
            f"There is a table {schema}.{name} already.", advice="Choose another name, or mode replace."
        )
    table = suggest_table(schema, name, profile)
    if asked:
        table = change_table(table, asked.types, asked.primary_key, asked.widen)
    if options.partitions:
        table = partition_table(table, options.partitions)
    if server.on("sql_require_primary_key") and not table.primary_key:
        raise TargetProblem(
            "The server makes no table without a primary key (sql_require_primary_key).",
            advice="Say which columns are the primary key.",
        )
    return table


def _key_order(
    profile: Profile,
    source: SourceFile,
    table: Table,
    mapping: Sequence[ColumnMapping],
    options: Options,
    server: Server,
) -> KeyOrder | None:
    """How far the file is from the order of the primary key; None where that decides nothing, or cannot be told."""
    copied = needs_copy(profile.packing, profile.dialect.encoding)
    if copied or options.sort != "auto" or not outgrows(profile.size, table, options, server):
        return None
    try:
        key = SortKey.of(table, mapping)
    except Unsortable:
        return None
    with open_source(place_of(source)) as fd:
        return key_order(fd, profile.dialect, key, profile.data_offset, profile.size)


def _look_around(connection: Connection, table: Table, options: Options) -> TableDependencies:
    """What a mode has to keep; and whether the account may do what the mode does."""
    alone = options.on_duplicate == "fail" and options.foreign_key_checks and not options.lock_table
    if not write_modes.stages(options.mode) and alone:
        return NO_DEPENDENCIES
    check_privileges(connection, table, options.mode, options.on_duplicate)
    return read_surroundings(connection, table.schema, table.name)


def _look_at_keys(connection: Connection, table: Table, options: Options) -> Indexes:
    """The table's keys as they would have to come back, and what keeps them from being taken off."""
    if options.mode == "create" or not table.engine:
        return NO_INDEXES
    found = read_indexes(connection, table.schema, table.name)
    if write_modes.stages(options.mode):
        return found
    if hindrance := why_no_index_deferral(connection, table):
        return replace(found, hindrance=hindrance)
    return replace(found, empty=is_empty(connection, table.schema, table.name))


def replan(job: ImportJob, key: UUID, refused: str = "") -> ImportPlan:
    """The plan for what is not in yet of a job, for its table and server as they are now; its chunks stay as they are.

    `key` is the job's from now on; `refused` is a method that the server has been seen to refuse.

    Raises Problem with the first thing that stands in the way.
    """
    with connect(job.target.address) as connection:
        server = _server(connection, job.target)
        server = server.after_refusal(of_pipe=METHODS[refused].from_pipe) if refused else server
        found = _look(connection, job.target, server, job.schema_name, job.table_name, job.options, job.new_table)
    options = replace(job.options, chunk_bytes=job.plan.chunk_bytes, parallelism=job.parallelism)
    if not job.is_sorted:
        options = replace(options, sort="keep")
    plan = make_plan(
        replace(
            found.case(key, job.data_bytes, job.file_dialect, job.mapping, options, job.fillings),
            packing=job.packing,
            sorted_by=job.plan.sorted_by,
        )
    )
    _try_session(job.target, plan, server)
    return plan


def _server(connection: Connection, target: Target) -> Server:
    """What there is to know of the target's server, and the folder for files that it shares with this machine."""
    return replace(read_server(connection, target.address), files_dir=settings.SERVER_FILES_DIR)


def fall_back_plan(job: ImportJob) -> ImportPlan:
    """The job's plan with the next method down the ladder, as the server has refused the one that it has.

    All else stays: what is loaded already fits to it. Raises Problem if the method was asked for, or cannot be changed.
    """
    plan = job.plan
    other = replan(job, job.key, refused=plan.method)
    if other.method == plan.method:
        raise Problem(f"The server refuses the method {plan.method}.", advice="Ask for method auto.", option="method")
    reasons = [next(each for each in other.reasons if each.option == "method")]
    reasons += [each for each in plan.reasons if each.option != "method"]
    return replace(
        plan,
        method=other.method,
        statement=other.statement,
        null_word_statement=other.null_word_statement,
        traced_statement=other.traced_statement,
        bytes_statement=other.bytes_statement,
        bytes_ascii_only=other.bytes_ascii_only,
        unhexed=other.unhexed,
        rows_per_statement=other.rows_per_statement,
        files_folder=other.files_folder,
        reasons=tuple(reasons),
    )
