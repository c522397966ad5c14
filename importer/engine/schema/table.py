"""Reads a target table as the server describes it: columns, keys, engine, triggers."""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import MySQLdb
import xxhash
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem, UnknownTable
from importer.engine.mysql.connection import Connection, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_table
from importer.engine.mysql.sign_in.own_tables import refuse_table
from importer.engine.schema.column_names import may_exist
from importer.engine.schema.column_types import ColumnType, column_type, name_of
from importer.engine.schema.introspection import show_everything

# Escapes in the member lists of information_schema; after a backslash other characters stand for themselves.
_ESCAPED = {r"\n": "\n", r"\r": "\r", r"\0": "\0"}


# The next AUTO_INCREMENT value in SHOW CREATE TABLE.
NEXT_NUMBER = re.compile(r" AUTO_INCREMENT=(\d+)")


def list_members(type_: str) -> tuple[str, ...]:
    """The members of a full type such as `enum('a','it''s')`."""

    def unescaped(match: re.Match[str]) -> str:
        return _ESCAPED.get(match[0]) or match[1] or match[2]

    written = re.findall(r"'((?:[^'\\]|''|\\.)*)'", type_, re.DOTALL)
    return tuple(re.sub(r"'(')|\\(.)", unescaped, each) for each in written)


@lru_cache
def _number_in_parentheses(type_: str) -> int:
    number = re.search(r"\((\d+)\)", type_)
    return int(number[1]) if number else 0


@dataclass(frozen=True)
class Column:
    """A column of information_schema.COLUMNS. `type` is the full type, such as `decimal(9,7)`.

    `charset` is the character set of a text column, "" for other types or if it is unknown.
    """

    name: str
    type: str
    nullable: bool
    default: str | None
    auto_increment: bool
    generated: bool
    charset: str = ""

    @property
    def kind(self) -> str:
        """The type's first word in lower case: int, varchar, datetime..."""
        return name_of(self.type)

    @property
    def column_type(self) -> ColumnType:
        return column_type(self.type)

    @property
    def declared_size(self) -> int:
        """The number in the type's parentheses: characters, bytes, bits or digits of a second; 0 if there is none."""
        return _number_in_parentheses(self.type)

    @property
    def members(self) -> tuple[str, ...]:
        """The members of an ENUM or SET column, in their order; empty for other types."""
        return list_members(self.type) if self.column_type.is_list else ()

    @property
    def required(self) -> bool:
        """Whether a row without a value for the column is an error."""
        return not (self.nullable or self.default is not None or self.auto_increment or self.generated)


@dataclass(frozen=True)
class Key:
    """An index, with its columns in order. `kind` is the server's INDEX_TYPE: BTREE, FULLTEXT, SPATIAL...

    `prefixed`: it has only the first characters of a column.
    """

    name: str
    columns: tuple[str, ...]
    unique: bool
    kind: str = "BTREE"
    prefixed: bool = False


@dataclass(frozen=True)
class Table:
    """A base table or view, with the properties that decide how it can be loaded.

    `next_number`: the next AUTO_INCREMENT value, or 0. `rows_estimate` is the server's estimate.
    """

    schema: str
    name: str
    engine: str  # "" for a view
    columns: tuple[Column, ...]
    keys: tuple[Key, ...] = ()
    triggers: tuple[str, ...] = ()
    rows_estimate: int = 0
    data_bytes: int = 0
    index_bytes: int = 0
    partitioned: bool = False
    next_number: int = 0
    # The stored generated columns, if a BEFORE INSERT trigger may change what they are computed from; else none.
    stored_behind_triggers: tuple[str, ...] = ()
    # The columns that a BEFORE INSERT trigger names as NEW.column, and may therefore fill.
    named_by_triggers: tuple[str, ...] = ()

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def fillable_columns(self) -> tuple[Column, ...]:
        """The columns that a file can fill: all but those that the server computes."""
        return tuple(column for column in self.columns if not column.generated)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary key, in its order; empty without one."""
        return next((key.columns for key in self.keys if key.name == "PRIMARY"), ())

    @property
    def digest(self) -> str:
        """A hash of the columns and the engine; rows do not change it."""
        return _digest(self.engine, self.columns)

    def column(self, name: str) -> Column:
        """The column with this name, in any case: MySQL's column names are case-insensitive."""
        return self._by_name[name.lower()]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name.lower(): column for column in reversed(self.columns)}


def list_tables(connection: Connection, schema: str, search: str = "", limit: int = 50) -> list[str]:
    """Names of tables in `schema` that contain `search`, in order, at most `limit`; without Millrace's own tables."""
    if not may_exist(schema, search):
        return []
    rows = fetch_all(
        connection,
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND LOCATE(%s, TABLE_NAME) > 0"
        " AND TABLE_NAME NOT LIKE 'millrace\\_%%' ORDER BY TABLE_NAME LIMIT %s",
        (schema, search, limit),
    )
    return [row[0] for row in rows]


def has_table(connection: Connection, name: str) -> bool:
    """Whether the connection's own database has a table of this name."""
    sql = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s"
    return bool(fetch_all(connection, sql, (name,)))


def existing_tables(connection: Connection, schema: str, names: Sequence[str]) -> set[str]:
    """The tables of `names` that exist in the schema, by case-insensitive names."""
    names = [each for each in names if may_exist(schema, each)]
    if not names:
        return set()
    placeholders = ", ".join("%s" for _ in names)
    rows = fetch_all(
        connection,
        f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME IN ({placeholders})",
        (schema, *names),
    )
    return {name for name in names if name.lower() in {str(row[0]).lower() for row in rows}}


def count_rows(connection: Connection, schema: str, name: str) -> int:
    """The number of rows of the table, by COUNT(*)."""
    return int(fetch_row(connection, f"SELECT COUNT(*) FROM {quote_table(schema, name)}")[0])


def read_table(connection: Connection, schema: str, name: str, may_name: Callable[[str], bool] | None = None) -> Table:
    """Read the description of a table. Raises TargetProblem if it does not exist, OwnTables for one of Millrace itself.

    The problem names similar tables that `may_name` is true for; without it none, since not all who see the problem may
    know of all tables.
    """
    if not may_exist(schema, name):
        raise _unknown_table(connection, schema, name, may_name)
    refuse_table(connection, schema, name)
    show_everything(connection)
    rows = fetch_all(
        connection,
        "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, CREATE_OPTIONS, AUTO_INCREMENT"
        " FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
        (schema, name),
    )
    if not rows:
        raise _unknown_table(connection, schema, name, may_name)
    schema, name, engine, rows_estimate, data_bytes, index_bytes, options, next_number = rows[0]
    triggers = _triggers(connection, schema, name)
    before = [body for _, timing, body in triggers if timing == "BEFORE"]
    columns = _columns(connection, schema, name)
    return Table(
        schema=schema,
        name=name,
        engine=engine or "",
        columns=columns,
        keys=_keys(connection, schema, name),
        triggers=tuple(trigger for trigger, _, _ in triggers),
        rows_estimate=rows_estimate or 0,
        data_bytes=data_bytes or 0,
        index_bytes=index_bytes or 0,
        partitioned="partitioned" in _text(options or ""),
        next_number=next_number or 0,
        stored_behind_triggers=_stored_generated(connection, schema, name) if before else (),
        named_by_triggers=tuple(each.name for each in columns if any(_names_new(body, each.name) for body in before)),
    )


def default_charset(connection: Connection, schema: str) -> str:
    """The character set that the database gives to new tables; "" if the account may not see the database."""
    sql = "SELECT DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = %s"
    return next((_text(name) for (name,) in fetch_all(connection, sql, (schema,))), "")


def read_digest(connection: Connection, schema: str, name: str) -> str:
    """Table.digest of the table as it is now, from cheap queries; that of no columns if the table is gone."""
    show_everything(connection)
    engine = fetch_all(
        connection,
        "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
        (schema, name),
    )
    return _digest(engine[0][0] if engine else "", _columns(connection, schema, name))


def read_definition(connection: Connection, schema: str, name: str) -> str:
    """SHOW CREATE TABLE without the next AUTO_INCREMENT value; the text changes whenever Table.digest does.

    It takes a tenth of read_digest()'s time (server-behaviour.md, Speed). "" for a view, whose statement has no column
    types, for a missing table, and if the account may not see the table.
    """
    try:
        text = _text(fetch_row(connection, f"SHOW CREATE TABLE {quote_table(schema, name)}")[1])
    except MySQLdb.Error as error:
        if error.args[0] not in (ER.NO_SUCH_TABLE, ER.TABLEACCESS_DENIED_ERROR):
            raise
        return ""
    return NEXT_NUMBER.sub("", text) if text.startswith("CREATE TABLE ") else ""


def require_unchanged(connection: Connection, schema: str, name: str, digest: str) -> None:
    """Raise TargetProblem unless the table exists and still has the Table.digest of the plan.

    Raises OwnTables as read_table() does: the plan may be older than this rule, or was made for another server.
    """
    refuse_table(connection, schema, name)
    if read_digest(connection, schema, name) == digest:
        return
    read_table(connection, schema, name)  # Raises TargetProblem if the table is gone.
    raise changed_since_planned(schema, name)


def changed_since_planned(schema: str, name: str) -> TargetProblem:
    """The problem of a table whose definition differs from that in the plan."""
    return TargetProblem(
        f"The table {schema}.{name} has changed since the import was planned.",
        advice="Retry: the import is then planned for the table as it is now.",
    )


def _unknown_table(
    connection: Connection, schema: str, name: str, may_name: Callable[[str], bool] | None
) -> UnknownTable:
    known = list(filter(may_name, list_tables(connection, schema, limit=1000))) if may_name else []
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else "Check name and database, or create it: --mode create."
    return UnknownTable(f"There is no table “{name}” in the database {schema} that this account may see.", advice=hint)


def _columns(connection: Connection, schema: str, name: str) -> tuple[Column, ...]:
    rows = fetch_all(
        connection,
        "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, CHARACTER_SET_NAME"
        " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION",
        (schema, name),
    )
    return tuple(_column(*row) for row in rows)


def _column(name: str, type_: Any, nullable: str, default: Any, extra: str, charset: Any) -> Column:
    extra = extra.upper()
    return Column(
        name=name,
        type=_text(type_),
        nullable=nullable == "YES",
        default=None if default is None else _text(default),
        auto_increment="AUTO_INCREMENT" in extra,
        # MySQL also says DEFAULT_GENERATED, for a column that merely has an expression as its default.
        generated="VIRTUAL GENERATED" in extra or "STORED GENERATED" in extra,
        charset="" if charset is None else _text(charset),
    )


def _keys(connection: Connection, schema: str, name: str) -> tuple[Key, ...]:
    rows = fetch_all(
        connection,
        "SELECT INDEX_NAME, NON_UNIQUE, INDEX_TYPE, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY INDEX_NAME, SEQ_IN_INDEX",
        (schema, name),
    )
    columns: dict[tuple[str, bool, str], list[str]] = {}
    for index, non_unique, kind, column, _ in rows:
        columns.setdefault((index, not non_unique, _text(kind)), []).append(column or "(expression)")
    prefixed = {index for index, _, _, _, length in rows if length}
    return tuple(
        Key(index, tuple(names), unique, kind, index in prefixed) for (index, unique, kind), names in columns.items()
    )


def _stored_generated(connection: Connection, schema: str, name: str) -> tuple[str, ...]:
    rows = fetch_all(
        connection,
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND EXTRA LIKE '%%STORED GENERATED%%' ORDER BY ORDINAL_POSITION",
        (schema, name),
    )
    return tuple(str(row[0]) for row in rows)


def _names_new(body: str, column: str) -> bool:
    """Whether the trigger's body names the column of the new row, with or without quotes: NEW.column."""
    return bool(re.search(rf"""\bNEW[`"]?\s*\.\s*[`"]?{re.escape(column)}(?![\w$])""", body, re.IGNORECASE))


def _triggers(connection: Connection, schema: str, name: str) -> list[tuple[str, str, str]]:
    """The triggers on INSERT, each with its time, BEFORE or AFTER, and its body."""
    rows = fetch_all(
        connection,
        "SELECT TRIGGER_NAME, ACTION_TIMING, ACTION_STATEMENT FROM information_schema.TRIGGERS"
        " WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s AND EVENT_MANIPULATION = 'INSERT'",
        (schema, name),
    )
    return [(str(trigger), _text(timing), _text(body)) for trigger, timing, body in rows]


def _digest(engine: str, columns: tuple[Column, ...]) -> str:
    return xxhash.xxh3_64(repr((engine, columns)).encode()).hexdigest()


def _text(value: Any) -> str:
    """The value as a text: on MySQL, information_schema returns some text columns as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)
