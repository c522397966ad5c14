"""OpenDocument spreadsheets (.ods): sheets and cells (OpenDocument 1.3 part 3, 9 and 19)."""

import re
import zipfile

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import DecompressionLimits
from importer.engine.source.formats.spreadsheet.archive import XmlStream, local, tree
from importer.engine.source.formats.spreadsheet.cells import (
    EMPTY,
    MOST_COLUMNS,
    UNCOMPUTED,
    Cell,
    Kind,
    Row,
    RowCells,
    Rows,
    Sheet,
    Text,
    plain_number,
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

    def __init__(self, archive: zipfile.ZipFile, limits: DecompressionLimits) -> None:
        self._archive, self._limits = archive, limits
        if any(local(each.tag) == "encryption-data" for each in tree(archive, _MANIFEST).iter()):
            raise SourceProblem("The spreadsheet has a password.", advice="Save it without one.")
        if _CONTENT not in archive.NameToInfo:
            raise SourceProblem("This is no spreadsheet: it has no content.", advice="Save it again in its program.")

    def sheets(self) -> list[Sheet]:
        """The sheets in their order."""
        names: list[str] = []
        pivots: set[str] = set()

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "table:table":
                stream.found.append(attributes.get("table:name", ""))
            elif name == "table:data-pilot-table":
                pivots.add(_sheet_of(attributes.get("table:target-range-address", "")))

        stream = XmlStream(start, lambda _name: None, lambda _text: None)
        for found, _ in stream.each(self._archive, _CONTENT, self._limits):
            names += found
        pivot = "it is a pivot table, which summarises other cells"
        return [Sheet(name, name, False, pivot if name in pivots else "") for name in names]

    def rows(self, sheet: Sheet) -> Rows:
        """The rows of a sheet that have cells."""
        yield from _SheetReader(sheet.name).rows(self._archive, self._limits)


def _sheet_of(address: str) -> str:
    return address.partition(":")[0].rpartition(".")[0].strip("'$")


class _SheetReader:
    """Reads the cells of one sheet as they come from the parser."""

    def __init__(self, sheet: str) -> None:
        self._sheet = sheet
        self._stream = XmlStream(self._start, self._end, self._text)
        self._inside = False
        self._row = 0
        self._repeat_row = self._repeat = 1
        self._cells = RowCells()
        self._attributes: dict[str, str] = {}
        self._content = Text()
        self._paragraphs = 0
        self._in_text = self._in_other = 0

    def rows(self, archive: zipfile.ZipFile, limits: DecompressionLimits) -> Rows:
        for found, used in self._stream.each(archive, _CONTENT, limits):
            for number, times, cells in found:
                for at in range(times):
                    yield Row(number + at, cells, used)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table:table":
            self._inside = attributes.get("table:name") == self._sheet
            self._row = 0
        if not self._inside:
            return
        if name in _CELLS:
            self._attributes, self._paragraphs = attributes, 0
            self._content = Text()
            self._repeat = _times(attributes, "table:number-columns-repeated")
        elif name == "table:table-row":
            self._cells = RowCells(self._row + 1)
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
            cell = self._cell()
            # Empty cells and rows up to the edge of the sheet are one with a number of repetitions.
            if cell is not EMPTY or len(self._cells.cells) + self._repeat < MOST_COLUMNS:
                self._cells.repeat(cell, self._repeat)
        elif name == "table:table-row":
            if any(each is not EMPTY for each in self._cells.cells):
                row_number(self._row + self._repeat_row)
                self._stream.found.append((self._row + 1, self._repeat_row, self._cells.cells))
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
            return Cell(Kind.NUMBER, escaped(plain_number(attributes.get("office:value", "")).encode()))
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
