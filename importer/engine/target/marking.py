"""`--missing mark=COLUMN`: rows that the file of mode sync does not have are marked in a column instead of deleted.

A marked row counts as gone: it is neither missing nor written again. If its key is in the file again, the column gets
its default back.
"""

import re
from collections.abc import Collection, Sequence

from importer.engine.errors import Problem
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table
from importer.engine.target.staging import Marking
from importer.engine.target.write_modes import MARK

_NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOATING, Family.BIT, Family.YEAR)
_DATES = {Family.DATE: "CURRENT_DATE", Family.MOMENT: "CURRENT_TIMESTAMP"}


def read_marking(text: str, table: Table, columns: Sequence[str], used: Collection[str]) -> Marking:
    """The marking of an option's text. Raises Problem for a column that cannot mark rows.

    `columns` are those that the import fills; the key and the scope have the `used` ones.
    """
    match = re.fullmatch(MARK, text)
    name, value = (match[1].strip("` "), (match[2] or "")[1:]) if match else ("", "")
    column = next((each for each in table.columns if each.name.lower() == name.lower()), None)
    if column is None:
        raise _refused(f"{table.name} has no column {name} to mark rows with.", "Name one that it has")
    if name.lower() in {each.lower() for each in columns}:
        raise _refused(f"The file fills {column.name} itself, which marks rows.", "Leave the field out")
    if name.lower() in {each.lower() for each in used}:
        raise _refused(
            f"{column.name} is in the key or the scope, so it cannot mark rows.",
            "Choose another column. Marked rows count as gone, also without a scope that leaves them out",
        )
    if column.generated or column.auto_increment or column.required:
        raise _refused(
            f"{column.name} cannot mark rows: it has no default that an unmarked row gets back.", "Give it a default"
        )
    own = f"t.{quote_name(column.name)}"
    if not value and (now := _DATES.get(column.column_type.family)):
        digits = f"({column.declared_size})" if column.declared_size else ""
        if (column.default or "").lower().startswith(("current_timestamp", "now", "curdate")):
            raise _refused(
                f"{column.name} is the present time in new rows, so it marks none.", "Let its default be NULL"
            )
        return Marking(column.name, f"{now}{digits}", f"NOT ({own} <=> DEFAULT({own}))")
    value = value or "1"
    if (column.default or "").strip("'").lower() == value.lower():
        raise _refused(
            f"{value} is the default of {column.name}, which rows of the file have.",
            f"Say which value marks the others: --missing mark={column.name}:VALUE",
        )
    literal = _literal(column, value)
    return Marking(column.name, literal, f"{own} <=> {literal}")


def _literal(column: Column, value: str) -> str:
    is_number = column.column_type.family in _NUMBERS and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value)
    return value if is_number else quote_text(value)


def _refused(what: str, advice: str) -> Problem:
    return Problem(what, advice=f"{advice}.", option="missing")
