"""How the values of some rows will arrive: asked of the server itself, with the expressions of the load."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.expressions import expression, is_plain
from importer.engine.mapping.transforms import check_transforms
from importer.engine.mysql.connection import SQL_MODE, Connection, execute, fetch_all
from importer.engine.schema.table import Column, Table

# Longer texts are shown as they are in the file.
LONGEST = 1000
# What no value becomes.
_REFUSED = "_binary'\\0refused by Millrace\\0'"
_REFUSED_BYTES = b"\0refused by Millrace\0"


@dataclass(frozen=True)
class PreviewValue:
    """What becomes of one text: `text` as people read it, None for NULL; `bad` where it cannot be a value."""

    text: str | None
    bad: bool = False


def preview_values(
    connection: Connection, table: Table, mapping: Sequence[ColumnMapping], rows: Sequence[Sequence[str]]
) -> list[dict[int, PreviewValue]]:
    """For each row the values that are not as in the file, by the number of their field, from 0.

    Raises Problem for transforms that do not go with their column.
    """
    names = {column.name.lower() for column in table.columns}
    asked = [number for number, each in enumerate(mapping) if each.column.lower() in names and not is_plain(each)]
    if not asked or not rows:
        return [{} for _ in rows]
    columns = {number: table.column(mapping[number].column) for number in asked}
    for number, column in columns.items():
        check_transforms(mapping[number].transforms, mapping[number].datetime_format, column)
    values = ", ".join(f"CAST({_asked(number, mapping[number], columns[number])} AS BINARY)" for number in asked)
    lines = (
        f"SELECT {at} AS place, " + ", ".join(f"{_literal(row, number)} AS f{number}" for number in asked)
        for at, row in enumerate(rows)
    )
    # As a loader's session.
    execute(connection, "SET SESSION sql_mode = %s", (SQL_MODE,))
    found = fetch_all(connection, f"SELECT {values} FROM ({' UNION ALL '.join(lines)}) AS said ORDER BY said.place")
    return [
        {
            number: _arrival(value, as_bytes=columns[number].column_type.shown_as_bytes)
            for number, value in zip(asked, answer, strict=True)
            if number < len(row) and len(row[number]) <= LONGEST
        }
        for row, answer in zip(rows, found, strict=True)
    ]


def _asked(number: int, mapping: ColumnMapping, column: Column) -> str:
    value = expression(f"said.f{number}", mapping, column, _REFUSED)
    if not column.column_type.has_date:
        return value
    # STR_TO_DATE() makes 2024-02-31 on MariaDB; it is the column that refuses it.
    return f"IF({value} IS NOT NULL AND CAST({value} AS DATETIME) IS NULL, {_REFUSED}, {value})"


def _literal(row: Sequence[str], number: int) -> str:
    text = row[number] if number < len(row) else ""
    return f"CONVERT(x'{text[:LONGEST].encode(errors='replace').hex()}' USING utf8mb4)"


def _arrival(value: bytes | str | None, *, as_bytes: bool) -> PreviewValue:
    if value is None:
        return PreviewValue(None)
    raw = value.encode() if isinstance(value, str) else value
    if raw == _REFUSED_BYTES:
        return PreviewValue("", bad=True)
    return PreviewValue(f"0x{raw.hex().upper()}" if as_bytes else raw.decode(errors="backslashreplace"))
