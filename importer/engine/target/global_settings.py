"""Sets global variables of the server for the duration of a job, on request, and restores them afterwards.

Before a job sets a variable, it records the new and the original value in a table on the target, which is the only
authority. While several jobs have set the same variable, each record has the value from before the first of them, and
the last job to end restores that value.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all, fetch_row
from importer.engine.mysql.error_messages import is_lost, message_of
from importer.engine.mysql.quoting import quote_name
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.variables import Value
from importer.engine.target.privileges import account
from importer.engine.target.temporary_changes import DeferralRefused

TABLE = "millrace_variables"
CREATE_SQL = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
  job CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(64) CHARACTER SET ascii NOT NULL,
  value VARCHAR(64) CHARACTER SET ascii NOT NULL,
  original VARCHAR(64) CHARACTER SET ascii NOT NULL,
  is_set TINYINT NOT NULL DEFAULT 0,
  since TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (job, name)
) ENGINE=InnoDB COMMENT='Millrace: variables that imports have set for their time, and their values before'"""

# Lock on the whole server: one job at a time reads and sets variables (manual, Locking Functions). Wait in seconds.
LOCK, LOCK_WAIT = "millrace_variables", 30


@dataclass(frozen=True)
class _Entry:
    """A row of TABLE: a variable that a job sets. `is_set` is False until the server is known to have accepted it.

    `restarted`: the server has started since the entry was written.
    """

    schema: str
    job: str
    name: str
    value: str
    original: str
    is_set: bool
    restarted: bool


def check_global_variables(connection: Connection, requested: Mapping[str, Value], server: Server) -> None:
    """Set each variable to its current value, to test the privilege. Raises TargetProblem with the GRANT if refused."""
    for name in requested:
        try:
            execute(connection, f"SET GLOBAL {name} = @@GLOBAL.{name}")
        except MySQLdb.Error as error:
            raise _refused(connection, name, server, error) from error


def _refused(connection: Connection, name: str, server: Server, error: MySQLdb.Error) -> TargetProblem:
    if error.args[0] in (ER.UNKNOWN_SYSTEM_VARIABLE, ER.INCORRECT_GLOBAL_LOCAL_VAR):
        message = f"The server has no {name} that can be set while it runs."
        return TargetProblem(message, advice="Leave it out.", option="server_variables")
    if error.args[0] != ER.SPECIFIC_ACCESS_DENIED_ERROR:
        message = f"{name} cannot be set: {message_of(error)}"
        return TargetProblem(message, advice="Leave it out.", option="server_variables")
    privilege = "SYSTEM_VARIABLES_ADMIN"
    if server.mariadb:
        privilege = "BINLOG ADMIN" if name in ("sync_binlog", "binlog_cache_size") else "SUPER"
    return TargetProblem(
        f"The account may not set {name} for the server.",
        advice=f"GRANT {privilege} ON *.* TO {account(connection)}; or leave it out.",
        option="server_variables",
    )


def set_for_job(connection: Connection, job: str, wanted: Mapping[str, Value]) -> None:
    """Record the original values, then set the wanted ones. Idempotent.

    Raises DeferralRefused if the server refuses; some of the variables may be set then.
    """
    if not wanted:
        return
    try:
        _set_for(connection, job, wanted)
    except MySQLdb.OperationalError as error:
        if is_lost(error):
            raise
        raise DeferralRefused(f"the server did not let {' and '.join(wanted)} be set: {message_of(error)}") from error


def _set_for(connection: Connection, job: str, wanted: Mapping[str, Value]) -> None:
    if not _table_exists(connection):
        execute(connection, CREATE_SQL)
    with _exclusive(connection):
        for name, value in wanted.items():
            entries = _entries(connection, name)
            others = [each for each in entries if not each.restarted]
            if job not in {each.job for each in others}:
                original = others[0].original if others else _current(connection, name)
                execute(
                    connection,
                    f"REPLACE INTO {TABLE} (job, name, value, original) VALUES (%s, %s, %s, %s)",
                    (job, name, str(value), original),
                )
            execute(connection, f"SET GLOBAL {name} = %s", (value,))
            # The server may have rounded the value, so its own is recorded.
            execute(
                connection,
                f"UPDATE {TABLE} SET value = %s, is_set = 1 WHERE job = %s AND name = %s",
                (_current(connection, name), job, name),
            )


def restore(connection: Connection, job: str) -> None:
    """Restore the variables that the job has set, unless another job still needs its value. Idempotent.

    A value that someone else has set since stays, and so do the values that the server started with after a
    restart. The last statement is a commit: if the job had relaxed flushing, this flushes all earlier commits.
    """
    if not _table_exists(connection):
        return
    with _exclusive(connection):
        names = fetch_all(connection, f"SELECT name FROM {TABLE} WHERE job = %s ORDER BY name", (job,))
        for (name,) in names:
            entries = _entries(connection, name)
            mine = next(each for each in entries if each.job == job)
            _restore_variable(connection, mine, [each for each in entries if each.job != job and not each.restarted])
            execute(connection, f"DELETE FROM {TABLE} WHERE job = %s AND name = %s", (job, name))


def _restore_variable(connection: Connection, mine: _Entry, others: list[_Entry]) -> None:
    current, restored = _current(connection, mine.name), others[-1].value if others else mine.original
    if mine.restarted or current == restored or (mine.is_set and current != mine.value):
        return
    # All of these variables are numbers, some with a fraction.
    execute(connection, f"SET GLOBAL {mine.name} = %s", (float(restored) if "." in restored else int(restored),))


def _current(connection: Connection, name: str) -> str:
    return str(fetch_row(connection, f"SELECT @@GLOBAL.{name}")[0])


def _table_exists(connection: Connection) -> bool:
    sql = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s"
    return bool(fetch_all(connection, sql, (TABLE,)))


def _entries(connection: Connection, name: str) -> list[_Entry]:
    """The records of all jobs about a variable, oldest first, from every database that the account may read.

    Entries from before the server's start are marked `restarted`: SET GLOBAL does not survive a restart.
    """
    uptime = int(fetch_row(connection, "SHOW GLOBAL STATUS LIKE 'Uptime'")[1])
    sql = "SELECT TABLE_SCHEMA FROM information_schema.TABLES WHERE TABLE_NAME = %s"
    by_age: list[tuple[int, _Entry]] = []
    for (schema,) in fetch_all(connection, sql, (TABLE,)):
        rows = fetch_all(
            connection,
            "SELECT job, value, original, is_set, TIMESTAMPDIFF(SECOND, since, NOW())"
            f" FROM {quote_name(schema)}.{TABLE} WHERE name = %s",
            (name,),
        )
        for job, value, original, is_set, age in rows:
            entry = _Entry(schema, job, name, value, original, bool(is_set), int(age) > uptime + 1)
            by_age.append((-int(age), entry))
    return [entry for _, entry in sorted(by_age, key=lambda each: each[0])]


@contextmanager
def _exclusive(connection: Connection) -> Iterator[None]:
    if fetch_all(connection, "SELECT GET_LOCK(%s, %s)", (LOCK, LOCK_WAIT)) != [(1,)]:
        raise TargetProblem("Another import is setting variables of the server.", retryable=True)
    try:
        yield
    finally:
        fetch_all(connection, "SELECT RELEASE_LOCK(%s)", (LOCK,))
