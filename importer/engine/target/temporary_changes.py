"""What is changed on the target for the time of a job and put back whatever happens: keys and foreign keys off a table,
and variables of the server (server_variables.py).

It is written down first, in a table on the target too, so that it can be put back even if everything of ours is lost.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, Connection, execute, fetch_all
from importer.engine.mysql.error_messages import is_lost
from importer.engine.mysql.variables import Value
from importer.engine.schema import alter_table, indexes
from importer.engine.schema.alter_table import OnDdlProgress
from importer.engine.schema.foreign_keys import check_rows, rehearse
from importer.engine.schema.indexes import ForeignKey, KeyDefinition, Kind
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

# Everybody who comes to the table waits behind an ALTER TABLE that waits itself: better not now, or again later.
LOCK_WAIT = 5  # seconds
RESTORE_LOCK_WAIT = 30  # seconds


@dataclass(frozen=True)
class TemporaryChanges:
    """What is off the table for the time of a job, exactly as it comes back."""

    schema: str
    table: str
    keys: tuple[KeyDefinition, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    # Set for the whole server: server_variables.py, which writes down the values before.
    variables: dict[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.keys or self.foreign_keys or self.variables)

    @property
    def alters_table(self) -> bool:
        """Whether it changes the table itself."""
        return bool(self.keys or self.foreign_keys)

    @property
    def description(self) -> str:
        """What it is about, for people: `2 indexes and 1 foreign key`."""
        counted = (
            (len(self.keys), "index", "indexes"),
            (len(self.foreign_keys), "foreign key", "foreign keys"),
            (len(self.variables), "server variable", "server variables"),
        )
        return " and ".join(f"{count} {one if count == 1 else many}" for count, one, many in counted if count)

    @property
    def restore_sql(self) -> tuple[str, ...]:
        """The statements that put everything back, for anybody who has to do it by hand."""
        keys = [indexes.add_statement(self.schema, self.table, self.keys)] if self.keys else []
        foreign = [indexes.add_statement(self.schema, self.table, self.foreign_keys)] if self.foreign_keys else []
        return (*keys, *foreign)


class DeferralRefused(TargetProblem):
    """What was planned to be changed stays as it is, and the load goes on; `what` is the reason."""


@dataclass(frozen=True)
class ChangeRecord:
    """A row of the table on the target: which job has changed something for its time, and the way back."""

    job: str
    table: str
    restore_sql: str
    changes: TemporaryChanges


def confirm(connection: Connection, planned: TemporaryChanges) -> TemporaryChanges:
    """What there is to be changed of what was planned, as it stands now. Raises NotNow if it would no longer do."""
    if not planned.alters_table:
        return planned
    if not indexes.is_empty(connection, planned.schema, planned.table):
        raise DeferralRefused("rows have come into the table since it was planned")
    now = indexes.read_indexes(connection, planned.schema, planned.table)
    settled = replace(
        planned,
        keys=_still(now.keys, planned.keys),
        foreign_keys=_still(now.foreign_keys, planned.foreign_keys),
    )
    if settled != planned:
        raise DeferralRefused("its keys are no longer as they were planned for")
    return settled


def record(connection: Connection, job: str, changes: TemporaryChanges) -> None:
    """Keep it on the target, before anything is changed; made sure that it can be deleted again.

    Raises NotNow with the cure if the account may not.
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
        raise DeferralRefused(f"it could not be written down in {TABLE} on the server: {error.args[-1]}") from error


def apply(connection: Connection, changes: TemporaryChanges) -> None:
    """Make the changes that are not made yet. Raises NotNow if the server does not let us: nothing is changed then."""
    if not changes.alters_table:
        return
    execute(connection, f"SET SESSION lock_wait_timeout = {LOCK_WAIT}")
    now = indexes.read_indexes(connection, changes.schema, changes.table)
    keys = _there(now.keys, changes.keys)
    foreign_keys = _there(now.foreign_keys, changes.foreign_keys)
    if not keys and not foreign_keys:
        return
    try:
        if foreign_keys:
            rehearse(connection, changes.schema, changes.table, foreign_keys)
            # Nothing is found in an empty table; but this is what must be possible at the end.
            check_rows(connection, changes.schema, changes.table, foreign_keys)
        execute(connection, indexes.drop_statement(changes.schema, changes.table, keys, foreign_keys))
    except MySQLdb.Error as error:
        if is_lost(error):
            raise
        raise DeferralRefused(f"the server did not let them be taken off: {error.args[-1]}") from error


def restore(
    connection: Connection, address: Address, changes: TemporaryChanges, on_stage: OnDdlProgress = lambda _: None
) -> bool:
    """Put back what is missing, however often it is asked for; `on_stage` follows it from another thread.

    False: the table is not there any more, so there is nothing to put back. Raises what the server says.
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
    if keys := indexes.without(now.keys, changes.keys):
        alter_table.alter_with_progress(connection, address, indexes.add_statement(schema, table, keys), on_stage)
    if missing := indexes.without(now.foreign_keys, changes.foreign_keys):
        # Without a look at the rows, which would copy the whole table (manual, Online DDL Operations): that comes next.
        execute(connection, "SET SESSION foreign_key_checks = 0")
        alter_table.alter_with_progress(connection, address, indexes.add_statement(schema, table, missing), on_stage)
    return True


def delete_record(connection: Connection, job: str) -> None:
    """Everything is put back: nothing need be kept on the target any more."""
    if exists(connection):
        execute(connection, f"DELETE FROM {TABLE} WHERE job = %s", (job,))


def exists(connection: Connection) -> bool:
    """Whether the table that it is written down in is there."""
    found = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
        (TABLE,),
    )
    return bool(found)


def list_records(connection: Connection) -> list[ChangeRecord]:
    """What jobs have written down on the target and not yet put back."""
    if not exists(connection):
        return []
    rows = fetch_all(connection, f"SELECT job, table_name, restore_sql, as_json FROM {TABLE} ORDER BY since, job")
    return [
        ChangeRecord(job, table, sql, from_json(TemporaryChanges, json.loads(values)))
        for job, table, sql, values in rows
    ]


def _still(present: tuple[Any, ...], planned: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each for each in planned if each in present)


def _there(present: Sequence[KeyDefinition], wanted: tuple[Kind, ...]) -> tuple[Kind, ...]:
    names = {each.name.lower() for each in present}
    return tuple(each for each in wanted if each.name.lower() in names)
