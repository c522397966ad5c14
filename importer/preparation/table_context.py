"""Reads a target's server and table once, for the planner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from importer.engine.mapping.columns import ColumnMapping, FieldOverride, GeneratedColumn
from importer.engine.mapping.suggest import with_suggested_null
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.sign_in.own_tables import refuse_table
from importer.engine.plan.options import Options
from importer.engine.planner.context import PlanningContext
from importer.engine.preflight.load_rights import check_rights
from importer.engine.schema.dependencies import NO_DEPENDENCIES, TableDependencies, read_dependencies
from importer.engine.schema.indexes import NO_INDEXES, Indexes, is_empty, read_indexes
from importer.engine.schema.new_table import NewTable, check_new_table
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile
from importer.engine.target import write_modes
from importer.engine.target.privileges import check_privileges, why_no_index_deferral
from importer.engine.target.staging import staging_name
from importer.models import Target
from importer.preparation.loadable_tables import read_loadable


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
) -> TableContext:
    """Read the table `schema.table`, or use `new_table`.

    Raises TargetProblem if the table does not exist, is Millrace's own, or if the account lacks a privilege for the
    load, and Problem if the server would not make the new one.
    """
    schema, _, name = table_name.partition(".")
    if new_table:
        refuse_table(connection, schema, name)
        check_new_table(new_table, mariadb=server.mariadb)
    table = new_table.as_table() if new_table else read_loadable(connection, target, schema, name)
    check_rights(connection, table, write_modes.stages(options.mode), options.on_duplicate)
    dependencies = _dependencies(connection, table, options)
    return TableContext(target, server, table, new_table, dependencies, _indexes(connection, table, options))


def _dependencies(connection: Connection, table: Table, options: Options) -> TableDependencies:
    """The objects that the write mode must keep. Checks the account's privileges for the mode."""
    unaffected = options.on_duplicate == "fail" and options.foreign_key_checks and not options.lock_table
    if not write_modes.stages(options.mode) and unaffected:
        return NO_DEPENDENCIES
    check_privileges(connection, table, options.mode, options.on_duplicate)
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
