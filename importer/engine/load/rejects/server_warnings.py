"""The server's warnings about a LOAD DATA: which row, which column, and why."""

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
# Too few fields, and too many.
WRONG_COUNT = (1261, 1262)
TRUNCATED = 1265
# Said of the text of a field, before the row it belongs to is traced.
INVALID_TEXT = 1300
DEPRECATED = 1287
# MySQL's UNHEX() says by itself, and of no row, what the column then says of its row (server-behaviour.md).
WRONG_VALUE = 1411
OF_UNHEX = " for function unhex"

_TRACE = f"Truncated incorrect INTEGER value: '{TRACE}"


@dataclass(frozen=True, slots=True)
class ServerWarning:
    """One line of SHOW WARNINGS. `row` is 1-based within the statement; 0 where the server does not say.

    `note`: the server calls it a Note: digits or trailing spaces were cut off, which is not an error even in strict
    mode.
    """

    code: int
    reason: str
    row: int = 0
    column: str = ""
    note: bool = False

    @classmethod
    def from_message(cls, code: int, message: str, *, note: bool = False) -> "ServerWarning":
        # Looked for letter by letter first: there may be as many messages as rows.
        row = _ROW.search(message) if "row " in message[-20:] or message.startswith("Row ") else None
        column = _COLUMN.search(message) if "olumn" in message else None
        return cls(
            code=code,
            reason=_ROW.sub(lambda found: "The row " if found[2] else "", message).strip() if row else message,
            row=int(row[1] or row[2]) if row else 0,
            column=column[1] if column else "",
            note=note,
        )


# A warning, and the number of rows (from 0) that had been traced when it came.
Traced = tuple[int, ServerWarning]


@dataclass(frozen=True)
class Warnings:
    """What the server said about one statement. `listed` is how many of its warnings it showed.

    `rows_traced` is 0 unless the statement was a traced one; the traces themselves are not among the warnings.
    """

    all: tuple[Traced, ...] = ()
    listed: int = 0
    rows_traced: int = 0

    def without(self, unwanted: Callable[[ServerWarning], bool]) -> "Warnings":
        return replace(self, all=tuple(each for each in self.all if not unwanted(each[1])))


def read_warnings(said: Sequence[ServerWarningRow]) -> Warnings:
    """What the lines of a Report mean."""
    found, traced = [], 0
    for level, code, text in said:
        if text == f"{_TRACE}{traced + 1}'":
            traced += 1
        elif code != DEPRECATED and not (code == WRONG_VALUE and text.endswith(OF_UNHEX)):
            found.append((traced, ServerWarning.from_message(code, text, note=level == "Note")))
    return Warnings(tuple(found), len(said), traced)


def by_number(warnings: Warnings) -> dict[int, ServerWarning]:
    """By row (from 0) among those that were sent: the first warning with its number that is about it.

    One about its count of fields comes before the others, which it explains.
    """
    found: dict[int, ServerWarning] = {}
    for _, warning in warnings.all:
        row = warning.row - 1
        if warning.row and (row not in found or warning.code in WRONG_COUNT):
            found[row] = warning
    return found


def by_trace(warnings: Warnings) -> dict[int, ServerWarning]:
    """By row (from 0) among those that were sent: the first warning without a number, of a traced statement.

    A field's text is read before its row is traced; all else that has no number is about storing the row.
    """
    found: dict[int, ServerWarning] = {}
    for traced, warning in warnings.all:
        if not warning.row:
            found.setdefault(traced if warning.code == INVALID_TEXT else traced - 1, warning)
    return found
