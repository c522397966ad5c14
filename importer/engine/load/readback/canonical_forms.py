"""The form in which the server shows a stored value as a text, by the type of its column.

A digest can compare a column whose form is known before the load: the file's value is brought into it
(native/src/digests/canonical.h), and the server is asked for the CRC-32 of what it shows. The other columns are read
back value by value.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.schema.charsets import AS_UTF8, WITH_ASCII
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column

# Bytes; row_digests.c has one byte for the length.
LONGEST_MARKER = 255


class Form(IntEnum):
    """row_digests.c's `enum form`."""

    SKIPPED, VERBATIM, STRIPPED, PADDED, NUMBER, DAY, MOMENT, CLOCK, BITS, DOUBLE = range(10)


@dataclass(frozen=True)
class CanonicalForm:
    """`scale`: digits after the point, or the bytes that a value is padded to. `sql` shows the value as that text.

    `ascii_sql` shows it with the same bytes if the text is of ASCII alone, and else with others.
    """

    form: Form
    sql: str
    scale: int = 0
    ascii_sql: str = ""

    def sql_of(self, *, ascii_only: bool) -> str:
        """SQL that shows the value, for comparison with texts of ASCII alone or with any."""
        return self.ascii_sql if ascii_only and self.ascii_sql else self.sql


def canonical_form(compared: ComparedColumn) -> CanonicalForm | None:
    """The form of the column's stored values; None if it cannot be known before the load (why_unknown())."""
    if why_unknown(compared):
        return None
    return _FORMS[compared.column.column_type.family](compared.column)


def why_unknown(compared: ComparedColumn) -> str:
    """Why the form of the column's stored values is not known before the load; "" if it is."""
    column = compared.column
    if compared.expression:
        return "converted while they load"
    if column.column_type.family not in _FORMS or column.column_type.is_single:
        return f"{column.kind.upper()} is shown in another form than it is written"
    if column.column_type.family is Family.FLOATING and "(" in column.type:
        return f"{column.type.upper()} rounds them"
    if "zerofill" in column.type.lower():
        return "ZEROFILL puts zeros before them"
    if any(len(marker) > LONGEST_MARKER for marker in compared.null_bytes):
        return "a NULL marker is too long"
    return ""


def unknown_columns(readback: Readback) -> dict[str, list[str]]:
    """The names of the columns that are read back value by value, by the reason for it."""
    columns: dict[str, list[str]] = {}
    for each in readback.readings:
        if why := why_unknown(each):
            columns.setdefault(why, []).append(each.column.name)
    return columns


def without_digest(readback: Readback) -> Readback | None:
    """Reads back only the columns whose form is unknown, and the key; None if there are none."""
    names = {name for columns in unknown_columns(readback).values() for name in columns}
    if not names:
        return None
    key = {name.lower() for name in readback.key}
    kept = tuple(each for each in readback.readings if each.column.name in names or each.column.name.lower() in key)
    return replace(readback, readings=kept)


def _number(column: Column) -> CanonicalForm:
    scale = re.search(r"\(\d+,(\d+)\)", column.type)
    return CanonicalForm(Form.NUMBER, quote_name(column.name), int(scale[1]) if scale else 0)


def _with(form: Form) -> Callable[[Column], CanonicalForm]:
    """The form of a type whose parentheses have the digits of its fraction, or nothing that matters."""

    def of(column: Column) -> CanonicalForm:
        return CanonicalForm(form, quote_name(column.name), column.declared_size if form in _SIZED else 0)

    return of


def _text(column: Column) -> CanonicalForm:
    name = quote_name(column.name)
    form = Form.STRIPPED if column.column_type.fixed else Form.VERBATIM
    if column.charset in AS_UTF8:
        return CanonicalForm(form, name)
    # The conversion takes longer than the digest (server-behaviour.md, Rejects, checks and read-back).
    own_bytes = name if column.charset in WITH_ASCII else ""
    return CanonicalForm(form, f"CONVERT({name} USING utf8mb4)", ascii_sql=own_bytes)


def _bytes(column: Column) -> CanonicalForm:
    """BINARY(n) is padded with zero bytes (manual, The BINARY and VARBINARY Types)."""
    if not column.column_type.fixed:
        return CanonicalForm(Form.VERBATIM, quote_name(column.name))
    return CanonicalForm(Form.PADDED, quote_name(column.name), column.declared_size or 1)


def _bits(column: Column) -> CanonicalForm:
    return CanonicalForm(Form.BITS, f"({quote_name(column.name)} + 0)")


_SIZED = (Form.MOMENT, Form.CLOCK)
_FORMS: Mapping[Family, Callable[[Column], CanonicalForm]] = {
    **dict.fromkeys((Family.INTEGER, Family.DECIMAL), _number),
    Family.YEAR: _with(Form.VERBATIM),
    Family.DATE: _with(Form.DAY),
    Family.MOMENT: _with(Form.MOMENT),
    Family.TIME: _with(Form.CLOCK),
    **dict.fromkeys((Family.CHARACTER, Family.ENUM, Family.SET), _text),
    Family.BYTES: _bytes,
    Family.BIT: _bits,
    Family.FLOATING: _with(Form.DOUBLE),
}
