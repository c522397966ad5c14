"""A table's keys and foreign keys: their definitions, which of them can be dropped for a load, the SQL to add them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import xxhash

from importer.engine.mysql.connection import Connection, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.introspection import show_everything
from importer.engine.schema.table import NEXT_NUMBER, Key, Table

# SHOW CREATE TABLE has each key and each constraint on one line; line ends in comments are escaped.
_NAME = r"`((?:[^`]|``)+)`"
_KEY = re.compile(rf"^  ((?:(?!PRIMARY|UNIQUE|FULLTEXT)[A-Z]+ )?KEY {_NAME} .*?),?$", re.MULTILINE)
_FOREIGN_KEY = re.compile(
    rf"^  (CONSTRAINT {_NAME} FOREIGN KEY \(((?:[^`)]|{_NAME})+)\)"
    rf" REFERENCES ((?:{_NAME}\.)?{_NAME}) \(((?:[^`)]|{_NAME})+)\).*?),?$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class KeyDefinition:
    """A key or foreign key. `sql` is its line of SHOW CREATE TABLE, which ALTER TABLE ... ADD accepts unchanged."""

    name: str
    sql: str


@dataclass(frozen=True)
class ForeignKey(KeyDefinition):
    """A foreign key: its `columns`, and the parent table and columns.

    `parent` is quoted, and has a schema if that is another one.
    """

    columns: tuple[str, ...] = ()
    parent: str = ""
    parent_columns: tuple[str, ...] = ()

    def parent_of(self, schema: str) -> str:
        """The parent table, quoted, with its schema: that of the key's own table, `schema`, if it names no other."""
        return self.parent if "`.`" in self.parent else f"{quote_name(schema)}.{self.parent}"


@dataclass(frozen=True)
class Indexes:
    """The keys of a table, in its order. `keys`: the keys that refuse no row, without FULLTEXT keys.

    `referenced`: the columns that foreign keys of other tables reference. `empty`: the table has no rows. `obstacle`:
    why no key can be dropped, "" if keys can be dropped.
    """

    keys: tuple[KeyDefinition, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    referenced: tuple[tuple[str, ...], ...] = ()
    empty: bool = False
    obstacle: str = ""


NO_INDEXES = Indexes()

Kind = TypeVar("Kind", bound=KeyDefinition)


def read_indexes(connection: Connection, schema: str, table: str) -> Indexes:
    """Read the keys from SHOW CREATE TABLE, which is complete: prefixes, order, expressions, visibility, comments."""
    text = show_create(connection, schema, table)
    return Indexes(
        keys=key_definitions(text), foreign_keys=foreign_keys(text), referenced=_referenced(connection, schema, table)
    )


def show_create(connection: Connection, schema: str, table: str) -> str:
    """All of SHOW CREATE TABLE with names in backticks; sets the session's sql_mode and others for that."""
    show_everything(connection)
    execute(connection, "SET SESSION sql_mode = '', SESSION sql_quote_show_create = 1")
    return str(fetch_row(connection, f"SHOW CREATE TABLE {quote_table(schema, table)}")[1])


def definition_besides_keys(connection: Connection, schema: str, table: str) -> str:
    """A hash of SHOW CREATE TABLE without the keys that refuse no row, and without the next AUTO_INCREMENT value."""
    text = _KEY.sub("", NEXT_NUMBER.sub("", show_create(connection, schema, table)))
    # The last of the columns, keys and constraints has no comma, and a key may have been the last one.
    lines = [line.rstrip(",") for line in text.splitlines() if line]
    return xxhash.xxh3_64("\n".join(lines).encode()).hexdigest()


def key_definitions(show_create: str) -> tuple[KeyDefinition, ...]:
    """The keys that refuse no row, without FULLTEXT keys: the server puts those last and builds them one at a time."""
    return tuple(KeyDefinition(_unquoted(name), sql) for sql, name in _KEY.findall(show_create))


def foreign_keys(show_create: str) -> tuple[ForeignKey, ...]:
    """The table's own foreign keys."""
    return tuple(
        ForeignKey(_unquoted(match[2]), match[1], _names(match[3]), match[5], _names(match[8]))
        for match in _FOREIGN_KEY.finditer(show_create)
    )


def is_empty(connection: Connection, schema: str, table: str) -> bool:
    """Whether the table has no rows."""
    return not fetch_all(connection, f"SELECT 1 FROM {quote_table(schema, table)} LIMIT 1")


def droppable_keys(
    table: Table, indexes: Indexes, *, foreign_keys_go: bool
) -> tuple[tuple[KeyDefinition, ...], tuple[str, ...]]:
    """The keys that can be dropped for a load, and the names of the keys that must stay.

    An AUTO_INCREMENT column needs a key (manual, Using AUTO_INCREMENT), and a foreign key needs one on both sides. The
    server puts a new key last. Therefore the keys before one that stays must stay too, or the order would change.
    SPATIAL keys and unknown kinds stay. `foreign_keys_go`: the table's own foreign keys are dropped as well.
    """
    needed: list[tuple[str, ...]] = [(column.name,) for column in table.columns if column.auto_increment]
    needed += indexes.referenced
    needed += [] if foreign_keys_go else [each.columns for each in indexes.foreign_keys]
    unique = [key for key in table.keys if key.unique]
    needed = [columns for columns in needed if not any(_serves(key, columns) for key in unique)]
    columns_of = {key.name.lower(): key for key in table.keys}
    staying = [
        number
        for number, each in enumerate(indexes.keys)
        if each.name.lower() not in columns_of
        or not each.sql.startswith("KEY ")
        or any(_serves(columns_of[each.name.lower()], columns) for columns in needed)
    ]
    first = staying[-1] + 1 if staying else 0
    return indexes.keys[first:], tuple(each.name for each in indexes.keys[:first])


def drop_statement(
    schema: str, table: str, keys: Iterable[KeyDefinition], foreign_keys: Iterable[KeyDefinition] = ()
) -> str:
    """The statement that drops the keys and foreign keys."""
    parts = [f"DROP FOREIGN KEY {quote_name(each.name)}" for each in foreign_keys]
    parts += [f"DROP KEY {quote_name(each.name)}" for each in keys]
    return f"ALTER TABLE {quote_table(schema, table)} {', '.join(parts)}"


def add_statement(schema: str, table: str, missing: Sequence[KeyDefinition]) -> str:
    """The statement that adds the missing keys, all at once."""
    return f"ALTER TABLE {quote_table(schema, table)} {', '.join(f'ADD {each.sql}' for each in missing)}"


def missing_definitions(present: Sequence[KeyDefinition], wanted: Sequence[Kind]) -> tuple[Kind, ...]:
    """The `wanted` definitions whose names are not among those `present`; case does not count."""
    names = {each.name.lower() for each in present}
    return tuple(each for each in wanted if each.name.lower() not in names)


def _referenced(connection: Connection, schema: str, table: str) -> tuple[tuple[str, ...], ...]:
    rows = fetch_all(
        connection,
        "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, REFERENCED_COLUMN_NAME"
        " FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s"
        " ORDER BY 1, 2, 3, ORDINAL_POSITION",
        (schema, table),
    )
    columns: dict[tuple[str, ...], list[str]] = {}
    for *constraint, column in rows:
        columns.setdefault(tuple(constraint), []).append(column)
    return tuple(tuple(names) for names in columns.values())


def _serves(key: Key, columns: Sequence[str]) -> bool:
    """Whether the key begins with these columns in any order."""
    first = {name.lower() for name in key.columns[: len(columns)]}
    return first == {name.lower() for name in columns}


def _names(written: str) -> tuple[str, ...]:
    return tuple(_unquoted(name) for name in re.findall(_NAME, written))


def _unquoted(name: str) -> str:
    return name.replace("``", "`")
