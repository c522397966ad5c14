"""Creates and drops scratch tables, copies of the user's table for a lab; each is recorded on the target first.

A name is millrace_lab_, the lab's key and the trial's number. A row of millrace_lab in the target's database names the
table that was copied, so that a scratch table can be dropped even if no application knows the lab any more.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import MySQLdb

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.error_messages import explain, is_lost
from importer.engine.mysql.quoting import quote_table
from importer.engine.schema.indexes import ForeignKey, foreign_keys, show_create
from importer.engine.schema.introspection import show_everything
from importer.engine.schema.new_table import partitioning
from importer.engine.schema.table import Table, has_table

TABLE = "millrace_lab"
PREFIX = "millrace_lab_"

CREATE_SQL = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
  schema_name VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL,
  table_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  lab CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  made_like VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  since TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (schema_name, table_name)
) ENGINE=InnoDB COMMENT='Millrace: scratch tables of labs, which may be dropped once their lab has ended'"""

LOCK_WAIT = 30  # seconds that DROP TABLE waits for sessions that still use the table
# A lock of the server (GET_LOCK) under which TABLE is filled and dropped: no lab drops it while another one records.
RECORDS_LOCK = "millrace.lab"


@dataclass(frozen=True)
class ScratchTable:
    """A scratch table: its schema and name, the key (UUID) of its lab, and the table that it is a copy of."""

    schema: str
    name: str
    lab: str
    made_like: str

    @property
    def quoted(self) -> str:
        return quote_table(self.schema, self.name)


def scratch_name(lab: str, trial: int) -> str:
    """The scratch table's name for a lab's key and the number of its trial."""
    return f"{PREFIX}{lab.replace('-', '')}_{trial}"


def record(connection: Connection, scratch: ScratchTable) -> None:
    """Record the table on the target before it is created, and check that the record can be deleted again.

    Raises TargetProblem if the account may not.
    """
    with explain(TABLE), _records_locked(connection):
        if not has_table(connection, TABLE):
            execute(connection, CREATE_SQL)
        _delete_record(connection, scratch)
        execute(
            connection,
            f"INSERT INTO {TABLE} (schema_name, table_name, lab, made_like) VALUES (%s, %s, %s, %s)",
            (scratch.schema, scratch.name, scratch.lab, scratch.made_like),
        )


def drop_empty_records(connection: Connection) -> None:
    """Drop TABLE if it has no record of any lab. It stays where the account may not drop it."""
    with _records_locked(connection) as locked:
        if locked and has_table(connection, TABLE) and not fetch_all(connection, f"SELECT 1 FROM {TABLE} LIMIT 1"):
            with suppress(MySQLdb.OperationalError):
                execute(connection, f"DROP TABLE {TABLE}")


@contextmanager
def _records_locked(connection: Connection) -> Iterator[bool]:
    """Hold RECORDS_LOCK, and return whether it is held: some clusters refuse GET_LOCK. TABLE is then not dropped."""
    try:
        held = fetch_all(connection, "SELECT GET_LOCK(%s, %s)", (RECORDS_LOCK, LOCK_WAIT)) == [(1,)]
    except MySQLdb.Error as error:
        if is_lost(error):
            raise
        held = False
    try:
        yield held
    finally:
        if held:
            fetch_all(connection, "SELECT RELEASE_LOCK(%s)", (RECORDS_LOCK,))


def create(
    connection: Connection,
    scratch: ScratchTable,
    table: Table,
    *,
    partitions: int | None = None,
    with_parents: bool = False,
) -> None:
    """Create an empty table like `table`, with its keys, and with its foreign keys if `with_parents`.

    `partitions` is the number of partitions by hash of the primary key; None keeps those of `table`. Raises
    TargetProblem with the server's message.
    """
    like = quote_table(table.schema, table.name)
    with explain(f"{scratch.schema}.{scratch.name}"):
        copied_keys = foreign_keys(show_create(connection, table.schema, table.name)) if with_parents else ()
        execute(connection, f"CREATE TABLE {scratch.quoted} LIKE {like}")
        if partitions is not None:
            execute(connection, f"ALTER TABLE {scratch.quoted} {_partitioning(table, partitions)}")
        if copied_keys:
            added = ", ".join(f"ADD {_unnamed(each, scratch, table)}" for each in copied_keys)
            execute(connection, f"ALTER TABLE {scratch.quoted} {added}")


def check_partitions(table: Table, *, with_parents: bool = False) -> None:
    """Raise TargetProblem if the table cannot be partitioned by hash of its primary key.

    Each unique key must have all columns of the partitioning (manual, Partitioning Keys, Primary Keys, and Unique
    Keys), and partitioned InnoDB tables have no foreign keys (Partitioning Limitations Relating to Storage Engines).
    """
    key, why = table.primary_key, ""
    if not key:
        why = f"{table.name} has no primary key, by hash of which it could be partitioned."
    elif short := [each.name for each in table.keys if each.unique and not set(key) <= set(each.columns)]:
        why = f"{', '.join(short)} of {table.name} is unique without all columns of its primary key."
    elif with_parents:
        why = f"{table.name} has foreign keys, and a partitioned table can have none."
    if why:
        raise TargetProblem(why, advice="Leave the partitions out of the grid.", option="partitions")


def _partitioning(table: Table, partitions: int) -> str:
    check_partitions(table)
    key = table.primary_key
    return partitioning(key, [table.column(name).type for name in key], partitions)


def _unnamed(key: ForeignKey, scratch: ScratchTable, table: Table) -> str:
    """The foreign key's definition for the scratch table, without its name, which must be unique in a schema.

    The parent table is qualified with its schema. A key that refers to its own table refers to the scratch table.
    """
    _, _, definition = key.sql.partition(" FOREIGN KEY ")
    parent = key.parent_of(table.schema)
    if parent == quote_table(table.schema, table.name):
        parent = scratch.quoted
    return f"FOREIGN KEY {definition.replace(f'REFERENCES {key.parent} ', f'REFERENCES {parent} ', 1)}"


def table_bytes(connection: Connection, scratch: ScratchTable) -> int:
    """The size of the table, rows and keys, on the target's disk in bytes, by freshly computed statistics."""
    with explain(str(scratch.name)):
        fetch_all(connection, f"ANALYZE LOCAL TABLE {scratch.quoted}")
        show_everything(connection)
        rows = fetch_all(
            connection,
            "SELECT DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
            (scratch.schema, scratch.name),
        )
    return int(rows[0][0] or 0) if rows else 0


def drop(connection: Connection, scratches: Iterable[ScratchTable]) -> None:
    """Drop the tables that exist, each with its record afterwards; waits up to LOCK_WAIT for an open load.

    Raises TargetProblem with the server's message; tables that are not dropped keep their record.
    """
    execute(connection, f"SET SESSION lock_wait_timeout = {LOCK_WAIT}")
    for scratch in scratches:
        with explain(f"{scratch.schema}.{scratch.name}"):
            execute(connection, f"DROP TABLE IF EXISTS {scratch.quoted}")
            _delete_record(connection, scratch)


def list_records(connection: Connection, lab: str = "") -> list[ScratchTable]:
    """The scratch tables that are recorded and not dropped yet, of the lab with this key, or of all labs.

    The latest come first, so that a table with foreign keys comes before its parents.
    """
    if not has_table(connection, TABLE):
        return []
    sql, args = f"SELECT schema_name, table_name, lab, made_like FROM {TABLE}", (lab,) if lab else ()
    rows = fetch_all(connection, f"{sql}{' WHERE lab = %s' if lab else ''} ORDER BY since DESC, table_name DESC", args)
    # A forged record must not lead to the loss of a table that is not a scratch table.
    return [ScratchTable(*row) for row in rows if row[1] == f"{PREFIX}{row[2].replace('-', '')}_{_number(row[1])}"]


def _delete_record(connection: Connection, scratch: ScratchTable) -> None:
    sql = f"DELETE FROM {TABLE} WHERE schema_name = %s AND table_name = %s"
    execute(connection, sql, (scratch.schema, scratch.name))


def _number(name: str) -> str:
    number = name.rpartition("_")[2]
    return number if number.isdigit() else "?"
