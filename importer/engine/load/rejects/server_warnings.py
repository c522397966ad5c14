"""Parses the server's warnings about a LOAD DATA: which row, which column, and why."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from importer.engine.load.methods import ServerWarningRow
from importer.engine.load.methods.field_expressions import TRACE

_ROW = re.compile(r"\s*\bat row (\d+)$|^Row (\d+) ")
# 'c' on MySQL, `db`.`table`.`c` on MariaDB.
_COLUMN = re.compile(r"\bcolumn ['`](?:.*`\.`)?([^'`]+)['`]", re.IGNORECASE)

# Numbers: manual, Server Error Message Reference.
DUPLICATE = 1062
NO_PARENT = (1216, 1452)
# Too few fields, and too many.
WRONG_COUNT = (1261, 1262)
TRUNCATED = 1265
# Given for the text of a field, before its row is traced.
INVALID_TEXT = 1300
DEPRECATED = 1287
# MySQL's UNHEX() warns without a row number; the column then warns again, with one (server-behaviour.md).
WRONG_VALUE = 1411
OF_UNHEX = " for function unhex"

_TRACE = f"Truncated incorrect INTEGER value: '{TRACE}"


@dataclass(frozen=True, slots=True)
class ServerWarning:
    """One line of SHOW WARNINGS. `row` is 1-based within the statement; 0 where the server gives none.

    `note`: its level is Note: digits or trailing spaces were cut off, which is not an error even in strict mode.
    """

    code: int
    reason: str
    row: int = 0
    column: str = ""
    note: bool = False

    @classmethod
    def from_message(cls, code: int, message: str, *, note: bool = False) -> "ServerWarning":
        # Plain searches before the expressions, to save time: there may be as many messages as rows.
        row = _ROW.search(message) if "row " in message[-20:] or message.startswith("Row ") else None
        column = _COLUMN.search(message) if "olumn" in message else None
        return cls(
            code=code,
            reason=_ROW.sub(lambda match: "The row " if match[2] else "", message).strip() if row else message,
            row=int(row[1] or row[2]) if row else 0,
            column=column[1] if column else "",
            note=note,
        )


# The number of rows that had been traced before a warning, and the warning.
Traced = tuple[int, ServerWarning]


@dataclass(frozen=True)
class Warnings:
    """The server's warnings about one statement. `listed` is how many lines SHOW WARNINGS gave.

    `rows_traced` is 0 unless the statement was a traced one; the traces themselves are not among the warnings.
    """

    all: tuple[Traced, ...] = ()
    listed: int = 0
    rows_traced: int = 0

    def without(self, unwanted: Callable[[ServerWarning], bool]) -> "Warnings":
        return replace(self, all=tuple(each for each in self.all if not unwanted(each[1])))


def read_warnings(rows: Sequence[ServerWarningRow]) -> Warnings:
    """Parse the warnings of a Report; traces and deprecations are left out."""
    warnings, traced = [], 0
    for level, code, text in rows:
        if text == f"{_TRACE}{traced + 1}'":
            traced += 1
        elif code != DEPRECATED and not (code == WRONG_VALUE and text.endswith(OF_UNHEX)):
            warnings.append((traced, ServerWarning.from_message(code, text, note=level == "Note")))
    return Warnings(tuple(warnings), len(rows), traced)


def by_number(warnings: Warnings) -> dict[int, ServerWarning]:
    """The first warning of each row that has a row number, by row (from 0) among those that were sent.

    A warning about the row's number of fields takes precedence over the others, which it explains.
    """
    by_row: dict[int, ServerWarning] = {}
    for _, warning in warnings.all:
        row = warning.row - 1
        if warning.row and (row not in by_row or warning.code in WRONG_COUNT):
            by_row[row] = warning
    return by_row


def by_trace(warnings: Warnings) -> dict[int, ServerWarning]:
    """The first warning of each row without a row number, by row (from 0) among those that a traced statement sent.

    A field's text is read before its row is traced. All other warnings without a number are about storing the row. A
    row may have no parent because its value was none: then that is the reason.
    """
    by_row: dict[int, ServerWarning] = {}
    of_values: dict[int, ServerWarning] = {}
    for traced, warning in warnings.all:
        row = traced if warning.code == INVALID_TEXT else traced - 1
        if warning.row:
            of_values.setdefault(row, warning)
        else:
            by_row.setdefault(row, of_values.get(row, warning) if warning.code in NO_PARENT else warning)
    return by_row
