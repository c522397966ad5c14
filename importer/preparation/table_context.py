"""Reads a target's server and table once, for the planner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from importer.access.policy import may_now, require
from importer.engine.errors import Problem, TableExists, TargetProblem
from importer.engine.mapping.columns import ColumnMapping, FieldOverride, GeneratedColumn, overrides_by_position
from importer.engine.mapping.new_table.filled_columns import add_filled_columns, for_fields
from importer.engine.mapping.new_table.suggestion import formats_of, suggest_table
from importer.engine.mapping.suggest import map_to_new, suggest_mapping, with_suggested_null
from importer.engine.mapping.warnings import named_fields
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.sign_in.own_tables import refuse_table
from importer.engine.plan.option_specs import CREATE
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.preflight.load_rights import check_rights
from importer.engine.reading.reading import Reading
from importer.engine.schema.added_columns import missing_from, with_added
from importer.engine.schema.column_names import may_exist
from importer.engine.schema.dependencies import NO_DEPENDENCIES, TableDependencies, read_dependencies
from importer.engine.schema.indexes import NO_INDEXES, Indexes, is_empty, read_indexes
from importer.engine.schema.new_table import (
    NewColumn,
    NewTable,
    change_table,
    check_new_table,
    name_columns_as,
    partition_table,
)
from importer.engine.schema.table import Table, default_charset, existing_tables
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile
from importer.engine.target import write_modes
from importer.engine.target.privileges import check_privileges, require_alter, why_no_index_deferral
from importer.engine.target.staging import staging_name
from importer.models import Level, Target
from importer.preparation.loadable_tables import read_loadable
from importer.preparation.request import ImportRequest


@dataclass(frozen=True)
class SourceFacts:
    """The planner's facts about a file: `data_bytes` without the header, dialect, mapping and generated columns."""

    data_bytes: int
    dialect: Dialect
    mapping: Sequence[ColumnMapping]
    fillings: tuple[GeneratedColumn, ...]


@dataclass(frozen=True)
class TableContext:
    """The server, and the table with its dependencies and indexes; `new_table` is the table of mode create."""

    target: Target
    server: Server
    table: Table
    new_table: NewTable | None
    dependencies: TableDependencies
    indexes: Indexes

    def mapping(self, request: ImportRequest, profile: Profile) -> Sequence[ColumnMapping]:
        """The mapping of the request, or else as it is suggested for the table."""
        if request.mapping is not None:
            return request.mapping
        if self.new_table:
            table = for_fields(self.table, request.fillings)
            return map_to_new(profile, table, request.null_markers, overrides=request.overrides)
        return suggest_mapping(profile, self.table, request.null_markers, request.match, request.overrides)

    def with_suggested_null(
        self,
        profile: Profile,
        mapping: Sequence[ColumnMapping],
        null_markers: Sequence[str] | None,
        overrides: Sequence[FieldOverride],
    ) -> "TableContext":
        """The context whose new table knows the columns with NULL markers that nobody chose."""
        if not self.new_table:
            return self
        return replace(self, new_table=with_suggested_null(self.new_table, profile, mapping, null_markers, overrides))

    def looked_up(
        self, connection: Connection, mapping: Sequence[ColumnMapping], options: Options
    ) -> tuple[ColumnMapping, ...]:
        """The mapping with all that a load needs for its lookups.

        Raises Forbidden for a parent that the acting person may not see, or not load into although it is to get rows,
        and Problem for one that is not possible.
        """
        if not any(each.lookup for each in mapping):
            return tuple(mapping)
        from importer.engine.preflight.lookups import resolved

        creates = options.lookup_missing == CREATE
        for lookup in filter(None, (each.lookup for each in mapping)):
            level = Level.LOAD if creates else Level.LOOK
            require(level, self.target, lookup.schema or self.table.schema, lookup.table)
        return resolved(connection, self.table, mapping, is_new=self.new_table is not None, creates=creates)

    def asking_for_lookups(
        self,
        connection: Connection,
        reading: Reading,
        profile: Profile,
        mapping: Sequence[ColumnMapping],
        request: ImportRequest,
    ) -> Reading:
        """The reading, with a question for each column whose field has names instead of numbers."""
        stated = request.statements(profile)
        named = [] if self.new_table or stated.mapping else named_fields(profile, self.table, mapping, stated.formats)
        if not named:
            return reading
        from importer.engine.preflight.lookups import lookup_questions

        def may_look(schema: str, table: str) -> bool:
            return may_now(Level.LOOK, self.target, schema, table)

        asked = lookup_questions(connection, profile, self.table, mapping, named, may_look)
        return replace(reading, decisions=(*reading.decisions, *stated.settle(asked)))

    def planning_context(self, key: UUID, source: SourceFacts, options: Options) -> PlanningContext:
        """The context for the plan of the job with this key, as far as target and file decide it."""
        return PlanningContext(
            source.data_bytes,
            source.dialect,
            self.table,
            source.mapping,
            options,
            self.server,
            source.fillings,
            job=str(key),
            dependencies=self.dependencies,
            indexes=self.indexes,
            create=self.new_table.statement(staging_name(str(key))) if self.new_table else "",
            distance=self.target.distance,
        )


def read_context(
    connection: Connection,
    target: Target,
    server: Server,
    table_name: str,
    options: Options,
    new_table: NewTable | None,
    known: Table | None = None,
) -> TableContext:
    """Read the table `schema.table`, or use `new_table`, or the table as it is `known`.

    Raises TargetProblem if the table does not exist, is Millrace's own, or if the account lacks a privilege for the
    load, and Problem if the server would not make the new one.
    """
    schema, _, name = table_name.partition(".")
    if new_table:
        refuse_table(connection, schema, name)
        check_new_table(new_table, mariadb=server.mariadb)
    table = new_table.as_table() if new_table else known or read_loadable(connection, target, schema, name)
    check_rights(connection, table, write_modes.stages(options.mode), options.on_clash)
    if options.scope and options.mode in write_modes.COMPARING:
        from importer.engine.target.scope import require_understood

        require_understood(connection, table, options.scope)
    dependencies = _dependencies(connection, table, options)
    return TableContext(target, server, table, new_table, dependencies, _indexes(connection, table, options))


def _dependencies(connection: Connection, table: Table, options: Options) -> TableDependencies:
    """The objects that the write mode must keep. Checks the account's privileges for the mode."""
    unaffected = options.on_clash == "fail" and options.foreign_key_checks and not options.lock_table
    if not write_modes.stages(options.mode) and unaffected:
        return NO_DEPENDENCIES
    check_privileges(connection, table, options.mode, options.on_clash)
    return read_dependencies(connection, table.schema, table.name)


def _indexes(connection: Connection, table: Table, options: Options) -> Indexes:
    """The table's keys with the SQL that restores them, and the reason if they cannot be deferred."""
    if options.mode == "create" or not table.engine:
        return NO_INDEXES
    indexes = read_indexes(connection, table.schema, table.name)
    if write_modes.stages(options.mode):
        return indexes
    if obstacle := why_no_index_deferral(connection, table):
        return replace(indexes, obstacle=obstacle)
    return replace(indexes, empty=is_empty(connection, table.schema, table.name))


def add_to_context(
    connection: Connection, context: TableContext, columns: Sequence[NewColumn]
) -> tuple[TableContext, tuple[NewColumn, ...]]:
    """The context of the table with those of the columns that it does not have, and these columns.

    Raises TargetProblem, with the GRANT, if the account may not alter the table, and Problem for an invalid name, or
    if the import creates the table.
    """
    if columns and context.new_table:
        raise Problem(
            "A table that the import creates gets a column for each field; none can be added.",
            advice=f"Choose its type instead: --type '{columns[0].name}={columns[0].type}'.",
        )
    missing = missing_from(context.table, columns)
    if not missing:
        return context, ()
    require_alter(connection, context.table)
    return replace(context, table=with_added(context.table, missing)), missing


def add_to_plan(plan: ImportPlan, table: Table, columns: tuple[NewColumn, ...]) -> ImportPlan:
    """The plan, which adds the columns to the table first; `table` is as it is before that."""
    if not columns:
        return plan
    names = ", ".join(f"{each.name} {each.type}" for each in columns)
    reason = Reason(
        f"Add {'the column' if len(columns) == 1 else 'the columns'} {names}",
        "The table has none for the field. What is added stays, also if the import fails or is cancelled.",
    )
    return replace(plan, added_columns=columns, reasons=(reason, *plan.reasons)).for_target(table.digest)


def requested_table(
    connection: Connection, server: Server, names: tuple[str, str], profile: Profile, request: ImportRequest
) -> NewTable:
    """The table of mode create: as the sample suggests it for the requested formats, and changed as requested.

    Raises TableExists, and other Problems for a table that the server would not make.
    """
    given = request.overrides if request.mapping is None else formats_of(request.mapping)
    table = suggest_table(*names, profile, request.null_markers, given)
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
    else:
        fixed = overrides_by_position(request.overrides, profile.header)
        left_out = {number for number, each in fixed.items() if not each.column}
        table = name_columns_as(table, ["" if at in left_out else each.name for at, each in enumerate(table.columns)])
    table = add_filled_columns(table, request.fillings)
    if wanted := request.new_table:
        table = change_table(table, wanted.types, wanted.primary_key, wanted.widen, wanted.not_null)
    if request.options and request.options.partitions:
        table = partition_table(table, request.options.partitions, request.options.partition_by)
    if server.on("sql_require_primary_key") and not table.primary_key:
        raise TargetProblem(
            "The server makes no table without a primary key (sql_require_primary_key).",
            advice="Say which columns are the primary key.",
        )
    return table
