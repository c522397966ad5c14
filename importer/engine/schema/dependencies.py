"""Reads the objects that depend on a target table: foreign keys, triggers, views, grants, partitions and others.

A write mode either keeps them or refuses the table.
"""

import re
from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.mysql.connection import Connection, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_table
from importer.engine.schema.table import NEXT_NUMBER

# Each query returns one name a row. Its arguments are the table's schema and name, except where a comment says else.
_FOREIGN_KEYS = (
    "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = %s"
    " AND TABLE_NAME = %s AND CONSTRAINT_TYPE = 'FOREIGN KEY' ORDER BY CONSTRAINT_NAME"
)
_REFERENCED_BY = (
    "SELECT DISTINCT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.KEY_COLUMN_USAGE"
    " WHERE REFERENCED_TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s ORDER BY 1"
)
# Only MySQL has VIEW_TABLE_USAGE. On both servers the definitions name every table in backticks; the argument is the
# table's name in backticks.
_VIEWS = (
    "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.VIEWS"
    " WHERE LOCATE(%s, VIEW_DEFINITION) > 0 ORDER BY 1"
)
_GRANTED = (
    "SELECT DISTINCT GRANTEE FROM information_schema.TABLE_PRIVILEGES"
    " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY GRANTEE"
)
_PARTITION = (
    "SELECT PARTITION_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
    " AND PARTITION_NAME IS NOT NULL LIMIT 1"
)
# The account as information_schema has it.
_ME = (
    "CONCAT('''', LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - LOCATE('@', REVERSE(CURRENT_USER()))), '''@''',"
    " SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')"
)
# A result if the account is known to see triggers. MySQL shows them only with the privilege TRIGGER (manual, The
# INFORMATION_SCHEMA TRIGGERS Table); one that a role has is not known here. The schema is an argument twice.
_SEES_TRIGGERS = (
    "SELECT 1 FROM DUAL WHERE VERSION() LIKE '%%MariaDB%%'"
    f" UNION ALL SELECT 1 FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = {_ME} AND PRIVILEGE_TYPE = 'TRIGGER'"
    f" UNION ALL SELECT 1 FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = {_ME}"
    " AND PRIVILEGE_TYPE = 'TRIGGER' AND %s LIKE TABLE_SCHEMA"
    f" UNION ALL SELECT 1 FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE = {_ME}"
    " AND PRIVILEGE_TYPE = 'TRIGGER' AND TABLE_SCHEMA = %s AND TABLE_NAME = %s"
)
_VERSIONED = (
    "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
    " AND TABLE_TYPE = 'SYSTEM VERSIONED'"
)

# Names of CHECK constraints are the table's own on MariaDB, and stay with CREATE TABLE LIKE.
_CHECKS = (
    "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
    " AND CONSTRAINT_TYPE = 'CHECK' AND VERSION() NOT LIKE '%%MariaDB%%' ORDER BY CONSTRAINT_NAME"
)
# The names and conditions of a table's CHECKs; those of MariaDB that belong to a column go with its definition.
_CHECKS_OF_MARIADB = (
    "SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS"
    " WHERE CONSTRAINT_SCHEMA = %s AND TABLE_NAME = %s AND LEVEL = 'Table'"
)
_CHECKS_OF_MYSQL = (
    "SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS"
    " JOIN information_schema.TABLE_CONSTRAINTS USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)"
    " WHERE CONSTRAINT_SCHEMA = %s AND TABLE_NAME = %s AND CONSTRAINT_TYPE = 'CHECK'"
)
# MariaDB has no such table (error 1109).
_HISTOGRAMS = (
    "SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = %s AND TABLE_NAME = %s"
    " ORDER BY COLUMN_NAME"
)


@dataclass(frozen=True)
class TableDependencies:
    """Names of objects that refer to a table, or belong to it and are not copied with it.

    `foreign_keys`: the table's own. `referenced_by`: tables (this one included) with a foreign key to it. `triggers`:
    all of its triggers; `updating` and `deleting`: those that fire on UPDATE and on DELETE. `views` and `granted`
    (accounts with privileges on this table) refer to the table by name. `checks`: names that somebody has given to
    CHECK constraints, which a copy of the table loses on MySQL. `histograms`: the columns that have one on MySQL.
    Objects that the account may not see are missing; `triggers_hidden`: it may not see triggers.
    """

    foreign_keys: tuple[str, ...] = ()
    referenced_by: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    updating: tuple[str, ...] = ()
    deleting: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    histograms: tuple[str, ...] = ()
    partitioned: bool = False
    versioned: bool = False
    triggers_hidden: bool = False


NO_DEPENDENCIES = TableDependencies()


def read_dependencies(connection: Connection, schema: str, name: str) -> TableDependencies:
    """Read the dependencies of a table, with a few queries of information_schema."""
    triggers = _triggers(connection, schema, name)
    return TableDependencies(
        foreign_keys=_names(connection, _FOREIGN_KEYS, schema, name),
        referenced_by=_names(connection, _REFERENCED_BY, schema, name),
        triggers=tuple(trigger for trigger, _ in triggers),
        updating=tuple(trigger for trigger, event in triggers if event == "UPDATE"),
        deleting=tuple(trigger for trigger, event in triggers if event == "DELETE"),
        views=_names(connection, _VIEWS, quote_table(schema, name)),
        granted=_names(connection, _GRANTED, schema, name),
        checks=_named_checks(connection, schema, name),
        histograms=_histograms(connection, schema, name),
        partitioned=bool(_names(connection, _PARTITION, schema, name)),
        versioned=bool(_names(connection, _VERSIONED, schema, name)),
        triggers_hidden=not _names(connection, _SEES_TRIGGERS, schema, schema, name),
    )


def read_checks(connection: Connection, schema: str, name: str) -> list[tuple[str, str]]:
    """The names and conditions of the table's own CHECKs; the conditions have each column in backticks."""
    mariadb = bool(fetch_all(connection, "SELECT 1 FROM DUAL WHERE VERSION() LIKE '%%MariaDB%%'"))
    rows = fetch_all(connection, _CHECKS_OF_MARIADB if mariadb else _CHECKS_OF_MYSQL, (schema, name))
    return [(str(check), text.decode() if isinstance(text, bytes) else str(text)) for check, text in rows]


def next_auto_increment(connection: Connection, schema: str, name: str) -> int | None:
    """The table's next AUTO_INCREMENT value; None without an AUTO_INCREMENT column, or while the value is 1.

    From SHOW CREATE TABLE, because MySQL's information_schema reads it from a cache that is up to a day old (manual,
    The INFORMATION_SCHEMA TABLES Table, information_schema_stats_expiry).
    """
    text = fetch_row(connection, f"SHOW CREATE TABLE {quote_table(schema, name)}")[1]
    options = str(text).rpartition("\n)")[2]
    match = NEXT_NUMBER.search(options)
    return int(match[1]) if match else None


def _triggers(connection: Connection, schema: str, name: str) -> list[tuple[str, str]]:
    rows = fetch_all(
        connection,
        "SELECT TRIGGER_NAME, EVENT_MANIPULATION FROM information_schema.TRIGGERS"
        " WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s ORDER BY TRIGGER_NAME",
        (schema, name),
    )
    return [(trigger, event) for trigger, event in rows]


def _named_checks(connection: Connection, schema: str, name: str) -> tuple[str, ...]:
    given_by_server = re.compile(rf"{re.escape(name)}_chk_\d+", re.IGNORECASE)
    return tuple(each for each in _names(connection, _CHECKS, schema, name) if not given_by_server.fullmatch(each))


def _histograms(connection: Connection, schema: str, name: str) -> tuple[str, ...]:
    try:
        return _names(connection, _HISTOGRAMS, schema, name)
    except MySQLdb.Error as error:
        if error.args[0] not in (ER.UNKNOWN_TABLE, ER.NO_SUCH_TABLE):
            raise
        return ()


def _names(connection: Connection, sql: str, *args: str) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in fetch_all(connection, sql, args))
