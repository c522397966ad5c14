"""Makes and reverses the changes on the target for the duration of a job: dropped keys and foreign keys, and global
variables (global_settings.py).

Changes are recorded before they are made, also in a table on the target, so that they can be reversed even if the
application's own data is lost.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import MySQLdb
from MySQLdb.constants import ER

from importer.engine import failpoints
from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, Connection, execute, fetch_all
from importer.engine.mysql.error_messages import is_lost, message_of
from importer.engine.mysql.variables.variable import Value
from importer.engine.schema import alter_table, indexes
from importer.engine.schema.alter_table import OnDdlProgress
from importer.engine.schema.indexes import ForeignKey, KeyDefinition, Kind
from importer.engine.schema.table import has_table
from importer.engine.stored import from_json, to_json

TABLE = "millrace_arrangement"

CREATE_SQL = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
  job CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  table_name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  restore_sql LONGTEXT CHARACTER SET utf8mb4 NOT NULL,
  as_json LONGTEXT CHARACTER SET utf8mb4 NOT NULL,
  since TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (job)
) ENGINE=InnoDB COMMENT='Millrace: what imports have changed for their time, and how to put it back'"""

# Seconds that ALTER TABLE waits for a lock. All other sessions wait behind it, so it gives up: the change is not made,
# or its reversal is tried again later.
LOCK_WAIT = 5
RESTORE_LOCK_WAIT = 30


@dataclass(frozen=True)
class TemporaryChanges:
    """The keys and foreign keys that are dropped for a job, with the definitions to restore; and global variables."""

    schema: str
    table: str
    keys: tuple[KeyDefinition, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    # Set on the whole server by global_settings.py, which records the original values.
    variables: dict[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.keys or self.foreign_keys or self.variables)

    @property
    def alters_table(self) -> bool:
        """Whether keys or foreign keys of the table are dropped."""
        return bool(self.keys or self.foreign_keys)

    @property
    def description(self) -> str:
        """The number of changes in words: `2 indexes and 1 foreign key`."""
        counted = (
            (len(self.keys), "index", "indexes"),
            (len(self.foreign_keys), "foreign key", "foreign keys"),
            (len(self.variables), "server variable", "server variables"),
        )
        return " and ".join(f"{count} {one if count == 1 else many}" for count, one, many in counted if count)

    @property
    def names(self) -> str:
        """The names of the changes, in the order of `description`."""
        return ", ".join((*(each.name for each in (*self.keys, *self.foreign_keys)), *self.variables))

    @property
    def restore_sql(self) -> tuple[str, ...]:
        """The statements that restore keys and foreign keys, also for a manual restore."""
        keys = [indexes.add_statement(self.schema, self.table, self.keys)] if self.keys else []
        foreign = [indexes.add_statement(self.schema, self.table, self.foreign_keys)] if self.foreign_keys else []
        return (*keys, *foreign)


class DeferralRefused(TargetProblem):
    """The planned change cannot be made; the load continues without it. `what` is the reason."""


@dataclass(frozen=True)
class ChangeRecord:
    """A row of TABLE on the target: a job's temporary changes, and the SQL that reverses them."""

    job: str
    table: str
    restore_sql: str
    changes: TemporaryChanges


def confirm(connection: Connection, planned: TemporaryChanges) -> TemporaryChanges:
    """Check the planned changes against the table as it is now, and return them.

    Raises DeferralRefused if the table has rows by now or its keys are no longer the planned ones.
    """
    if not planned.alters_table:
        return planned
    if not indexes.is_empty(connection, planned.schema, planned.table):
        raise DeferralRefused("rows have come into the table since it was planned")
    now = indexes.read_indexes(connection, planned.schema, planned.table)
    present = replace(
        planned,
        keys=_unchanged(now.keys, planned.keys),
        foreign_keys=_unchanged(now.foreign_keys, planned.foreign_keys),
    )
    if present != planned:
        raise DeferralRefused("its keys are no longer as they were when it was planned")
    return present


def record(connection: Connection, job: str, changes: TemporaryChanges) -> None:
    """Record the changes on the target before they are made, and check that the record can be deleted again.

    Raises DeferralRefused with the server's message if the account may not.
    """
    try:
        if not exists(connection):
            execute(connection, CREATE_SQL)
        delete_record(connection, job)
        execute(
            connection,
            f"INSERT INTO {TABLE} (job, table_name, restore_sql, as_json) VALUES (%s, %s, %s, %s)",
            (
                job,
                f"{changes.schema}.{changes.table}",
                "".join(f"{each};\n" for each in changes.restore_sql),
                json.dumps(to_json(changes)),
            ),
        )
    except MySQLdb.OperationalError as error:
        if is_lost(error):
            raise
        raise DeferralRefused(f"it could not be recorded in {TABLE} on the server: {message_of(error)}") from error


def apply(connection: Connection, changes: TemporaryChanges) -> None:
    """Drop the keys and foreign keys that are still there.

    Raises DeferralRefused if the server refuses; nothing is changed then.
    """
    from importer.engine.schema.foreign_keys import check_foreign_keys, rehearse_foreign_keys

    if not changes.alters_table:
        return
    execute(connection, f"SET SESSION lock_wait_timeout = {LOCK_WAIT}")
    now = indexes.read_indexes(connection, changes.schema, changes.table)
    keys = _existing(now.keys, changes.keys)
    foreign_keys = _existing(now.foreign_keys, changes.foreign_keys)
    if not keys and not foreign_keys:
        return
    try:
        if foreign_keys:
            rehearse_foreign_keys(connection, changes.schema, changes.table, foreign_keys)
            # An empty table has no bad rows; this tests that the query of the end is allowed.
            check_foreign_keys(connection, changes.schema, changes.table, foreign_keys)
        execute(connection, indexes.drop_statement(changes.schema, changes.table, keys, foreign_keys))
    except MySQLdb.Error as error:
        if is_lost(error):
            raise
        raise DeferralRefused(f"the server refused to drop them: {message_of(error)}") from error


def restore(
    connection: Connection, address: Address, changes: TemporaryChanges, on_stage: OnDdlProgress = lambda _: None
) -> bool:
    """Restore the keys and foreign keys that are missing. Idempotent. `on_stage` is called from another thread.

    Returns False if the table no longer exists, so that there is nothing to restore. Raises the server's errors.
    """
    if not changes.alters_table:
        return True
    schema, table = changes.schema, changes.table
    execute(connection, f"SET SESSION lock_wait_timeout = {RESTORE_LOCK_WAIT}")
    try:
        now = indexes.read_indexes(connection, schema, table)
    except MySQLdb.Error as error:
        if error.args[0] == ER.NO_SUCH_TABLE:
            return False
        raise
    if keys := indexes.missing_definitions(now.keys, changes.keys):
        alter_table.alter_with_progress(connection, address, indexes.add_statement(schema, table, keys), on_stage)
    failpoints.reach("restore.keys")
    if missing := indexes.missing_definitions(now.foreign_keys, changes.foreign_keys):
        # Without checking the rows, which would copy the whole table (manual, Online DDL Operations). The caller checks
        # them next.
        execute(connection, "SET SESSION foreign_key_checks = 0")
        alter_table.alter_with_progress(connection, address, indexes.add_statement(schema, table, missing), on_stage)
    return True


def delete_record(connection: Connection, job: str) -> None:
    """Delete the job's record on the target, once all of its changes are reversed."""
    if exists(connection):
        execute(connection, f"DELETE FROM {TABLE} WHERE job = %s", (job,))


def exists(connection: Connection) -> bool:
    """Whether TABLE, which has the records, exists."""
    return has_table(connection, TABLE)


def list_records(connection: Connection) -> list[ChangeRecord]:
    """The records of changes that are not reversed yet, of all jobs, oldest first."""
    if not exists(connection):
        return []
    rows = fetch_all(connection, f"SELECT job, table_name, restore_sql, as_json FROM {TABLE} ORDER BY since, job")
    return [
        ChangeRecord(job, table, sql, from_json(TemporaryChanges, json.loads(values)))
        for job, table, sql, values in rows
    ]


def _unchanged(present: tuple[Any, ...], planned: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each for each in planned if each in present)


def _existing(present: Sequence[KeyDefinition], wanted: tuple[Kind, ...]) -> tuple[Kind, ...]:
    names = {each.name.lower() for each in present}
    return tuple(each for each in wanted if each.name.lower() in names)
