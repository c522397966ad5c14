"""Reads a few rows of a table as they stand now, within a time and a size, for people to look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_table, quote_text
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table, read_table

MOST_COLUMNS = 50
LONGEST, LONGEST_BYTES = 100, 32  # characters and bytes of a value
SECONDS = 3  # for a statement, and for a lock of the table

# Values of the primary key's columns, as texts.
KeyValues = Sequence[str]


@dataclass(frozen=True)
class TableRows:
    """Some rows: texts, cut after LONGEST or LONGEST_BYTES, and None for NULL.

    `key`: the columns of the primary key, by which they are ordered. `found`: they were looked up by values of the key.
    `more_columns`: the number of columns left out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    key: tuple[str, ...] = ()
    found: bool = False
    more_columns: int = 0


def read_rows(
    address: Address, schema: str, name: str, most: int, wanted: dict[str, KeyValues] | None = None
) -> TableRows:
    """The rows with the `wanted` keys, or the first `most` of the table if there are none.

    `wanted`: for each column of the primary key the values of the rows, one after the other. Raises TargetProblem, also
    if the server needs longer than SECONDS.
    """
    with connect(address, read_timeout=2 * SECONDS) as connection:
        _limit(connection)
        table = read_table(connection, schema, name)
        key = table.primary_key
        columns = table.columns[:MOST_COLUMNS]
        found: list[tuple[str | None, ...]] = []
        if wanted and key and {each.lower() for each in key} == {each.lower() for each in wanted}:
            found = _select(connection, table, columns, _with_keys(key, wanted), most)
        rows = found or _select(connection, table, columns, "", most)
    more = len(table.columns) - len(columns)
    return TableRows(tuple(each.name for each in columns), tuple(rows), key, bool(found), more)


def _limit(connection: Connection) -> None:
    """Let the server end what takes longer than SECONDS."""
    mariadb = "MariaDB" in connection.get_server_info()
    limit = f"max_statement_time = {SECONDS}" if mariadb else f"max_execution_time = {1000 * SECONDS}"
    execute(connection, f"SET SESSION {limit}, SESSION lock_wait_timeout = {SECONDS}, SESSION sql_mode = ''")


def _with_keys(key: Sequence[str], wanted: dict[str, KeyValues]) -> str:
    """A condition for the rows with these keys."""
    values = {name.lower(): texts for name, texts in wanted.items()}
    rows = zip(*(values[name.lower()] for name in key), strict=True)
    each = (
        " AND ".join(f"{quote_name(name)} = {quote_text(text)}" for name, text in zip(key, row, strict=True))
        for row in rows
    )
    return " WHERE " + " OR ".join(f"({row})" for row in each)


def _select(
    connection: Connection, table: Table, columns: Sequence[Column], condition: str, most: int
) -> list[tuple[str | None, ...]]:
    order = ", ".join(map(quote_name, table.primary_key))
    values, place = ", ".join(map(_shown, columns)), quote_table(table.schema, table.name)
    ordered = f" ORDER BY {order}" if order else ""
    rows = fetch_all(connection, f"SELECT {values} FROM {place}{condition}{ordered} LIMIT {most}")
    return [tuple(_text(value, column) for value, column in zip(row, columns, strict=True)) for row in rows]


def _shown(column: Column) -> str:
    """The value as a text, with one character or byte too many where it is cut."""
    name = quote_name(column.name)
    if _as_bytes(column):
        return f"CONCAT('0x', HEX(LEFT({name}, {LONGEST_BYTES + 1})))"
    return f"LEFT(CAST({name} AS CHAR), {LONGEST + 1})"


def _as_bytes(column: Column) -> bool:
    return column.column_type.family in (Family.BYTES, Family.BIT, Family.GEOMETRY)


def _text(value: bytes | str | None, column: Column) -> str | None:
    if value is None:
        return None
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else value
    longest = len("0x") + 2 * LONGEST_BYTES if _as_bytes(column) else LONGEST
    return f"{text[:longest]}…" if len(text) > longest else text
