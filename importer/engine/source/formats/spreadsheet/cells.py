"""The rows of a sheet as both kinds of workbooks give them, and their numbers and dates as text."""

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import islice
from typing import NamedTuple

from importer.engine.errors import SourceProblem
from importer.engine.source.records.blocks import MAX_RECORD_BYTES
from importer.engine.source.records.copy_escapes import unescaped

# The edge of a sheet in Excel, and in LibreOffice with its very large sheets.
MOST_COLUMNS, MOST_ROWS = 16_384, 16_777_216
# What is looked at to find the sheet to import: each sheet, and the cells in the first rows of all of them.
MOST_SHEETS, MOST_FIRST_CELLS = 1000, 4_000_000
# A number in a workbook is a double, below 1.8e308.
MOST_DIGITS = 400
# Cells of a row that a question shows.
SHOWN_CELLS = 5


# A double keeps every number of 15 digits, and 17 digits identify every double (IEEE 754, binary64).
EXACT_DIGITS, MOST_DIGITS_OF_A_DOUBLE = 15, 17
_FRACTION = re.compile("[-+]?(?P<whole>[0-9]*)(?P<point>[.]?)(?P<rest>[0-9]*)(?P<exponent>(?:[eE][-+]?[0-9]+)?)")


class Kind(Enum):
    """What a cell has."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TRUTH = "truth"
    ERROR = "error"
    NO_RESULT = "no result"
    HALF_CHARACTER = "half character"
    EMPTY = "empty"


class Cell(NamedTuple):
    """A cell's kind, and its value as it stands in the working copy (copy_escapes.escaped)."""

    kind: Kind
    value: bytes


EMPTY = Cell(Kind.EMPTY, rb"\N")
# A formula whose result was not saved.
UNCOMPUTED = Cell(Kind.NO_RESULT, b"")
_TRUTHS = {"1": b"true", "true": b"true", "0": b"false", "false": b"false"}


def truth_of(text: str) -> Cell:
    """A cell with a truth value. Raises ValueError for a text that states none (XML Schema part 2, boolean)."""
    if text not in _TRUTHS:
        raise ValueError(f"a cell has the truth value {text!r}")
    return Cell(Kind.TRUTH, _TRUTHS[text])


class Row(NamedTuple):
    """A row of a sheet: its number from 1, its cells from the first column to the last one that has something, and the
    bytes of the file used.
    """

    number: int
    cells: list[Cell]
    used: int


Rows = Iterator[Row]


class RowCells:
    """Gathers the cells of a row, within the size of a record: a few bytes of a file may stand for very many cells.

    Empty cells at the end of a row are none of it: they cost no time, and the last cell has something.
    """

    __slots__ = ("_bytes", "_row", "cells")

    def __init__(self, row: int = 0) -> None:
        self._row = row
        self.cells: list[Cell] = []
        self._bytes = 0

    def put(self, column: int, cell: Cell, times: int = 1) -> None:
        """Put a cell into this column (from 0), and into those after it. What is left out before it is empty.

        Raises SourceProblem if the row is too wide or too large, ValueError if a cell is there.
        """
        missing = column - len(self.cells)
        if missing < 0:
            raise ValueError(f"the cells of row {self._row:,} are not in their order")
        self._bytes += len(cell[1]) * times + len(EMPTY[1]) * missing
        if self._bytes > MAX_RECORD_BYTES or column + times > MOST_COLUMNS:
            raise self._too_large()
        if missing:
            self.cells += [EMPTY] * missing
        if times == 1:
            self.cells.append(cell)
        else:
            self.cells += [cell] * times

    def _too_large(self) -> SourceProblem:
        return SourceProblem(
            f"A row has more than {MOST_COLUMNS:,} cells, or more than {MAX_RECORD_BYTES:,} bytes.",
            f"row {self._row:,}",
            "Remove what is far to the right of the table, and save the workbook.",
        )


class Text:
    """A text that a parser gives in pieces, within the size of a record."""

    __slots__ = ("_length", "_parts")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str) -> None:
        """Add a piece. Raises SourceProblem if the text gets too long."""
        self._parts.append(text)
        self._length += len(text)
        if self._length > MAX_RECORD_BYTES:
            raise SourceProblem(
                f"A cell has more than {MAX_RECORD_BYTES:,} characters.", advice="Shorten it, and save the workbook."
            )

    def taken(self) -> str:
        """The whole text, which is empty afterwards."""
        text = "".join(self._parts)
        self._parts, self._length = [], 0
        return text


def row_number(number: int) -> int:
    """The number of a row. Raises SourceProblem for one beyond the end of any sheet."""
    if number > MOST_ROWS:
        raise SourceProblem(
            f"The sheet has a row {number:,}, and a workbook has at most {MOST_ROWS:,}.",
            advice="Remove what is far below the table, and save the workbook.",
        )
    return number


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook. `refusal`: why it cannot be imported, "" if it can. `part`: where it lies in the file.

    `first`: its first rows, as many as were asked for.
    """

    name: str
    part: str
    hidden: bool = False
    refusal: str = ""
    first: tuple[Row, ...] = ()


class FirstRows:
    """The first rows of each sheet, by its part of the workbook: at most `most`, within a number of cells of all.

    A few bytes of a file may stand for very many cells.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._rows: dict[str, list[Row]] = {}
        self._cells = 0

    def __contains__(self, part: str) -> bool:
        return part in self._rows

    def of(self, part: str) -> tuple[Row, ...]:
        """Those of this part."""
        return tuple(self._rows.get(part, ()))

    def add(self, part: str, rows: Iterable[Row]) -> bool:
        """Add rows as far as they are among the first. Returns whether more are wanted.

        Raises SourceProblem if those of all parts have very many cells.
        """
        found = self._rows.setdefault(part, [])
        for row in islice(rows, self.most - len(found)):
            found.append(row)
            self._cells += len(row.cells)
            if self._cells > MOST_FIRST_CELLS:
                raise SourceProblem(
                    f"The first {self.most} rows of the sheets have more than {MOST_FIRST_CELLS:,} cells.",
                    advice="Save the sheet to import as a workbook of its own.",
                )
        return len(found) < self.most


def require_few_sheets(number: int) -> None:
    """Raise SourceProblem for more than MOST_SHEETS: the search for the one to import would take long."""
    if number > MOST_SHEETS:
        raise SourceProblem(
            f"The workbook has more than {MOST_SHEETS:,} sheets.",
            advice="Save the sheet to import as a workbook of its own.",
        )


def exact_number(text: str) -> str:
    """A number without an exponent, with the digits of the file; a text that is none as it is.

    A number in a workbook is a double, and Excel writes 1.1 with 17 digits: 1.1000000000000001. Of a fraction with 16
    or 17 digits, or such a number with an exponent, the fewest digits that stand for the same double are taken.
    """
    if len(text) > EXACT_DIGITS:
        text = _shortest(text)
    if "e" not in text and "E" not in text:
        return text
    number = _number(text)
    return text if number is None else f"{number:f}"


def _shortest(text: str) -> str:
    """The number with the fewest digits that are the same double, if its own are those of a double."""
    found = _FRACTION.fullmatch(text)
    if not found or not (found["point"] or found["exponent"]):
        return text
    digits = (found["whole"] + found["rest"]).lstrip("0")
    if not EXACT_DIGITS < len(digits) <= MOST_DIGITS_OF_A_DOUBLE:
        return text
    double = float(text)
    return min(text, repr(double), key=len) if double and math.isfinite(double) else text


def _number(text: str) -> Decimal | None:
    """The number that a text states; None for a text that states none, or one that is no double."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= MOST_DIGITS else None


# The day before the first one, and that of workbooks which count from 1904. A workbook that counts from 1900 has the
# day 60 for a 29 February 1900 that did not exist (ECMA-376 part 1, 18.17.4).
_EPOCH, _EPOCH_1904 = datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)
_FALSE_LEAP_DAY = 60
_DAYS = 2_958_466  # up to the end of the year 9999
_DAY = 86_400_000  # milliseconds, the precision of times in workbooks


def date_of(text: str, from_1904: bool) -> str | None:
    """A number of days as a date, a date with a time, or below 1 as a time; None if it is none."""
    number = _number(text)
    if number is None or not 0 <= number < _DAYS:
        return None
    days, milliseconds = divmod(int((number * _DAY).to_integral_value()), _DAY)
    if days == _DAYS:
        return None
    if days == 0 and not from_1904:
        return _clock(milliseconds)
    if not from_1904 and days == _FALSE_LEAP_DAY:
        return None
    epoch = _EPOCH_1904 if from_1904 else _EPOCH
    shift = 1 if not from_1904 and days < _FALSE_LEAP_DAY else 0
    moment = epoch + datetime.timedelta(days=days + shift, milliseconds=milliseconds)
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(" ", "milliseconds" if moment.microsecond else "seconds")


def duration_of(text: str) -> str | None:
    """A number of days as hours, minutes and seconds; None if it is none."""
    number = _number(text)
    if number is None or abs(number) >= _DAYS:
        return None
    milliseconds = int((number * _DAY).to_integral_value())
    return f"-{_clock(-milliseconds)}" if milliseconds < 0 else _clock(milliseconds)


def _clock(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    fraction = f".{rest:03}" if rest else ""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def column_name(number: int) -> str:
    """The letters of a column (from 0): A, B, ..., AA."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def filled(cells: Sequence[Cell]) -> int:
    """The number of cells that are not empty."""
    return sum(each.kind is not Kind.EMPTY for each in cells)


def text_of(cell: Cell) -> str:
    """The text of a cell, as users see it."""
    return "" if cell.kind is Kind.EMPTY else unescaped(cell.value).decode(errors="replace")


def shown_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """The first cells of each row, as one text."""
    return tuple(", ".join(text_of(each) for each in row.cells[:SHOWN_CELLS]) for row in rows)
