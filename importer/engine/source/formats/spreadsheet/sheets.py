"""Workbooks of either kind: which sheet is read, where its header stands, and its rows as records."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Decision, Standing, answer
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.choice import Choice, Part, listed
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import LINE_END, TAB, CopyRecords, RowRefused
from importer.engine.source.formats.format import Layout, Wanted
from importer.engine.source.formats.header_names import are_units, match_names
from importer.engine.source.formats.spreadsheet import archive, ods, xlsx
from importer.engine.source.formats.spreadsheet.cells import (
    EMPTY,
    Cell,
    Kind,
    Row,
    Rows,
    Sheet,
    column_name,
    filled,
    shown_rows,
    text_of,
)
from importer.engine.source.formats.spreadsheet.sheet_footer import SheetFooter, above_footer
from importer.engine.source.records.refused import CELL_ERROR, HALF_CHARACTER, NO_RESULT

# Rows by which the header is found.
ROWS_LOOKED_AT = 50


class Workbook(Protocol):
    """An open workbook of either kind."""

    has_macros: bool

    def sheets(self, rows: int = 0) -> list[Sheet]: ...
    def rows(self, sheet: Sheet) -> Rows: ...


Open = Callable[[archive.Parts], Workbook]


SHEET = Choice("sheet", "--sheet", "sheet")


def _layout(contents: Contents, wanted: Wanted, open_book: Open) -> Layout:
    with archive.opened(contents) as opened:
        book = open_book(opened)
        sheets = book.sheets(ROWS_LOOKED_AT)
        first_rows = {each.name: each.first for each in sheets if not each.refusal}
        name, sheet_decision = _choose_sheet(sheets, first_rows, wanted)
        head = _Head(first_rows[name], wanted)
        sheet = next(each for each in sheets if each.name == name)
        footer = SheetFooter(book.rows(sheet), head.first.number, head.usual_cells, wanted)
        notes = ("The workbook has macros, which are not executed.",) if book.has_macros else ()
        chosen = {"sheet": name, "header": head.has_names, "skip_rows": head.above, "skip_footer": footer.left_out}
        decisions = (sheet_decision, *head.decisions(), *footer.decisions())
        return Layout(head.fields, chosen, decisions, notes, sampled=footer.sampled)


def _choose_sheet(sheets: Sequence[Sheet], rows: Mapping[str, Sequence[Row]], wanted: Wanted) -> tuple[str, Decision]:
    """The name of the sheet to read, and the decision. Raises SourceProblem if the stated one, or none, can be read."""
    usable = [each.name for each in sheets if rows.get(each.name) and not each.hidden]
    if stated := wanted.stated.get("sheet", ""):
        found = next((each for each in sheets if each.name == stated), None)
        if found and rows.get(stated):
            return stated, SHEET.stated(Part(stated, ()))[1]
        refused = f"cannot be imported: {found.refusal}" if found and found.refusal else "is empty"
        advice = f"Choose one of {listed(usable)}." if usable else "Save the data in a sheet."
        raise SourceProblem(f"The sheet {stated} {refused if found else 'is not in the workbook'}.", advice=advice)
    if not usable:
        refused = "; ".join(f"{each.name}: {each.refusal or 'hidden or empty'}" for each in sheets)
        raise SourceProblem(f"The workbook has no sheet with rows ({refused}).", advice="Save the data in a sheet.")
    parts = [Part(name, _Head(rows[name], Wanted({})).fields, shown_rows(rows[name][:2])) for name in usable]
    part, decision = SHEET.of(parts, wanted.columns)
    return part.name, decision


class _Head:
    """Where the header of a sheet stands, by its first rows and what is stated.

    `above`: the rows before it. `first`: the header, or the first row of values. `usual_cells`: the number of cells
    with a value that most rows have.
    """

    def __init__(self, rows: Sequence[Row], wanted: Wanted) -> None:
        stated = wanted.stated
        self._rows, self._stated = rows, stated
        self._title = self._title_rows()
        first = rows[min(self._title, len(rows) - 1)]
        self.above = int(stated["skip_rows"]) if "skip_rows" in stated else first.number - 1
        below = [row for row in rows if row.number > self.above]
        if not below:
            raise SourceProblem(f"The first {self.above:,} rows are left out, and none follows.", advice="Skip fewer.")
        self.first = below[0]
        self._certain = self._has_names_of(wanted.columns) or self._is_header(below)
        self._units = below[1] if len(below) > 2 and are_units([text_of(each) for each in below[1].cells]) else None
        self.has_names = bool(stated.get("header", self._certain is not False))
        width = max(len(row.cells) for row in below)
        ((self.usual_cells, _),) = Counter(filled(row.cells) for row in below).most_common(1)
        names = [text_of(each) for each in self.first.cells] if self.has_names else []
        names += [""] * (0 if self.has_names else width)
        self.fields = tuple(name if self.has_names else f"column_{at}" for at, name in enumerate(names, start=1))

    def _title_rows(self) -> int:
        """The number of filled rows at the top that have one cell, above a table of several columns."""
        widest = max(filled(row.cells) for row in self._rows)
        return next((at for at, row in enumerate(self._rows) if filled(row.cells) > 1 or widest == 1), 0)

    def _is_header(self, below: Sequence[Row]) -> bool | None:
        """Whether the first row has names: True if types below differ from it, False if it has values, None: unsure."""
        names = self.first.cells
        if any(each.kind not in (Kind.TEXT, Kind.EMPTY) for each in names) or not any(
            each.kind is Kind.TEXT for each in names
        ):
            return False
        typed = any(each.kind not in (Kind.TEXT, Kind.EMPTY) for row in below[1:] for each in row.cells[: len(names)])
        return True if typed else None

    def _has_names_of(self, columns: Sequence[str]) -> bool:
        """Whether all cells of the first row are names of these columns."""
        names = [text_of(each) for each in self.first.cells]
        return bool(columns) and all(match_names(names, columns))

    def decisions(self) -> Iterator[Decision]:
        if "skip_rows" in self._stated:
            yield Decision("skip_rows", str(self.above), Standing.STATED, "")
        elif self._title:
            shown = shown_rows(self._rows[: self._title])
            yield Decision(
                "skip_rows",
                str(self.above),
                Standing.GUESSED,
                f"The first {self.above:,} rows have a cell each, and a table of several columns follows.",
                answers=(
                    answer("they are left out", shown, skip_rows=self.above),
                    answer("the first row is the header", shown[:1], skip_rows=0),
                ),
            )
        if "header" in self._stated:
            yield Decision("header", "yes" if self.has_names else "no", Standing.STATED, "")
            return
        shown = shown_rows([self.first])
        names = answer("it has the names of the columns", shown, header=True)
        values = answer("it is data", shown, header=False)
        row = f"Row {self.first.number:,}"
        if self._certain and self._units and "skip_rows" not in self._stated:
            shown, above = shown_rows([self._units]), self._units.number
            yield Decision(
                "header",
                "yes",
                Standing.GUESSED,
                f"{row} has names, and row {above:,} below it may have units.",
                answers=(
                    answer("the first row has names, the second one is data", shown, header=True),
                    answer("both are left out: the fields go in by position", shown, header=False, skip_rows=above),
                ),
            )
        elif self._certain:
            yield Decision(
                "header",
                "yes",
                Standing.PROVED,
                f"{row} has names: of the table's columns, or above numbers and dates.",
            )
        elif self._certain is None:
            yield Decision(
                "header",
                "yes",
                Standing.GUESSED,
                f"All cells are texts: {row} may be the header.",
                answers=(names, values),
            )
        else:
            evidence = f"{row} has numbers, dates or empty cells: it may be data."
            yield Decision("header", "no", Standing.GUESSED, evidence, answers=(values, names))


def _convert(contents: Contents, dialect: Dialect, open_book: Open) -> Iterator[Piece]:
    width = len(dialect.fields)
    out, used = CopyRecords(width, tolerate=contents.tolerate), 0
    with archive.opened(contents) as opened:
        book = open_book(opened)
        sheet = next((each for each in book.sheets() if each.name == dialect.sheet), None)
        if sheet is None:
            raise SourceProblem(f"The sheet {dialect.sheet} is not in the workbook.", advice="Choose another sheet.")
        first = dialect.header
        for row in above_footer(book.rows(sheet), dialect.skip_footer):
            cells = row.cells
            if row.number <= dialect.skip_rows:
                continue
            if first:
                first = False
                continue
            used = row.used
            try:
                full = out.add(_record(cells, width, row.number, dialect), row.number)
            except RowRefused as refused:
                full = out.refuse(refused, row.number)
            if full:
                yield out.piece(used)
    yield from out.rest(used)


# A cell without a value: why, and what it has instead; {} is its text.
_WITHOUT_VALUE = {
    Kind.ERROR: (CELL_ERROR, "the error {}"),
    Kind.NO_RESULT: (NO_RESULT, "a formula without a saved result"),
    Kind.HALF_CHARACTER: (HALF_CHARACTER, "half of a character (a lone surrogate), which no column can store"),
}


def _record(cells: list[Cell], width: int, number: int, dialect: Dialect) -> bytes:
    """The record of a row. Raises RowRefused for a cell that has no value although it is not empty."""
    for at, cell in enumerate(cells):
        if cell.kind in _WITHOUT_VALUE:
            refusal, has = _WITHOUT_VALUE[cell.kind]
            what = f"The cell {column_name(at)}{number} of the sheet {dialect.sheet} has {has.format(text_of(cell))}."
            values = [EMPTY.value if each.kind in _WITHOUT_VALUE else each.value for each in cells]
            problem = RecordUnreadable(what, f"row {number:,}")
            raise RowRefused(refusal, problem, text_of(cell).encode(), at + 1, values)
    if len(cells) < width:
        cells = cells + [EMPTY] * (width - len(cells))
    return TAB.join([each.value for each in cells]) + LINE_END


def xlsx_layout(contents: Contents, wanted: Wanted) -> Layout:
    """The layout of an Excel workbook."""
    return _layout(contents, wanted, xlsx.Workbook)


def xlsx_convert(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    """The records of a sheet of an Excel workbook."""
    return _convert(contents, dialect, xlsx.Workbook)


def ods_layout(contents: Contents, wanted: Wanted) -> Layout:
    """The layout of an OpenDocument spreadsheet."""
    return _layout(contents, wanted, ods.Workbook)


def ods_convert(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    """The records of a sheet of an OpenDocument spreadsheet."""
    return _convert(contents, dialect, ods.Workbook)
