"""OpenDocument spreadsheets (.ods): sheets and cells (OpenDocument 1.3 part 3, 9 and 19)."""

import re

from importer.engine.errors import SourceProblem
from importer.engine.source.formats.spreadsheet.archive import Parts, XmlStream, local
from importer.engine.source.formats.spreadsheet.cells import (
    EMPTY,
    UNCOMPUTED,
    Cell,
    FirstRows,
    Kind,
    Row,
    RowCells,
    Rows,
    Sheet,
    Text,
    exact_number,
    require_few_sheets,
    row_number,
    truth_of,
)
from importer.engine.source.records.blocks import MAX_RECORD_BYTES
from importer.engine.source.records.copy_escapes import escaped

_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_CELLS = ("table:table-cell", "table:covered-table-cell")
_DURATION = re.compile(r"(-?)P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d+))?S)?")
_NUMBERS = ("float", "percentage", "currency")


class Workbook:
    """An open spreadsheet. Raises SourceProblem if it has a password."""

    has_macros = False

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        if any(local(each.tag) == "encryption-data" for each in parts.tree(_MANIFEST).iter()):
            raise SourceProblem("The spreadsheet has a password.", advice="Save it without one.")
        if _CONTENT not in parts.NameToInfo:
            raise SourceProblem("This is no spreadsheet: it has no content.", advice="Save it again in its program.")

    def sheets(self, rows: int = 0) -> list[Sheet]:
        """The sheets in their order, each with its first `rows` rows. The content is read once for all of them."""
        reader = _SheetsReader(FirstRows(rows))
        for _ in reader.stream.each(self._parts, _CONTENT):
            pass
        pivot = "it is a pivot table, which summarises other cells"
        return [
            Sheet(name, name, False, pivot if name in reader.pivots else "", reader.first.of(name))
            for name in reader.names
        ]

    def rows(self, sheet: Sheet) -> Rows:
        """The rows of a sheet that have cells."""
        for found, used in _SheetReader(sheet.name).stream.each(self._parts, _CONTENT):
            for number, times, cells in found:
                yield from _rows(number, times, cells, used)


def _rows(number: int, times: int, cells: list[Cell], used: int = 0) -> Rows:
    return (Row(number + at, cells, used) for at in range(times))


def _sheet_of(address: str) -> str:
    return address.partition(":")[0].rpartition(".")[0].strip("'$")


class _SheetReader:
    """Reads the cells of one sheet as they come from the parser."""

    def __init__(self, sheet: str) -> None:
        self._sheet = sheet
        self.stream = XmlStream(self._start, self._end, self._text)
        self._inside = False
        self._row = self._column = 0
        self._repeat_row = self._repeat = 1
        self._cells = RowCells()
        self._attributes: dict[str, str] = {}
        self._content = Text()
        self._paragraphs = 0
        self._in_text = self._in_other = 0

    def _is_wanted(self, sheet: str) -> bool:
        return sheet == self._sheet

    def _found(self, number: int, times: int, cells: list[Cell]) -> None:
        self.stream.found.append((number, times, cells))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table:table":
            self._inside = self._is_wanted(attributes.get("table:name", ""))
            self._row = 0
        if not self._inside:
            return
        if name in _CELLS:
            self._attributes, self._paragraphs = attributes, 0
            self._content = Text()
            self._repeat = _times(attributes, "table:number-columns-repeated")
        elif name == "table:table-row":
            self._cells, self._column = RowCells(self._row + 1), 0
            self._repeat_row = _times(attributes, "table:number-rows-repeated")
        elif _is_apart(name):
            self._in_other += 1
        elif name == "text:p" and not self._in_other:
            self._in_text += 1
            if self._paragraphs:
                self._content.add("\n")
            self._paragraphs += 1
        elif self._in_text and not self._in_other and name in _SPACES:
            self._content.add(_SPACES[name] * min(MAX_RECORD_BYTES + 1, _times(attributes, "text:c")))

    def _end(self, name: str) -> None:
        if not self._inside:
            return
        if name in _CELLS:
            if (cell := self._cell()) is not EMPTY:
                self._cells.put(self._column, cell, self._repeat)
            self._column += self._repeat
        elif name == "table:table-row":
            if self._cells.cells:
                row_number(self._row + self._repeat_row)
                self._found(self._row + 1, self._repeat_row, self._cells.cells)
            self._row += self._repeat_row
        elif _is_apart(name):
            self._in_other -= 1
        elif name == "text:p" and not self._in_other:
            self._in_text -= 1
        elif name == "table:table":
            self._inside = False

    def _text(self, text: str) -> None:
        if self._in_text and not self._in_other:
            self._content.add(text)

    def _cell(self) -> Cell:
        attributes = self._attributes
        text = self._content.taken()
        kind = attributes.get("office:value-type", "")
        if attributes.get("calcext:value-type") == "error":
            return Cell(Kind.ERROR, escaped(text.encode()))
        if kind in _NUMBERS:
            return Cell(Kind.NUMBER, escaped(exact_number(attributes.get("office:value", "")).encode()))
        if kind == "date":
            date = attributes.get("office:date-value", "").replace("T", " ").removesuffix(" 00:00:00")
            return Cell(Kind.DATE, escaped(date.encode()))
        if kind == "time":
            return Cell(Kind.DATE, escaped(_clock(attributes.get("office:time-value", "")).encode()))
        if kind == "boolean":
            return truth_of(attributes.get("office:boolean-value", ""))
        if kind == "string":
            return Cell(Kind.TEXT, escaped(attributes.get("office:string-value", text).encode()))
        if "table:formula" in attributes and not text:
            return UNCOMPUTED
        return Cell(Kind.TEXT, escaped(text.encode())) if text else EMPTY


class _SheetsReader(_SheetReader):
    """Reads the names of all sheets, their first rows, and which are pivot tables."""

    def __init__(self, first: FirstRows) -> None:
        super().__init__("")
        self.names: list[str] = []
        self.pivots: set[str] = set()
        self.first = first

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        super()._start(name, attributes)
        if name == "table:data-pilot-table":
            self.pivots.add(_sheet_of(attributes.get("table:target-range-address", "")))

    def _is_wanted(self, sheet: str) -> bool:
        self._sheet = sheet
        self.names.append(sheet)
        require_few_sheets(len(self.names))
        return self.first.add(sheet, ())

    def _found(self, number: int, times: int, cells: list[Cell]) -> None:
        self._inside = self.first.add(self._sheet, _rows(number, times, cells))


def _clock(duration: str) -> str:
    """A duration such as PT36H30M00S as hours, minutes and seconds."""
    found = _DURATION.fullmatch(duration)
    if not found:
        return duration
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups()[1:5])
    fraction = (found[6] or "").rstrip("0")
    return f"{found[1]}{days * 24 + hours:02}:{minutes:02}:{seconds:02}{'.' if fraction else ''}{fraction}"


def _times(attributes: dict[str, str], name: str) -> int:
    """How often an element is repeated. Raises ValueError if the attribute is no such number."""
    number = int(attributes.get(name, "1"))
    if number < 0:
        raise ValueError(f"{name} is {number}")
    return number


def _is_apart(name: str) -> bool:
    """Whether the text of this element is none of the cell: a note's, or that of a drawing over it."""
    return name == "office:annotation" or name.startswith("draw:")


_SPACES = {"text:s": " ", "text:tab": "\t", "text:line-break": "\n"}
