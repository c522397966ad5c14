"""Whether the server takes what an import wants to set for its sessions, found out by trying it in one of them."""

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import ISOLATION, Connection, execute, fetch_all
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.variables import Value
from importer.engine.plan.plan import ImportPlan
from importer.engine.target.privileges import account, grant, has_privilege


def check_session(connection: Connection, plan: ImportPlan, server: Server) -> None:
    """Set the plan's variables in this session, which is of no further use, and look for the right to lock.

    Raises TargetProblem, with the GRANT where a right is missing.
    """
    if plan.lock_table:
        _check_lock(connection, plan.schema)
    for name, value in plan.session.items():
        if name != ISOLATION:
            _try(connection, name, value, server)
    if plan.session.get("sql_log_bin") == 0 and not ledger.exists(connection):
        raise TargetProblem(
            f"There is no table {ledger.TABLE} yet, and replicas would not get it from a session with sql_log_bin = 0.",
            advice="Run the target's check first, which makes it.",
        )


def _check_lock(connection: Connection, schema: str) -> None:
    database = str(fetch_all(connection, "SELECT DATABASE()")[0][0])
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
        if error.args[0] == ER.UNKNOWN_SYSTEM_VARIABLE:
            raise TargetProblem(f"The server has no {name}.", advice="Leave it out.") from error
        raise
    taken = fetch_all(connection, f"SELECT @@SESSION.{name}")[0][0]
    if not _same(taken, value):
        raise TargetProblem(f"The server makes {taken} of {name} = {value}.", advice=f"Ask for {taken}.")


def _same(taken: object, value: Value) -> bool:
    """MariaDB answers some numbers with a fraction, and both answer words in capitals."""
    return float(str(taken)) == value if isinstance(value, int) else str(taken).lower() == value
