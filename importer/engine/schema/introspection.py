"""Lets a session see present sizes and hidden keys in information_schema and SHOW CREATE TABLE."""

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.mysql.connection import Connection, execute

# Without the first, MySQL reads numbers of rows and bytes from a cache that is up to a day old (manual, The
# INFORMATION_SCHEMA TABLES Table, information_schema_stats_expiry). MariaDB has neither the cache nor the variables,
# and skips comments for MySQL 5.7 and later (its manual, Comment Syntax).
_SIZES = "SET @millrace_sees = 1 /*!80000 , SESSION information_schema_stats_expiry = 0 */"
# MySQL may hide the primary key that it has given to a table itself (manual, Generated Invisible Primary Keys).
_OWN_KEY = " /*!80030 , SESSION show_gipk_in_create_table_and_information_schema = ON */"


def show_everything(connection: Connection) -> None:
    """Let this session see present sizes, and invisible primary keys of MySQL, which an administrator may hide."""
    try:
        execute(connection, _SIZES + _OWN_KEY)
    except MySQLdb.OperationalError as error:
        # Servers that are only compatible execute the comments of every version.
        if error.args[0] != ER.UNKNOWN_SYSTEM_VARIABLE:
            raise
        execute(connection, _SIZES)
