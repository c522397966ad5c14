"""The input of the planner: the file, the table, the server, the options, and what was measured before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from importer.engine.load.network_probe import NetworkProbe
from importer.engine.load.non_transactional import cannot_roll_back
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.server_info import Server
from importer.engine.plan.options import Options
from importer.engine.plan.previous_imports import NO_PAST, Past
from importer.engine.plan.server_file import ServerFile
from importer.engine.schema.dependencies import NO_DEPENDENCIES, TableDependencies
from importer.engine.schema.indexes import NO_INDEXES, Indexes
from importer.engine.schema.table import Table
from importer.engine.sorting.key_sample import KeyOrder
from importer.engine.sorting.sort_key import SortKey
from importer.engine.source.dialect import Dialect
from importer.engine.target import write_modes
from importer.engine.target.staging import PLACE_COLUMNS, PLACES, staging_name


@dataclass(frozen=True)
class PlanningContext:
    """`data_bytes` are the bytes of the records, without header. `options` are the requested settings.

    `job` is the job's key, and `create` the statement that makes the staging table: for the modes that stage. `packing`
    is the compression of the file, "" for none. `distance` is None if it was not measured or the server is local.
    `record_bytes` is the mean size of a record, 0 if unknown. `key_order` compares the order of a sample with the
    primary key, None if no sample was read. `sorted_by` is the sort key of a job whose chunks are cut already.
    `server_file` is the file on the database's host if the server is to read it itself.
    """

    data_bytes: int
    dialect: Dialect
    table: Table
    mapping: Sequence[ColumnMapping]
    options: Options
    server: Server
    fillings: Sequence[GeneratedColumn] = ()
    packing: str = ""
    job: str = ""
    dependencies: TableDependencies = NO_DEPENDENCIES
    indexes: Indexes = NO_INDEXES
    create: str = ""
    distance: NetworkProbe | None = None
    key_order: KeyOrder | None = None
    sorted_by: SortKey | None = None
    past: Past = NO_PAST
    record_bytes: float = 0
    server_file: ServerFile | None = None

    @property
    def stages(self) -> bool:
        """Whether the chunks load into a staging table."""
        return write_modes.stages(self.options.mode)

    @property
    def numbers_rows(self) -> bool:
        """Whether each staged row has the number of its record in the file."""
        return write_modes.numbers_rows(self.options.mode, self.options.on_clash)

    @property
    def rolls_back(self) -> bool:
        """Whether the table that the chunks load into can roll back."""
        return not cannot_roll_back(self.table.engine)

    @cached_property
    def loaded_into(self) -> Table:
        """The table that the chunks load into."""
        if not self.stages:
            return self.table
        places = PLACE_COLUMNS if self.options.refuses_repeats else ()
        return replace(self.table, name=staging_name(self.job), columns=(*self.table.columns, *places))

    @property
    def stored_behind_triggers(self) -> bool:
        """Whether LOAD DATA may leave stored generated columns as they were before a trigger (MDEV-40480).

        Not in a staging table, which has no triggers: the INSERT of its finishing step is right.
        """
        affected = self.server.mariadb and not self.server.recomputes_behind_triggers
        return affected and not self.stages and bool(self.table.stored_behind_triggers)

    @property
    def columns(self) -> list[str]:
        """The columns that the import fills, from fields or with generated values."""
        return [*(each.column for each in self.mapping if each.column), *(each.column for each in self.fillings)]

    @property
    def staged_fillings(self) -> tuple[GeneratedColumn, ...]:
        """The generated columns, and those of the staging table alone that say where a row of the file is."""
        return (*self.fillings, *(PLACES if self.options.refuses_repeats else ()))

    @property
    def number_or_null(self) -> str:
        """The AUTO_INCREMENT column if a field goes into it that may be NULL, which asks for a number; else ""."""
        marked = [each.column for each in self.mapping if each.column and (self.dialect.null or each.null_markers)]
        columns = [self.table.column(name) for name in marked]
        return next((each.name for each in columns if each.auto_increment), "")

    @property
    def loads_one_at_a_time(self) -> bool:
        """Whether the server runs loads into this table one after another (server-behaviour.md, LOAD DATA LOCAL)."""
        numbered = any(column.auto_increment for column in self.table.columns) and not self.numbers_rows
        return numbered and self.server.number("innodb_autoinc_lock_mode") in (0, 1)
