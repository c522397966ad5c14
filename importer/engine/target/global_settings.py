"""Sets global variables of the server for the duration of a job, on request, and restores them afterwards.

Before a job sets a variable, it records the new and the original value in a table on the target, which is the only
authority. While several jobs have set the same variable, each record has the value from before the first of them, and
the last job to end restores that value.
"""

import re
import time
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
from importer.engine.mysql.variables.global_variables import BUFFER_POOL, SERVER_VARIABLES
from importer.engine.mysql.variables.variable import Value
from importer.engine.schema.table import has_table
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

# Another size of the buffer pool, while MySQL is still giving it the last one, is ignored with this warning
# (server-behaviour.md, Session settings). Seconds to wait for that, and between two attempts.
STILL_RESIZING, RESIZE_WAIT, RESIZE_PAUSE = 3166, 60, 0.1

# A variable and its upper bound. To keep them in order, the servers change the other one along with the one that is
# set, or store another value than was asked for (server-behaviour.md, Session settings).
BOUNDS = (
    ("innodb_io_capacity", "innodb_io_capacity_max"),
    ("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"),
)


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
    """Set each variable to its current value, to test the privilege. Raises TargetProblem with the GRANT if refused, or
    if a value is above the variable's upper bound.
    """
    for name in requested:
        try:
            execute(connection, f"SET GLOBAL {name} = @@GLOBAL.{name}")
        except MySQLdb.Error as error:
            raise _refused(connection, name, server, error) from error
    if said := _out_of_order(connection, requested):
        raise TargetProblem(f"{said}.", advice="Choose values that fit together.", option="server_variables")


def _refused(connection: Connection, name: str, server: Server, error: MySQLdb.Error) -> TargetProblem:
    if error.args[0] in (ER.UNKNOWN_SYSTEM_VARIABLE, ER.INCORRECT_GLOBAL_LOCAL_VAR):
        message = f"The server has no {name} that can be set while it runs."
        return TargetProblem(message, advice="Leave it out.", option="server_variables")
    if error.args[0] != ER.SPECIFIC_ACCESS_DENIED_ERROR:
        message = f"{name} cannot be set: {message_of(error)}"
        return TargetProblem(message, advice="Leave it out.", option="server_variables")
    privilege = SERVER_VARIABLES[name].of_mariadb if server.mariadb else "SYSTEM_VARIABLES_ADMIN"
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
    if not has_table(connection, TABLE):
        execute(connection, CREATE_SQL)
    with _exclusive(connection):
        if said := _out_of_order(connection, wanted):
            raise DeferralRefused(said)
        # Originals first, also of the variable that the server would change along with a wanted one.
        values: dict[str, Value | float] = {**_partners(connection, wanted), **wanted}
        for name, value in values.items():
            _record(connection, job, name, value)
        _set(connection, values)
        for name in values:
            # The server may have rounded the value, so its own is recorded.
            execute(
                connection,
                f"UPDATE {TABLE} SET value = %s, is_set = 1 WHERE job = %s AND name = %s",
                (_current(connection, name), job, name),
            )


def _record(connection: Connection, job: str, name: str, value: Value | float) -> None:
    """Record the wanted and the original value, unless the job has done that."""
    others = [each for each in _entries(connection, name) if not each.restarted]
    if job not in {each.job for each in others}:
        original = others[0].original if others else _current(connection, name)
        execute(
            connection,
            f"REPLACE INTO {TABLE} (job, name, value, original) VALUES (%s, %s, %s, %s)",
            (job, name, str(value), original),
        )


def _partners(connection: Connection, wanted: Mapping[str, Value]) -> dict[str, Value | float]:
    """The variables that bound a wanted one, or are bounded by it, with their present values."""
    names = {other for pair in BOUNDS for name, other in (pair, pair[::-1]) if name in wanted and other not in wanted}
    return {name: _value(_current(connection, name)) for name in sorted(names)}


def _out_of_order(connection: Connection, wanted: Mapping[str, Value]) -> str:
    """The first wanted variable that would be above its upper bound, in words; "" if none is."""
    for low, high in BOUNDS:
        if low in wanted or high in wanted:
            least, most = (wanted.get(each, _current(connection, each)) for each in (low, high))
            if float(least) > float(most):
                return f"{low} = {least} is more than {high} = {most}, which bounds it"
    return ""


def _set(connection: Connection, values: Mapping[str, Value | float]) -> None:
    """Set the variables that have other values, those first that keep each at or below its upper bound."""
    wanted = {name: value for name, value in values.items() if _value(_current(connection, name)) != value}
    later = {low for low, high in BOUNDS if high in wanted and float(wanted[high]) >= float(_current(connection, low))}
    later |= {high for low, high in BOUNDS if low not in later}
    for name in sorted(wanted, key=lambda each: each in later):
        give_up = time.monotonic() + RESIZE_WAIT
        while not _is_set(connection, name, wanted[name]):
            if time.monotonic() > give_up:
                raise DeferralRefused(f"the server is still changing {name} to {_current(connection, name)}")
            time.sleep(RESIZE_PAUSE)


def _is_set(connection: Connection, name: str, value: Value | float) -> bool:
    """Set the variable; False if the server is still busy with its last value."""
    execute(connection, f"SET GLOBAL {name} = %s", (value,))
    warnings = fetch_all(connection, "SHOW WARNINGS") if name == BUFFER_POOL else ()
    return STILL_RESIZING not in {code for _, code, _ in warnings}


def restore(connection: Connection, job: str) -> None:
    """Restore the variables that the job has set, unless another job still needs its value. Idempotent.

    A value that someone else has set since stays, and so do the values that the server started with after a
    restart. The last statement is a commit: if the job had relaxed flushing, this flushes all earlier commits.
    """
    if not has_table(connection, TABLE):
        return
    with _exclusive(connection):
        names = [name for name, _ in _recorded(connection, job)]
        values = {name: value for name in names if (value := _value_without(connection, job, name)) is not None}
        _set(connection, values)
        execute(connection, f"DELETE FROM {TABLE} WHERE job = %s", (job,))


def originals(connection: Connection, job: str) -> dict[str, str]:
    """The original values of the variables that the job has set and that have other values now."""
    if not has_table(connection, TABLE):
        return {}
    return {name: value for name, value in _recorded(connection, job) if _current(connection, name) != value}


def restore_query(database: str, job: str) -> str:
    """The query that gives the statements which restore the job's variables by hand."""
    return (
        "SELECT CONCAT('SET GLOBAL ', name, ' = ', IF(original REGEXP '^[0-9.]+$', original, QUOTE(original)), ';')"
        f" FROM {quote_name(database)}.{TABLE}"
        f" WHERE job = '{job}'"
    )


def _recorded(connection: Connection, job: str) -> list[tuple[str, str]]:
    sql = f"SELECT name, original FROM {TABLE} WHERE job = %s ORDER BY name"
    return [(str(name), str(original)) for name, original in fetch_all(connection, sql, (job,))]


def _value_without(connection: Connection, job: str, name: str) -> Value | float | None:
    """The value that the variable has without the job; None if its present one is not the job's."""
    entries = _entries(connection, name)
    mine = next(each for each in entries if each.job == job)
    others = [each for each in entries if each.job != job and not each.restarted]
    if mine.restarted or (mine.is_set and _current(connection, name) != mine.value):
        return None
    return _value(others[-1].value if others else mine.original)


def _value(text: str) -> Value | float:
    """The value for SET GLOBAL: a number, some with a fraction, or a word."""
    if text.isdigit():
        return int(text)
    return float(text) if re.fullmatch(r"\d+\.\d+", text) else text


def _current(connection: Connection, name: str) -> str:
    return str(fetch_row(connection, f"SELECT @@GLOBAL.{name}")[0])


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
