"""Variables of the whole server, set for the time of a job where that was asked for, and put back whatever happens.

Each job writes down what it sets, and what the value was, before it sets it: in a table on the target, which decides.
While several jobs have set one variable, all of them know the value from before the first; the last one puts it back.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.error_messages import is_lost
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

# One job at a time reads and sets them, on the whole server (manual, Locking Functions).
LOCK, LOCK_WAIT = "millrace_variables", 30


@dataclass(frozen=True)
class _Entry:
    """A row of the table: what a job has set. `is_set` is False until the server is known to have taken it."""

    schema: str
    job: str
    name: str
    value: str
    original: str
    is_set: bool
    restarted: bool


def check_global_variables(connection: Connection, asked: Mapping[str, Value], server: Server) -> None:
    """Set each to the value it has, to see whether the account may. Raises TargetProblem, with the GRANT if not."""
    for name in asked:
        try:
            execute(connection, f"SET GLOBAL {name} = @@GLOBAL.{name}")
        except MySQLdb.Error as error:
            raise _refused(connection, name, server, error) from error


def _refused(connection: Connection, name: str, server: Server, error: MySQLdb.Error) -> TargetProblem:
    if error.args[0] in (ER.UNKNOWN_SYSTEM_VARIABLE, ER.INCORRECT_GLOBAL_LOCAL_VAR):
        said = f"The server has no {name} that can be set while it runs."
        return TargetProblem(said, advice="Leave it out.", option="server_variables")
    if error.args[0] != ER.SPECIFIC_ACCESS_DENIED_ERROR:
        said = f"{name} cannot be set: {error.args[-1]}"
        return TargetProblem(said, advice="Leave it out.", option="server_variables")
    right = "SYSTEM_VARIABLES_ADMIN"
    if server.mariadb:
        right = "BINLOG ADMIN" if name in ("sync_binlog", "binlog_cache_size") else "SUPER"
    return TargetProblem(
        f"The account may not set {name} for the server.",
        advice=f"GRANT {right} ON *.* TO {account(connection)}; or leave it out.",
        option="server_variables",
    )


def set_for_job(connection: Connection, job: str, wanted: Mapping[str, Value]) -> None:
    """Write down what is there, then set what is wanted; doing it twice is harmless.

    Raises NotNow if the server does not let us; some may be set then.
    """
    if not wanted:
        return
    try:
        _set_for(connection, job, wanted)
    except MySQLdb.OperationalError as error:
        if is_lost(error):
            raise
        raise DeferralRefused(f"the server did not let {' and '.join(wanted)} be set: {error.args[-1]}") from error


def _set_for(connection: Connection, job: str, wanted: Mapping[str, Value]) -> None:
    if not _is_here(connection):
        execute(connection, CREATE_SQL)
    with _alone(connection):
        for name, value in wanted.items():
            entries = _entries(connection, name)
            others = [each for each in entries if not each.restarted]
            if job not in {each.job for each in others}:
                original = others[0].original if others else _now(connection, name)
                execute(
                    connection,
                    f"REPLACE INTO {TABLE} (job, name, value, original) VALUES (%s, %s, %s, %s)",
                    (job, name, str(value), original),
                )
            execute(connection, f"SET GLOBAL {name} = %s", (value,))
            # As the server has it: it may have rounded.
            execute(
                connection,
                f"UPDATE {TABLE} SET value = %s, is_set = 1 WHERE job = %s AND name = %s",
                (_now(connection, name), job, name),
            )


def restore(connection: Connection, job: str) -> None:
    """Put back what the job has set, unless another job still needs it; doing it twice is harmless.

    A value that somebody has set meanwhile stays, and so does what a server has started with after a restart. The last
    thing is a commit, which makes all earlier ones last, if that was what had been put off.
    """
    if not _is_here(connection):
        return
    with _alone(connection):
        names = fetch_all(connection, f"SELECT name FROM {TABLE} WHERE job = %s ORDER BY name", (job,))
        for (name,) in names:
            entries = _entries(connection, name)
            mine = next(each for each in entries if each.job == job)
            _put_back_one(connection, mine, [each for each in entries if each.job != job and not each.restarted])
            execute(connection, f"DELETE FROM {TABLE} WHERE job = %s AND name = %s", (job, name))


def _put_back_one(connection: Connection, mine: _Entry, others: list[_Entry]) -> None:
    now, good = _now(connection, mine.name), others[-1].value if others else mine.original
    if mine.restarted or now == good or (mine.is_set and now != mine.value):
        return
    # Every variable here is a number, some with a fraction.
    execute(connection, f"SET GLOBAL {mine.name} = %s", (float(good) if "." in good else int(good),))


def _now(connection: Connection, name: str) -> str:
    return str(fetch_all(connection, f"SELECT @@GLOBAL.{name}")[0][0])


def _is_here(connection: Connection) -> bool:
    sql = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s"
    return bool(fetch_all(connection, sql, (TABLE,)))


def _entries(connection: Connection, name: str) -> list[_Entry]:
    """What jobs have written down about a variable, oldest first; in every database that the account may look into.

    An entry from before the server's start is void: SET GLOBAL does not outlive it.
    """
    uptime = int(fetch_all(connection, "SHOW GLOBAL STATUS LIKE 'Uptime'")[0][1])
    sql = "SELECT TABLE_SCHEMA FROM information_schema.TABLES WHERE TABLE_NAME = %s"
    found: list[tuple[int, _Entry]] = []
    for (schema,) in fetch_all(connection, sql, (TABLE,)):
        rows = fetch_all(
            connection,
            "SELECT job, value, original, is_set, TIMESTAMPDIFF(SECOND, since, NOW())"
            f" FROM {quote_name(schema)}.{TABLE} WHERE name = %s",
            (name,),
        )
        for job, value, original, is_set, age in rows:
            entry = _Entry(schema, job, name, value, original, bool(is_set), int(age) > uptime + 1)
            found.append((-int(age), entry))
    return [entry for _, entry in sorted(found, key=lambda each: each[0])]


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    if fetch_all(connection, "SELECT GET_LOCK(%s, %s)", (LOCK, LOCK_WAIT)) != [(1,)]:
        raise TargetProblem("Another import is setting variables of the server.", retryable=True)
    try:
        yield
    finally:
        fetch_all(connection, "SELECT RELEASE_LOCK(%s)", (LOCK,))
