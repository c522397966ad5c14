"""Checks the session settings of an import by setting them in one session."""

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import ISOLATION, Connection, execute, fetch_row
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.variables.variable import Value
from importer.engine.plan.plan import ImportPlan
from importer.engine.target.privileges import account, grant, has_privilege


def check_session(connection: Connection, plan: ImportPlan, server: Server) -> None:
    """Set the plan's variables in this session, and check the privilege LOCK TABLES if the plan needs it.

    The session must not be used afterwards. Raises TargetProblem, with the GRANT if a privilege is missing.
    """
    if plan.lock_table:
        _check_lock(connection, plan.schema)
    for name, value in plan.session.items():
        if name != ISOLATION:
            _try(connection, name, value, server)
    if plan.session.get("sql_log_bin") == 0 and not ledger.exists(connection):
        raise TargetProblem(
            f"There is no table {ledger.TABLE} yet, and replicas would not get it from a session with sql_log_bin = 0.",
            advice="Run the target's check first, which creates it.",
        )


def _check_lock(connection: Connection, schema: str) -> None:
    database = str(fetch_row(connection, "SELECT DATABASE()")[0])
    for each in {schema, database}:  # The ledger is locked, too.
        if not has_privilege(connection, each, "LOCK TABLES"):
            raise TargetProblem(
                f"The account may not lock tables in {each}.",
                advice=f"{grant(connection, ['INSERT', 'SELECT', 'LOCK TABLES'], each, account(connection))}"
                " Or load without lock_table.",
            )


def _try(connection: Connection, name: str, value: Value, server: Server) -> None:
    try:
        execute(connection, f"SET SESSION {name} = %s", (value,))
    except MySQLdb.Error as error:
        if error.args[0] == ER.SPECIFIC_ACCESS_DENIED_ERROR:
            right = "BINLOG ADMIN" if server.mariadb else "SESSION_VARIABLES_ADMIN"
            raise TargetProblem(
                f"The account may not set {name} for its session.",
                advice=f"GRANT {right} ON *.* TO {account(connection)}; or leave it out.",
            ) from error
        if error.args[0] == ER.UNKNOWN_TIME_ZONE:
            raise TargetProblem(
                f"The server does not know the time zone {value}.",
                advice="Give an offset such as +02:00, or load the server's table of zones (mysql_tzinfo_to_sql).",
            ) from error
        if error.args[0] == ER.UNKNOWN_SYSTEM_VARIABLE:
            raise TargetProblem(f"The server has no {name}.", advice="Leave it out.") from error
        raise
    accepted = fetch_row(connection, f"SELECT @@SESSION.{name}")[0]
    if not _same(accepted, value):
        raise TargetProblem(f"The server changes {name} = {value} to {accepted}.", advice=f"Set it to {accepted}.")


def _same(accepted: object, value: Value) -> bool:
    """Whether the server's value equals the one that was set: it may add a fraction, and returns words in capitals."""
    return float(str(accepted)) == value if isinstance(value, int) else str(accepted).lower() == value.lower()
