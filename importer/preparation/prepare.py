"""Makes a plan from a file and a table, which can be shown and started. Writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast
from uuid import UUID, uuid4

from django.conf import settings

from importer.access.policy import require
from importer.connections.by_hand.read_by_server import find_server_file
from importer.connections.source_location import location_of
from importer.engine.errors import Problem, TargetProblem
from importer.engine.mapping.columns import (
    ColumnMapping,
    GeneratedColumn,
    check_given,
)
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.error_messages import explain
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.mysql.waits import ASKING_SECONDS, within
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.previous_imports import NO_PAST, Past
from importer.engine.plan.server_file import ServerFile
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.planner.decisions.row_order import outgrows
from importer.engine.preflight.session_settings import check_session
from importer.engine.preflight.transaction_probe import require_exactly_once
from importer.engine.reading.build import make_reading
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.reading import Reading
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.table import Table
from importer.engine.sorting.key_sample import KeyOrder, key_order
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.decisions import Standing
from importer.engine.source.decoding import needs_copy
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import Profile
from importer.engine.stored import to_json
from importer.engine.target.global_settings import check_global_variables
from importer.engine.target.write_modes import KEEPING
from importer.models import ImportJob, Level, SourceFile, Target
from importer.preparation import like
from importer.preparation.joined_files import JoinedProfile, explain_order, join_files
from importer.preparation.previous_imports import earlier_load, noted, past
from importer.preparation.request import ImportRequest, Profiled, add_fault_of_file, profiling, settle
from importer.preparation.row_problems import refuse_unreadable_rows
from importer.preparation.table_context import (
    SourceFacts,
    TableContext,
    add_to_context,
    add_to_plan,
    read_context,
    requested_table,
)
from importer.sources.upload_storage import waits_for_whole_files


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
    def recipe(self) -> dict[str, Any]:
        """What a job, a preset or a lab stores of it: the fields of an ImportRecipe, and the target."""
        return {
            "target": self.target,
            "schema_name": self.table.schema,
            "table_name": self.table.name,
            "dialect_json": to_json(self.profile.dialect),
            "mapping_json": [to_json(each) for each in self.mapping],
            "fillings_json": [to_json(each) for each in self.fillings],
            "options_json": to_json(self.options),
        }

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


NO_ANSWERS: Mapping[str, str] = {}
AS_DETECTED = ImportRequest()


@within(ASKING_SECONDS)
def prepare(
    source: SourceFile,
    target: Target,
    table_name: str,
    request: ImportRequest = AS_DETECTED,
    profiled: Profiled | None = None,
    answers: Mapping[str, str] = NO_ANSWERS,
    known: tuple[Connection, Table] | None = None,
) -> PreparedImport:
    """Read the table and the file's format, map the fields and make the plan.

    `table_name` may be `table` or `schema.table`. `profiled`: how the file is profiled, if not as the request says.
    `known`: an open connection to the target, and the table as it was just read. Raises NeedsAnswer for a question
    without one of the `answers`, unless guesses are accepted, Forbidden, and Problem.
    """
    schema, name = require_load(target, table_name)
    profiled = profiled or (like.profiling_like(request.before, source) if request.before else profiling(source))
    try:
        with explain(str(target.address)) if known else connect(target.address) as opened:
            connection, table = known or (cast(Connection, opened), None)
            look = _Look(
                connection, _server(connection, target), source, target, (schema, name), request, profiled, table
            )
            read, request = settle(look.read, request, answers, source.name)
    except TargetProblem as problem:
        add_fault_of_file(problem, request, profiled)
        raise
    check_given(read.mapping, read.context.table, read.fillings, read.profile.of_bytes)
    return _planned(read, source, target, request)


def _planned(read: "_SourceRead", source: SourceFile, target: Target, request: ImportRequest) -> PreparedImport:
    """The import of a source that is read without a doubt, or with accepted ones. Raises Problem for an obstacle."""
    options, profile, context, mapping = request.options or Options(), read.profile, read.context, read.mapping
    key = uuid4()
    facts = SourceFacts(profile.size - profile.data_offset, profile.dialect, mapping, read.fillings)
    previous = past(target, context.table.schema, context.table.name, options.mode, profile.size)
    planned_from = replace(
        context.planning_context(key, facts, options),
        packing=profile.packing,
        past=previous,
        key_order=_key_order(profile, source, context, mapping, options),
        record_bytes=profile.record_bytes,
        server_file=read.server_file,
    )
    plan = explain_order(add_to_plan(make_plan(planned_from), read.before, read.added), read.files)
    plan = noted(plan, earlier_load(source, target, context.table.schema, context.table.name, options.mode))
    _try_session(target, plan, context.server)
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
        reading=replace(read.reading, accepted=bool(read.reading.guesses)),
        new_table=context.new_table,
        files=read.files,
        previous=previous,
    )


@dataclass(frozen=True)
class _SourceRead:
    """A source as it is read for a table, which is `before` without the `added` columns."""

    profile: Profile
    files: tuple[JoinedFile, ...]
    mapping: tuple[ColumnMapping, ...]
    fillings: tuple[GeneratedColumn, ...]
    reading: Reading
    context: TableContext
    before: Table
    added: tuple[NewColumn, ...]
    server_file: ServerFile | None


@dataclass(frozen=True)
class _Look:
    """Reads a source for a table. One that exists is read once, however many questions are answered."""

    connection: Connection
    server: Server
    source: SourceFile
    target: Target
    names: tuple[str, str]
    request: ImportRequest
    profiled: Profiled
    known: Table | None

    def read(self, request: ImportRequest) -> _SourceRead:
        """The source as this request has it read: as the first one, with answers. Raises Problem for an obstacle."""
        options, name = request.options or Options(), ".".join(self.names)
        if options.mode == "create":
            profile = self.profiled(request, ())
            request = like.fitted(request, profile, name)
            table, context, added = self._table(
                requested_table(self.connection, self.server, self.names, profile, request)
            )
        else:
            table, context, added = self._existing
            profile = self.profiled(request, expected_columns(table))
            request = like.fitted(request, profile, name, context.table)
        server_file = find_server_file(self.connection, self.server, self.source, profile, options)
        joined = _joined(self.source, profile, options, expected_columns(context.table))
        mapping = context.looked_up(self.connection, context.mapping(request, joined.profile), options)
        context = context.with_suggested_null(joined.profile, mapping, request.null_markers, request.overrides)
        reading = _reading(self.source, request, joined.profile, context, mapping)
        reading = context.asking_for_lookups(self.connection, reading, joined.profile, mapping, request)
        reading = replace(reading, notes=(*like.differences(request, joined.profile, name), *reading.notes))
        read = (joined.profile, joined.files, mapping, tuple(request.fillings), reading)
        return _SourceRead(*read, context, table, added, server_file)

    @cached_property
    def _existing(self) -> tuple[Table, TableContext, tuple[NewColumn, ...]]:
        return self._table(None)

    def _table(self, new_table: NewTable | None) -> tuple[Table, TableContext, tuple[NewColumn, ...]]:
        """The table as it is, and with the columns that are added to it."""
        options = self.request.options or Options()
        name = ".".join(self.names)
        context = read_context(self.connection, self.target, self.server, name, options, new_table, self.known)
        return context.table, *add_to_context(self.connection, context, self.request.added_columns)


def _joined(
    source: SourceFile, profile: Profile, options: Options, expected: Sequence[ExpectedColumn]
) -> JoinedProfile:
    """The files as one. Raises Problem if several are to be loaded in the order of the key: they keep their own."""
    joined = join_files(source, profile, expected)
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


def _reading(
    source: SourceFile,
    request: ImportRequest,
    profile: Profile,
    context: TableContext,
    mapping: Sequence[ColumnMapping],
) -> Reading:
    """The reading of the file. Raises RecordUnreadable for an unreadable row, unless such rows are left out."""
    refuse_unreadable_rows(source, profile, request.options or Options())
    stated = request.statements(profile)
    # Without a column for any field the format may be read wrongly: that question comes first, if the fields could go
    # into the columns by position, or where fields end is only guessed.
    possible = len(mapping) in _widths(context.table) or any(
        each.name in ("delimiter", "widths") and each.guessed for each in profile.decisions
    )
    if any(each.column for each in mapping) or not possible:
        check_given(mapping, context.table, request.fillings, profile.of_bytes)
    kept = bool(request.options and request.options.mode in KEEPING)
    return make_reading(profile, context.table, mapping, request.fillings, stated, context.new_table, kept)


def _widths(table: Table) -> tuple[int, int]:
    """The numbers of fields that go in by position: with a field for AUTO_INCREMENT columns, and without."""
    taken = table.fillable_columns
    return len(taken), sum(not column.auto_increment for column in taken)


def _try_session(target: Target, plan: ImportPlan, server: Server) -> None:
    """Check before the import that the server accepts the plan's session and global variables. Raises Problem."""
    variables = plan.temporary_changes.variables if plan.temporary_changes else {}
    if plan.session or plan.lock_table or variables:
        with connect(target.address) as connection:
            check_global_variables(connection, variables, server)
            check_session(connection, plan, server)


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
    # What a first server has lost in a fail-over, the one that took its place may never have had.
    plan = replace(plan, continues_empty=job.plan.fills_empty_table, server=job.plan.server)
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
