"""Words the server's warnings about a value for people who know the file but not the server."""

import re

from importer.engine.load.rejects.server_warnings import DUPLICATE, NO_PARENT, WRONG_COUNT, ServerWarning
from importer.engine.mapping.expressions import most_bytes
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.schema.column_types import Wording
from importer.engine.schema.table import Column, Key, Table
from importer.engine.source.records.row_error import RowError
from importer.engine.validation.verdict import BLANK, BLANK_FOR_NULL

# Manual, Server Error Message Reference. MariaDB reports 1265 where MySQL reports 1366, 1292 or 1406.
OUT_OF_RANGE = 1264
SKIPPED_HOUR = 1299  # ER_WARN_INVALID_TIMESTAMP
MISMATCHES = (1265, 1292, 1366, 1406)
ROW_TOO_LARGE = 1118
# The code of a row whose key no row of the table has, where rows are only changed.
UNKNOWN_KEY = "unknown key"
NULL_KEY = "key is NULL"
OUTSIDE = "outside the scope"
MOST_COLUMNS_NAMED = 3

_KEY = re.compile(r"for key '(.*)'$")
_PARENT = re.compile(r"FOREIGN KEY \(([^)]*)\) REFERENCES (`[^(]*`)")
_QUOTED = re.compile(r"'[^']*'")
# The value that mapping/expressions.py makes of a text that a transform cannot read.
_NOT_READ = re.compile(r"'\(*not (.{1,80}?): ")


def error_of(
    warning: ServerWarning, table: Table, field_count: int, wanted: int, *, blank: bool, size: int | None = None
) -> RowError:
    """The error of a row that is `blank` or has `field_count` fields instead of `wanted`.

    `size` is the number of bytes that are sent for the column of the warning, None if unknown.
    """
    code, message = str(warning.code), warning.reason
    if warning.code in WRONG_COUNT:
        return RowError(code, "The line is blank." if blank else wrong_count(field_count, wanted))
    wanted_reading = _NOT_READ.search(message)
    if wanted_reading and _is_reading(wanted_reading[1]):
        return RowError(code, f"The value cannot be read as {wanted_reading[1]}.", warning.column)
    plain = _plainly(warning, table, size)
    if plain:
        return RowError(code, plain, warning.column, server_message=message)
    general = _QUOTED.sub("…", message)
    return RowError(code, general, warning.column, server_message=message if general != message else "")


def _is_reading(words: str) -> bool:
    return any(words == each.words for each in TRANSFORMS.values())


def wrong_count(count: int, wanted: int) -> str:
    return f"The row has {count} field{'' if count == 1 else 's'} instead of {wanted}."


def _plainly(warning: ServerWarning, table: Table, size: int | None) -> str:
    """The reason in plain words; "" if the server's own message is the best there is."""
    if warning.code == DUPLICATE:
        key = key_of(warning, table)
        named = f" ({key.name}: {', '.join(key.columns)})" if key else ""
        return f"A row with this key{named} is there already: in the table, or earlier in the file."
    if warning.code in NO_PARENT:
        return _without_parent(warning.reason, table)
    if warning.code == ROW_TOO_LARGE:
        return _too_large(table)
    column = next((each for each in table.columns if each.name.lower() == warning.column.lower()), None)
    if column is None or warning.code not in (OUT_OF_RANGE, SKIPPED_HOUR, *MISMATCHES):
        return ""
    type_ = column.column_type
    if warning.code == SKIPPED_HOUR:
        return "The clocks of the time zone skip this hour: there is no such time. Another zone: --time-zone."
    if size == 0 and type_.is_typed:
        return BLANK if column.nullable or column.auto_increment else BLANK_FOR_NULL
    if type_.wording is Wording.INVALID:
        return f"The value is not a valid {column.type}."
    if warning.code == OUT_OF_RANGE:
        return f"The value is outside the range of {column.type}."
    if type_.wording is Wording.NOT_A_MEMBER:
        return f"The value is none of {column.type}."
    if type_.takes_hex and size is not None and size <= most_bytes(column):
        # The text itself would fit, so the error is about its digits: bytes have only one transform (transforms.py).
        return f"The value cannot be read as {TRANSFORMS['hex'].words}."
    # "Incorrect string value" is about the encoding, not the length.
    wrong_character = "ncorrect" in warning.reason
    if type_.wording is Wording.TOO_LONG and not wrong_character:
        return f"The value is too long for {column.type}."
    if wrong_character and column.charset and column.charset != "utf8mb4":
        return (
            f"The value has a character that the column's character set {column.charset} does not have; utf8mb4 has"
            f" all: ALTER TABLE ... MODIFY {column.name} {column.type} CHARACTER SET utf8mb4."
        )
    return f"The value does not fit {column.type}."


def _without_parent(message: str, table: Table) -> str:
    """The reason of a row without its parent; "" if the server does not name the parent."""
    parent = _PARENT.search(message)
    if not parent:
        return ""
    reason = f"There is no row in {parent[2]} for its {parent[1]}."
    if parent[2].strip("`").split("`.`")[-1] != table.name:
        return reason
    return f"{reason} If that row comes later in the file, load with --foreign-keys defer."


def _too_large(table: Table) -> str:
    """The reason of a row that is larger than a page of InnoDB allows, with the columns to shorten.

    A page of 16 KiB takes rows of about half its size (manual, InnoDB Row Formats); of a long value in a column of
    variable length, up to 768 bytes stay in the row, or 20 with the format DYNAMIC.
    """
    widest = sorted(filter(_declared_length, table.columns), key=_declared_length, reverse=True)[:MOST_COLUMNS_NAMED]
    named = ", ".join(f"{each.name} {each.type}" for each in widest)
    return (
        "The row is larger than a page of InnoDB allows (about 8,126 bytes without its long values)."
        f" Use ROW_FORMAT=DYNAMIC, or shorten columns{f'; the longest are {named}' if named else ''}."
    )


def _declared_length(column: Column) -> int:
    """The length of a CHAR, VARCHAR, BINARY or VARBINARY column in characters or bytes; 0 for other types."""
    return column.declared_size if column.column_type.wording is Wording.TOO_LONG else 0


def on_reading(column: str) -> str:
    """Advice if most errors come from the way in which a column is read; "" without a column."""
    if not column:
        return ""
    return (
        f" If {column} is written in another way than the server reads it, choose that way: under Read as on the new"
        " import page, or with --map."
    )


def key_of(warning: ServerWarning, table: Table) -> Key | None:
    """The key of a duplicate. The server's message has `PRIMARY` on MariaDB, `t.PRIMARY` on MySQL."""
    match = _KEY.search(warning.reason)
    name = match[1].lower() if match else ""
    return next((key for key in table.keys if name in (key.name.lower(), f"{table.name}.{key.name}".lower())), None)
