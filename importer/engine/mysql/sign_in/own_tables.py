"""Keeps imports out of databases with Millrace's own tables: with a row in auth_user somebody would become an admin.

The server's list of tables decides, so it is the same database under each of its addresses. It names the tables on
which the account has some privilege. An account that sees only single tables is refused by the names: those of the
application's own database, and of its tables.
"""

import re
import unicodedata
from collections.abc import Callable
from contextlib import closing

from MySQLdb.connections import Connection

from importer.engine.errors import TargetProblem

# Every installation has this table, and nothing else has one of this name.
SIGN = "importer_importjob"
# What the names of the application's tables begin with.
OWN_NAMES = re.compile("(account|auth|django|importer|mfa|socialaccount|usersessions)_")
NO_DATABASE = ("", "information_schema")


class OwnTables(TargetProblem):
    """The database, or the table, belongs to an installation of Millrace."""


_own_database: list[Callable[[], str]] = []


def own_database_is(name: Callable[[], str]) -> None:
    """Say how to find the name of the database with the application's tables; "" if it is on no MySQL or MariaDB."""
    _own_database[:] = [name]


def refuse_database(connection: Connection, database: str) -> None:
    """Raise OwnTables if the account sees the tables of an installation in the database: this one's or another one's.

    Also raises the server's errors.
    """
    if database.lower() in NO_DATABASE:
        return
    with closing(connection.cursor()) as cursor:
        # Both values are constants, so that MariaDB opens no other table (manual, Information Schema Optimizations).
        sql = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
        if cursor.execute(sql, (database, SIGN)):
            raise _problem(f"The database {database} has the tables of Millrace itself.", database)


def refuse_table(connection: Connection, schema: str, table: str) -> None:
    """Raise OwnTables as refuse_database() does, and for a table of the application by its name and its database's."""
    refuse_database(connection, schema)
    own = any(name() and _folded(name()) == _folded(schema) for name in _own_database)
    if own and OWN_NAMES.match(_folded(table)):
        raise _problem(f"{schema}.{table} has the name of a table of Millrace itself.", schema)


def _folded(name: str) -> str:
    """The name without case and accents: a server that ignores case takes more letters for equal than Python does."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(each for each in decomposed if not unicodedata.combining(each))


def _problem(what: str, database: str) -> OwnTables:
    return OwnTables(
        f"{what} Nothing is loaded there: a row in them can make somebody an admin.",
        advice="Make another database for the data, with an account that has no rights on this one, and name it in the"
        " target: CREATE DATABASE data CHARACTER SET utf8mb4; CREATE USER 'loader'@'%' IDENTIFIED BY '<password>';"
        " GRANT INSERT, SELECT, CREATE ON data.* TO 'loader'@'%'; A table of yours moves there by:"
        f" RENAME TABLE {database}.<table> TO data.<table>;",
    )
