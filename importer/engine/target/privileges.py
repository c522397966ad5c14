"""What an account may do in a database, found out by asking; and the GRANT that gives it the rest."""

import uuid

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.schema.table import Table
from importer.engine.target import temporary_changes, write_modes

# What may be asked of a table that does not exist: without the right the server says 1142, with it 1146 or 1051, be it
# the account's own, a role's or a pattern's, and nothing is changed either way (seen on MariaDB 10.11 and MySQL 9.7).
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
    """Whether the account has the right, one of TRIALS, on all tables of the database."""
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
    """Raise TargetProblem, with the GRANT, if the account may not do what a mode that stages does.

    On the whole database, since the staging table is not there yet: its name is new for each job. RENAME TABLE needs
    ALTER and DROP for the old name, CREATE and INSERT for the new one (manual, RENAME TABLE Statement).
    """
    if not write_modes.stages(mode):
        return
    needed = ["INSERT", "SELECT", "CREATE", "ALTER", "DROP"]
    needed += ["UPDATE"] if write_modes.numbers_rows(mode, on_duplicate) else []
    needed += ["DELETE"] if on_duplicate == "replace" else []
    missing = [right for right in needed if not has_privilege(connection, table.schema, right)]
    if missing:
        raise TargetProblem(
            f"Mode {mode} makes a staging table, and the account may not {' or '.join(missing)} in {table.schema}.",
            advice=grant(connection, needed, table.schema, account(connection)),
        )


def why_no_index_deferral(connection: Connection, table: Table) -> str:
    """Why the account may not take keys off the table and put them back; "" if it may, as far as can be told.

    ALTER TABLE that adds or drops keys needs ALTER only (seen on both servers); emptiness is found out by SELECT.
    """
    missing = [right for right in ("ALTER", "SELECT") if not has_table_privilege(connection, table, right)]
    if missing:
        cure = grant(connection, missing, table.schema, account(connection))
        return f"the account may not {' or '.join(missing)} there: {cure}"
    database = str(fetch_all(connection, "SELECT DATABASE()")[0][0])
    if not temporary_changes.exists(connection) and not has_privilege(connection, database, "CREATE"):
        return f"there is no table {temporary_changes.TABLE} to write it down in; the target's check has the SQL"
    return ""


def has_table_privilege(connection: Connection, table: Table, right: str) -> bool:
    """Whether the account has the right on this table: by a grant on it alone, or on all tables of its database."""
    own = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.TABLE_PRIVILEGES"
        " WHERE GRANTEE = %s AND TABLE_SCHEMA = %s AND TABLE_NAME = %s AND PRIVILEGE_TYPE = %s",
        (grantee(connection), table.schema, table.name, right),
    )
    return bool(own) or has_privilege(connection, table.schema, right)


def account(connection: Connection) -> str:
    """The account as GRANT wants it, 'user'@'host': the one that the server matched, not the one that was asked for."""
    user, host = account_parts(connection)
    return f"{quote_text(user)}@{quote_text(host)}"


def grantee(connection: Connection) -> str:
    """The account as information_schema writes it: in quotes, with nothing escaped."""
    user, host = account_parts(connection)
    return f"'{user}'@'{host}'"


def account_parts(connection: Connection) -> tuple[str, str]:
    user, _, host = str(fetch_all(connection, "SELECT CURRENT_USER()")[0][0]).rpartition("@")
    return user, host


def grant(connection: Connection, rights: list[str], database: str, to: str) -> str:
    """The statement that gives an account all of the rights on the database.

    All, though some may be there: of the patterns that an account has rights on, the server takes only the one that
    fits best, so that a grant on another pattern would take the others away.
    """
    return f"GRANT {', '.join(rights)} ON {quote_name(_pattern(connection, database, to))}.* TO {to};"


def _pattern(connection: Connection, database: str, account: str) -> str:
    """The database's name as GRANT wants it (manual, GRANT Statement): _ and % are wildcards in it unless escaped. Left
    as it is where the account has a grant on it so, and where MySQL's partial_revokes takes names as they stand.
    """
    as_it_is = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = %s AND TABLE_SCHEMA = BINARY %s LIMIT 1",
        (account, database),
    ) or fetch_all(connection, "SHOW VARIABLES WHERE Variable_name = 'partial_revokes' AND Value = 'ON'")
    return database if as_it_is else database.replace("_", "\\_").replace("%", "\\%")
