"""OpenDocument spreadsheets (.ods): sheets and cells (OpenDocument 1.3 part 3, 9 and 19)."""

import re
import zipfile
from typing import Any

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import DecompressionLimits
from importer.engine.source.formats.copy_records import escaped
from importer.engine.source.formats.spreadsheet.archive import XmlStream, local, tree
from importer.engine.source.formats.spreadsheet.cells import EMPTY, Cell, Kind, Row, Rows, Sheet, plain_number

_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_CELLS = ("table:table-cell", "table:covered-table-cell")
_DURATION = re.compile(r"(-?)P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d+))?S)?")
_NUMBERS = ("float", "percentage", "currency")
# Empty cells and rows up to the edge of the sheet are one with a number of repetitions.
MOST_COLUMNS = 16_384


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
        self._cells: list[Cell] = []
        self._attributes: dict[str, str] = {}
        self._paragraphs: list[str] = []
        self._in_text = self._in_note = 0

    def rows(self, archive: zipfile.ZipFile, limits: DecompressionLimits) -> Rows:
        for found, used in self._stream.each(archive, _CONTENT, limits):
            for number, cells in found:
                yield Row(number, cells, used)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table:table":
            self._inside = attributes.get("table:name") == self._sheet
            self._row = 0
        if not self._inside:
            return
        if name in _CELLS:
            self._attributes, self._paragraphs = attributes, []
            self._repeat = int(attributes.get("table:number-columns-repeated", "1"))
        elif name == "table:table-row":
            self._cells = []
            self._repeat_row = int(attributes.get("table:number-rows-repeated", "1"))
        elif name == "office:annotation":
            self._in_note += 1
        elif name == "text:p" and not self._in_note:
            self._in_text += 1
            self._paragraphs.append("")
        elif self._in_text:
            self._add(_SPACES.get(name, lambda _: "")(attributes))

    def _end(self, name: str) -> None:
        if not self._inside:
            return
        if name in _CELLS:
            cell = self._cell()
            if cell is not EMPTY or len(self._cells) + self._repeat < MOST_COLUMNS:
                self._cells += [cell] * self._repeat
        elif name == "table:table-row":
            if any(each is not EMPTY for each in self._cells):
                for number in range(self._row + 1, self._row + 1 + self._repeat_row):
                    self._stream.found.append((number, self._cells))
            self._row += self._repeat_row
        elif name == "office:annotation":
            self._in_note -= 1
        elif name == "text:p" and not self._in_note:
            self._in_text -= 1
        elif name == "table:table":
            self._inside = False

    def _text(self, text: str) -> None:
        if self._in_text and not self._in_note:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._paragraphs and not self._in_note:
            self._paragraphs[-1] += text

    def _cell(self) -> Cell:
        attributes = self._attributes
        text = "\n".join(self._paragraphs)
        kind = attributes.get("office:value-type", "")
        if attributes.get("calcext:value-type") == "error":
            return Cell(Kind.ERROR, escaped(text.encode()))
        if kind in _NUMBERS:
            return Cell(Kind.NUMBER, plain_number(attributes.get("office:value", "")).encode())
        if kind == "date":
            date = attributes.get("office:date-value", "").replace("T", " ").removesuffix(" 00:00:00")
            return Cell(Kind.DATE, date.encode())
        if kind == "time":
            return Cell(Kind.DATE, _clock(attributes.get("office:time-value", "")).encode())
        if kind == "boolean":
            return Cell(Kind.TRUTH, attributes.get("office:boolean-value", "").encode())
        if kind == "string":
            return Cell(Kind.TEXT, escaped(attributes.get("office:string-value", text).encode()))
        if "table:formula" in attributes and not text:
            raise SourceProblem(
                "A formula has no saved result.",
                f"row {self._row + 1:,}",
                "Open the spreadsheet in its program, save it, and import it again.",
            )
        return Cell(Kind.TEXT, escaped(text.encode())) if text else EMPTY


def _clock(duration: str) -> str:
    """A duration such as PT36H30M00S as hours, minutes and seconds."""
    found = _DURATION.fullmatch(duration)
    if not found:
        return duration
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups()[1:5])
    fraction = (found[6] or "").rstrip("0")
    return f"{found[1]}{days * 24 + hours:02}:{minutes:02}:{seconds:02}{'.' if fraction else ''}{fraction}"


_SPACES: dict[str, Any] = {
    "text:s": lambda attributes: " " * int(attributes.get("text:c", "1")),
    "text:tab": lambda _: "\t",
    "text:line-break": lambda _: "\n",
}
