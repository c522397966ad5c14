"""What hangs on a target table besides its columns and keys: what a mode must keep, or be refused for."""

import re
from dataclasses import dataclass

from importer.engine.mysql.connection import Connection, fetch_all
from importer.engine.mysql.quoting import quote_name

_NEXT_NUMBER = re.compile(r" AUTO_INCREMENT=(\d+)")

# Names, one a row, of what hangs on a table: its schema and its name are the arguments, if nothing else is said.
_FOREIGN_KEYS = (
    "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = %s"
    " AND TABLE_NAME = %s AND CONSTRAINT_TYPE = 'FOREIGN KEY' ORDER BY CONSTRAINT_NAME"
)
_REFERENCED_BY = (
    "SELECT DISTINCT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.KEY_COLUMN_USAGE"
    " WHERE REFERENCED_TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s ORDER BY 1"
)
# VIEW_TABLE_USAGE is MySQL's alone; the definitions name every table in quotes, on both. So is the argument.
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
_VERSIONED = (
    "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
    " AND TABLE_TYPE = 'SYSTEM VERSIONED'"
)


@dataclass(frozen=True)
class TableDependencies:
    """Names of what refers to a table, or is part of it and would not come along with a copy.

    `foreign_keys` are its own, `referenced_by` those of other tables (or of itself) that point at it. `triggers` are
    all of its triggers, `updating` and `deleting` those among them that fire on UPDATE and DELETE. `views` and
    `granted` (accounts with rights on this one table) go by the table's name. Only what the account may see is here.
    """

    foreign_keys: tuple[str, ...] = ()
    referenced_by: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    updating: tuple[str, ...] = ()
    deleting: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    partitioned: bool = False
    versioned: bool = False


NO_DEPENDENCIES = TableDependencies()


def read_dependencies(connection: Connection, schema: str, name: str) -> TableDependencies:
    """Look at what hangs on a table; a handful of queries of information_schema."""
    triggers = _triggers(connection, schema, name)
    return TableDependencies(
        foreign_keys=_names(connection, _FOREIGN_KEYS, schema, name),
        referenced_by=_names(connection, _REFERENCED_BY, schema, name),
        triggers=tuple(trigger for trigger, _ in triggers),
        updating=tuple(trigger for trigger, event in triggers if event == "UPDATE"),
        deleting=tuple(trigger for trigger, event in triggers if event == "DELETE"),
        views=_names(connection, _VIEWS, f"{quote_name(schema)}.{quote_name(name)}"),
        granted=_names(connection, _GRANTED, schema, name),
        partitioned=bool(_names(connection, _PARTITION, schema, name)),
        versioned=bool(_names(connection, _VERSIONED, schema, name)),
    )


def next_auto_increment(connection: Connection, schema: str, name: str) -> int | None:
    """The table's next AUTO_INCREMENT value; None without such a column, or while it is 1.

    From SHOW CREATE TABLE: MySQL's information_schema has it from a cache that is up to a day old (manual, The
    INFORMATION_SCHEMA TABLES Table, information_schema_stats_expiry).
    """
    text = fetch_all(connection, f"SHOW CREATE TABLE {quote_name(schema)}.{quote_name(name)}")[0][1]
    options = str(text).rpartition("\n)")[2]
    found = _NEXT_NUMBER.search(options)
    return int(found[1]) if found else None


def _triggers(connection: Connection, schema: str, name: str) -> list[tuple[str, str]]:
    rows = fetch_all(
        connection,
        "SELECT TRIGGER_NAME, EVENT_MANIPULATION FROM information_schema.TRIGGERS"
        " WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s ORDER BY TRIGGER_NAME",
        (schema, name),
    )
    return [(trigger, event) for trigger, event in rows]


def _names(connection: Connection, sql: str, *args: str) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in fetch_all(connection, sql, args))
