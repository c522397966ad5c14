"""What another session does while workers are held: to the ledger, to a table or its staging table, to the file."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.load.ledger import FINISH, FIRST_SEAL, TABLE
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from tests.stack import wait_until

Row = tuple[int, str, int, int]
OLDER = "older_ledger"
LIKE = "CREATE TABLE another_{table} LIKE {table}"
ADDED: Row = (-1000, "another", 0, 0)
WAITING = """SELECT COUNT(DISTINCT ID) FROM information_schema.PROCESSLIST
  LEFT JOIN information_schema.INNODB_TRX ON trx_mysql_thread_id = ID
  WHERE DB = %s AND INFO IS NOT NULL AND (STATE LIKE 'Waiting%%' OR trx_state = 'LOCK WAIT')"""


@dataclass(frozen=True)
class Action:
    """Statements, in which {table} and {staging} are filled in, or a change of the file.

    It takes the rows from `takes` up to another number out of the table that are there, and adds `adds`. `notice`: the
    kind of change that the report names if the import survives it, and how many rows and bytes.
    """

    statements: tuple[str, ...] = ()
    of_file: Callable[[Path], None] | None = None
    takes: range = range(0)
    adds: tuple[Row, ...] = ()
    notice: tuple[str, int, int] = ("", 0, 0)

    def applied(self, rows: list[Row]) -> list[Row]:
        """The rows of a table that had these."""
        return [*(row for row in rows if row[0] not in self.takes), *self.adds]


def append(path: Path) -> None:
    with path.open("a") as out:
        out.write('9999,"more",0,0\n')


def edit(path: Path) -> None:
    """Its last row; size and time of modification stay."""
    before = path.stat()
    with path.open("r+b") as out:
        out.seek(before.st_size - 2)
        out.write(b"7")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b"x", b"y"))
    other.replace(path)


CHANGED = ("changed", 0, 0)
EVERYTHING, ALTERED = range(-1000, 10_000), ("altered", 0, 0)
EXCHANGED = (LIKE, "RENAME TABLE {table} TO old_{table}, another_{table} TO {table}")
CREATED_AGAIN = (LIKE, "DROP TABLE {table}", "RENAME TABLE another_{table} TO {table}")
ACTIONS = {
    "ledger: all deleted": Action((f"DELETE FROM {TABLE}",)),
    "ledger: older deleted": Action(
        (f"DELETE FROM {TABLE} WHERE chunk = 0 OR chunk BETWEEN {FIRST_SEAL} AND {FINISH - 1}",)
    ),
    "ledger: one deleted": Action((f"DELETE FROM {TABLE} WHERE chunk = 0",)),
    "ledger: truncated": Action((f"TRUNCATE TABLE {TABLE}",)),
    "ledger: dropped": Action((f"DROP TABLE {TABLE}",)),
    "ledger: renamed": Action((f"RENAME TABLE {TABLE} TO renamed_ledger",)),
    "ledger: older copy": Action((f"RENAME TABLE {TABLE} TO renamed_ledger, {OLDER} TO {TABLE}",)),
    "table: truncated": Action(("TRUNCATE TABLE {table}",), takes=EVERYTHING, notice=ALTERED),
    "table: exchanged": Action(EXCHANGED, takes=EVERYTHING, notice=ALTERED),
    "table: created again": Action(CREATED_AGAIN, takes=EVERYTHING, notice=ALTERED),
    "table: column added": Action(("ALTER TABLE {table} ADD extra INT",)),
    "table: type changed": Action(("ALTER TABLE {table} MODIFY amount BIGINT",), notice=ALTERED),
    "table: rows deleted": Action(("DELETE FROM {table} WHERE n IN (0, 1)",), takes=range(2), notice=("rows", -2, 0)),
    "table: row added": Action(
        (f"INSERT INTO {{table}} (n, word, amount, p) VALUES {ADDED}",), adds=(ADDED,), notice=("rows", 1, 0)
    ),
    "staging: dropped": Action(("DROP TABLE {staging}",)),
    "staging: truncated": Action(("TRUNCATE TABLE {staging}",)),
    "file: appended": Action(of_file=append, notice=("grown", 0, 16)),
    "file: edited": Action(of_file=edit, notice=CHANGED),
    "file: cut": Action(of_file=cut, notice=CHANGED),
    "file: replaced": Action(of_file=replace, notice=CHANGED),
}


def copy_ledger(address: Address) -> None:
    """Make the older copy that an action puts in place of the ledger."""
    with connect(address) as connection:
        execute(connection, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")  # Waits for no open transaction.
        execute(connection, f"CREATE TABLE {OLDER} LIKE {TABLE}")
        execute(connection, f"INSERT INTO {OLDER} SELECT * FROM {TABLE}")


@contextmanager
def acting(action: Action, address: Address, tables: dict[str, str], file: Path) -> Iterator[None]:
    """Act on the file, or on these tables, each with its staging table; all is done at the end of the context.

    In the context, what must wait for the transaction of a held worker waits.
    """
    if action.of_file:
        action.of_file(file)
    statements = {tuple(each.format(table=name, staging=tables[name]) for each in action.statements) for name in tables}
    with ThreadPoolExecutor(len(statements)) as pool:
        running = [pool.submit(_run, address, each) for each in statements]
        with connect(address) as connection:
            wait_until(
                lambda: (
                    sum(not each.done() for each in running)
                    <= fetch_all(connection, WAITING, (address.database,))[0][0]
                ),
                what="that the action is done, or waits",
            )
        yield
    for each in running:
        each.result()


def _run(address: Address, statements: tuple[str, ...]) -> None:
    with connect(address) as connection:
        for statement in statements:
            while not _is_done(connection, statement):
                """It and a worker waited for each other, and the server has ended this one."""


def _is_done(connection: Connection, statement: str) -> bool:
    try:
        execute(connection, statement)
    except MySQLdb.OperationalError as error:
        if error.args[0] != ER.LOCK_DEADLOCK:
            raise
        return False
    return True
