"""Previews the values of some rows as they will be stored; the server evaluates the expressions of the load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.expressions import expression, is_plain
from importer.engine.mapping.transforms import check_transforms
from importer.engine.mysql.connection import SQL_MODE, Connection, execute, fetch_all
from importer.engine.schema.table import Column, Table
from importer.engine.schema.value_kinds import plain_number

# Longer texts, in characters, are shown as they are in the file.
LONGEST = 1000
# Sentinel for a refused value: no conversion produces it.
_REFUSED = "_binary'\\0refused by Millrace\\0'"
_REFUSED_BYTES = b"\0refused by Millrace\0"


@dataclass(frozen=True)
class PreviewValue:
    """One converted value: `text` for people, None for NULL. `bad`: the text of the file cannot be converted."""

    text: str | None
    bad: bool = False


def preview_values(
    connection: Connection, table: Table, mapping: Sequence[ColumnMapping], rows: Sequence[Sequence[str]]
) -> list[dict[int, PreviewValue]]:
    """For each row the values that differ from the file, by the number of their field, from 0.

    Raises Problem if transforms do not suit their column.
    """
    names = {column.name.lower() for column in table.columns}
    columns = {number: table.column(each.column) for number, each in enumerate(mapping) if each.column.lower() in names}
    shown = _by_server(connection, columns, mapping, rows)
    for number, column in columns.items():
        if column.column_type.is_number and "zerofill" not in column.type.lower():
            _show_plain_numbers(number, rows, shown)
    return shown


def _show_plain_numbers(number: int, rows: Sequence[Sequence[str]], shown: list[dict[int, PreviewValue]]) -> None:
    """Add the numbers that are stored in another notation than the file has: 007 as 7."""
    for row, values in zip(rows, shown, strict=True):
        if number >= len(row) or len(row[number]) > LONGEST:
            continue
        given = values.get(number, PreviewValue(row[number]))
        plain = plain_number(given.text or "")
        if plain != (given.text or ""):
            values[number] = PreviewValue(plain)


def _by_server(
    connection: Connection,
    columns: Mapping[int, Column],
    mapping: Sequence[ColumnMapping],
    rows: Sequence[Sequence[str]],
) -> list[dict[int, PreviewValue]]:
    """For each row the values that are converted by an expression, which the server evaluates."""
    converted = [number for number in columns if not is_plain(mapping[number])]
    if not converted or not rows:
        return [{} for _ in rows]
    for number in converted:
        check_transforms(mapping[number].transforms, mapping[number].datetime_format, columns[number])
    values = ", ".join(
        f"CAST({_preview_expression(number, mapping[number], columns[number])} AS BINARY)" for number in converted
    )
    lines = (
        f"SELECT {at} AS place, " + ", ".join(f"{_literal(row, number)} AS f{number}" for number in converted)
        for at, row in enumerate(rows)
    )
    if lookups := [each for number in converted if (each := mapping[number].lookup)]:
        from importer.engine.mapping.lookups import expanded, set_lookups

        set_lookups(connection, lookups)
        values = expanded(values)
    # The sql_mode of a loader's session.
    execute(connection, "SET SESSION sql_mode = %s", (SQL_MODE,))
    answers = fetch_all(connection, f"SELECT {values} FROM ({' UNION ALL '.join(lines)}) AS texts ORDER BY texts.place")
    return [
        {
            number: _preview_value(value, as_bytes=columns[number].column_type.shown_as_bytes)
            for number, value in zip(converted, answer, strict=True)
            if number < len(row) and len(row[number]) <= LONGEST
        }
        for row, answer in zip(rows, answers, strict=True)
    ]


def _preview_expression(number: int, mapping: ColumnMapping, column: Column) -> str:
    value = expression(f"texts.f{number}", mapping, column, _REFUSED)
    if not column.column_type.has_date:
        return value
    # On MariaDB, STR_TO_DATE() returns 2024-02-31, which only the column refuses.
    return f"IF({value} IS NOT NULL AND CAST({value} AS DATETIME) IS NULL, {_REFUSED}, {value})"


def _literal(row: Sequence[str], number: int) -> str:
    text = row[number] if number < len(row) else ""
    return f"CONVERT(x'{text[:LONGEST].encode(errors='replace').hex()}' USING utf8mb4)"


def _preview_value(value: bytes | str | None, *, as_bytes: bool) -> PreviewValue:
    if value is None:
        return PreviewValue(None)
    raw = value.encode() if isinstance(value, str) else value
    if raw == _REFUSED_BYTES:
        return PreviewValue("", bad=True)
    return PreviewValue(f"0x{raw.hex().upper()}" if as_bytes else raw.decode(errors="backslashreplace"))
