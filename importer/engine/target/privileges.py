"""Finds the privileges of an account by trying statements, and writes the GRANT for those that are missing."""

import uuid
from collections.abc import Iterable

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_database, quote_name, quote_text
from importer.engine.schema.table import Table
from importer.engine.target import temporary_changes, write_modes

# Statements on a table that does not exist, so they change nothing. Without the privilege the server reports 1142, with
# it 1146 or 1051, whether the account, a role or a pattern has it (seen on MariaDB 10.11 and MySQL 9.7).
PROBES = {
    "INSERT": "INSERT INTO {table} VALUES (1)",
    "SELECT": "SELECT 1 FROM {table}",
    "UPDATE": "UPDATE {table} SET a = 1",
    "DELETE": "DELETE FROM {table}",
    "CREATE": "CREATE TABLE {table} LIKE {table}_too",
    "ALTER": "ALTER TABLE {table} ADD COLUMN a INT",
    "DROP": "DROP TABLE {table}",
    "LOCK TABLES": "LOCK TABLES {table} WRITE",
}


def has_privilege(connection: Connection, database: str, right: str) -> bool:
    """Whether the account has the privilege `right`, a key of PROBES, on all tables of the database."""
    nowhere = f"{quote_name(database)}.millrace_nowhere_{uuid.uuid4().hex[:12]}"
    try:
        execute(connection, PROBES[right].format(table=nowhere))
    except MySQLdb.Error as error:
        if error.args[0] in (ER.TABLEACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR):
            return False
        if error.args[0] not in (ER.NO_SUCH_TABLE, ER.BAD_TABLE_ERROR):
            raise
    return True


def check_privileges(connection: Connection, table: Table, mode: str, on_duplicate: str) -> None:
    """Raise TargetProblem, with the GRANT, if the account lacks a privilege that a mode with a staging table needs.

    The privileges are needed on the whole database, because the staging table has a new name for each job. RENAME TABLE
    needs ALTER and DROP for the old name, CREATE and INSERT for the new one (manual, RENAME TABLE Statement).
    """
    if not write_modes.stages(mode):
        return
    needed = ["INSERT", "SELECT", "CREATE", "ALTER", "DROP"]
    needed += ["UPDATE"] if write_modes.numbers_rows(mode, on_duplicate) else []
    needed += ["DELETE"] if on_duplicate == "replace" or mode in write_modes.COMPARING else []
    missing = [right for right in needed if not has_privilege(connection, table.schema, right)]
    if missing:
        raise TargetProblem(
            f"Mode {mode} makes a staging table, and the account may not {' or '.join(missing)} in {table.schema}.",
            advice=grant(connection, needed, table.schema, account(connection)),
        )


def why_no_index_deferral(connection: Connection, table: Table) -> str:
    """Why the account may not drop keys of the table and build them again; "" if no obstacle is known.

    ALTER TABLE that adds or drops keys needs only ALTER (seen on both servers); SELECT finds whether it is empty.
    """
    missing = [
        right for right in ("ALTER", "SELECT") if not has_table_privilege(connection, table.schema, table.name, right)
    ]
    if missing:
        statement = grant(connection, missing, table.schema, account(connection))
        return f"the account may not {' or '.join(missing)} there: {statement}"
    database = str(fetch_row(connection, "SELECT DATABASE()")[0])
    if not temporary_changes.exists(connection) and not has_privilege(connection, database, "CREATE"):
        return f"there is no table {temporary_changes.TABLE} to record it in; the target's check has the SQL"
    return ""


def require_alter(connection: Connection, table: Table) -> None:
    """Raise TargetProblem, with the GRANT, if the account may not add columns to the table."""
    if not has_table_privilege(connection, table.schema, table.name, "ALTER"):
        raise TargetProblem(
            f"The account may not add columns to {table.schema}.{table.name}.",
            advice=grant(connection, ["ALTER"], table.schema, account(connection)),
        )


def has_table_privilege(connection: Connection, schema: str, name: str, right: str) -> bool:
    """Whether the account has the privilege on this table, granted on the table or on all tables of its database."""
    if has_privilege(connection, schema, right):
        return True
    own = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.TABLE_PRIVILEGES"
        " WHERE GRANTEE = %s AND TABLE_SCHEMA = %s AND TABLE_NAME = %s AND PRIVILEGE_TYPE = %s",
        (grantee(connection), schema, name, right),
    )
    return bool(own)


def lacks_privilege(connection: Connection, schema: str, name: str, right: str) -> bool:
    """Whether the account surely lacks the privilege on the table, which need not exist.

    A role, or a grant on columns, may give it: what these allow is only known by trying.
    """
    if has_table_privilege(connection, schema, name, right):
        return False
    role = str(fetch_row(connection, "SELECT CURRENT_ROLE()")[0] or "NONE")
    of_columns = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.COLUMN_PRIVILEGES"
        " WHERE GRANTEE = %s AND TABLE_SCHEMA = %s AND TABLE_NAME = %s AND PRIVILEGE_TYPE = %s LIMIT 1",
        (grantee(connection), schema, name, right),
    )
    return role == "NONE" and not of_columns


def account(connection: Connection) -> str:
    """The account that the server matched (CURRENT_USER, not the login name), quoted for GRANT: 'user'@'host'."""
    user, host = account_parts(connection)
    return f"{quote_text(user)}@{quote_text(host)}"


def grantee(connection: Connection) -> str:
    """The account as information_schema has it: in quotes, nothing escaped."""
    user, host = account_parts(connection)
    return f"'{user}'@'{host}'"


def account_parts(connection: Connection) -> tuple[str, str]:
    user, _, host = str(fetch_row(connection, "SELECT CURRENT_USER()")[0]).rpartition("@")
    return user, host


def grant(connection: Connection, rights: list[str], database: str, to: str) -> str:
    """The GRANT statement for the privileges `rights` on the database, including those that the account has already.

    Of several grants on patterns, the server uses only the one that fits best. A grant with only the missing privileges
    on another pattern would therefore remove the others.
    """
    return f"GRANT {', '.join(rights)} ON {_quoted_database(connection, database, to)}.* TO {to};"


def grant_on_table(connection: Connection, rights: Iterable[str], database: str, table: str) -> str:
    """The GRANT statement for the privileges `rights` on one table, which need not exist if CREATE is among them."""
    return f"GRANT {', '.join(rights)} ON {quote_name(database)}.{quote_name(table)} TO {account(connection)};"


def _quoted_database(connection: Connection, database: str, account: str) -> str:
    """The database's name for GRANT.

    Its wildcards stay if the account has a grant on that name, or if MySQL's partial_revokes turns wildcards off.
    """
    unescaped = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = %s AND TABLE_SCHEMA = BINARY %s LIMIT 1",
        (account, database),
    ) or fetch_all(connection, "SHOW VARIABLES WHERE Variable_name = 'partial_revokes' AND Value = 'ON'")
    return quote_name(database) if unescaped else quote_database(database)
