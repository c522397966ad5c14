"""Excel workbooks (.xlsx, .xlsm): sheets, formats of numbers, shared texts and cells (ECMA-376 part 1, 18)."""

import re
from array import array
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from mmap import ACCESS_READ, mmap
from struct import Struct
from typing import BinaryIO
from xml.etree.ElementTree import Element

from importer.engine.errors import SourceProblem
from importer.engine.source.formats.contents import temporary_file
from importer.engine.source.formats.spreadsheet.archive import Parts, XmlStream, attribute, children, children_of
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
    date_of,
    duration_of,
    exact_number,
    require_few_sheets,
    row_number,
    truth_of,
)
from importer.engine.source.records.copy_escapes import escaped

_WORKBOOK, _STYLES = "xl/workbook.xml", "xl/styles.xml"
# Number formats without a code of their own: dates and times, and a duration (18.8.30).
_DATES = {*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)}
_DURATIONS = {46}
_NO_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_NUMBER, _DATE, _DURATION = "number", "date", "duration"
_COLUMN = re.compile("[A-Z]{1,3}")
# The first byte of each surrogate in UTF-8, if they were in it, and of some letters.
_SURROGATES_BEGIN = b"\xed"
# Where a shared text and the next one begin.
_PLACES = Struct("=QQ")
_EXCEL_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")


class Workbook:
    """An open workbook. Raises SourceProblem if the archive is no workbook."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        if _WORKBOOK not in parts.NameToInfo:
            binary = "xl/workbook.bin" in parts.NameToInfo
            what = "a binary workbook (.xlsb)" if binary else "no workbook, but another Office document"
            raise SourceProblem(f"This is {what}.", advice="Save the table as .xlsx or CSV.")
        self._book = parts.tree(_WORKBOOK)
        self.from_1904 = any(
            attribute(each, "date1904") in ("1", "true") for each in children(self._book, "workbookPr")
        )
        self.has_macros = any(name.endswith("vbaProject.bin") for name in parts.NameToInfo)
        self._related: dict[str, dict[str, tuple[str, str]]] = {}

    def sheets(self, rows: int = 0) -> list[Sheet]:
        """The sheets in their order, each with its first `rows` rows."""
        elements = list(children(self._book, "sheet"))
        require_few_sheets(len(elements))
        sheets = [self._sheet(each) for each in elements]
        first = FirstRows(rows)
        for each in sheets if rows else ():
            if not each.refusal and each.part not in first:
                first.add(each.part, self.rows(each))
        return [replace(each, first=first.of(each.part)) for each in sheets]

    def _sheet(self, element: Element) -> Sheet:
        name = attribute(element, "name")
        hidden = attribute(element, "state") in ("hidden", "veryHidden")
        kind, part = self._relations(_WORKBOOK).get(attribute(element, "id"), ("", ""))
        if kind != "worksheet" or part not in self._parts.NameToInfo:
            return Sheet(name, part, hidden, "it has a chart or macros, and no cells")
        if any(kind == "pivotTable" for kind, _ in self._relations(part).values()):
            return Sheet(name, part, hidden, "it is a pivot table, which summarises other cells")
        return Sheet(name, part, hidden)

    def _relations(self, part: str) -> dict[str, tuple[str, str]]:
        """The parts that this part names: kind and path by id."""
        if part in self._related:
            return self._related[part]
        folder, _, file = part.rpartition("/")
        found = self._related[part] = {}
        for each in children(self._parts.tree(f"{folder}/_rels/{file}.rels"), "Relationship"):
            target = attribute(each, "Target")
            path = target.lstrip("/") if target.startswith("/") else f"{folder}/{target}"
            found[attribute(each, "Id")] = (attribute(each, "Type").rpartition("/")[2], path)
        return found

    def rows(self, sheet: Sheet) -> Rows:
        """The rows of a sheet that have cells."""
        return _SheetReader(self._texts, self._formats, self.from_1904).rows(self._parts, sheet.part)

    @cached_property
    def _texts(self) -> "SharedTexts":
        texts = SharedTexts(self._parts.files)
        part = next((path for kind, path in self._relations(_WORKBOOK).values() if kind == "sharedStrings"), "")
        if part in self._parts.NameToInfo:
            texts.read(self._parts, part)
        return texts

    @cached_property
    def _formats(self) -> list[str]:
        """What the numbers of each cell style are."""
        styles = self._parts.tree(_STYLES)
        # Styles of tables have formats of their own (dxfs), which use the same numbers.
        formats = children_of(styles, "numFmts", "numFmt")
        codes = {attribute(each, "numFmtId"): attribute(each, "formatCode") for each in formats}
        return [_kind_of_format(attribute(each, "numFmtId"), codes) for each in children_of(styles, "cellXfs", "xf")]


def _kind_of_format(number: str, codes: dict[str, str]) -> str:
    if number in codes:
        # One that only hides values, such as [=0]"", tells nothing of the others.
        sections = (each.strip() for each in _NO_CODE.sub("", codes[number]).lower().split(";"))
        code = next(filter(None, sections), "")
        if re.search(r"\[[hms]+\]", code):
            return _DURATION
        return _DATE if re.search("[dmyhs]", code) and "general" not in code else _NUMBER
    known = int(number) if number.isdigit() else 0
    return _DATE if known in _DATES else _DURATION if known in _DURATIONS else _NUMBER


class SharedTexts:
    """The texts that cells name by number, escaped for the copy: in temporary files, so that memory is bounded.

    One has the texts, and the other where each begins in it. `files` closes both.
    """

    def __init__(self, files: ExitStack) -> None:
        self._files = files
        self._count = 0
        self._texts: mmap | bytes = b""
        self._begins: mmap | bytes = b""

    def read(self, parts: Parts, part: str) -> None:
        text = Text()
        capturing = skipping = False

        def start(name: str, _attributes: dict[str, str]) -> None:
            nonlocal capturing, skipping
            tag = name.rpartition(":")[2]
            if tag == "rPh":  # how to pronounce it
                skipping = True
            elif tag == "t":
                capturing = not skipping

        def end(name: str) -> None:
            nonlocal capturing, skipping
            tag = name.rpartition(":")[2]
            if tag == "t":
                capturing = False
            elif tag == "rPh":
                skipping = False
            elif tag == "si":
                stream.found.append(copied_text(text.taken()))

        stream = XmlStream(start, end, lambda piece: text.add(piece) if capturing else None)
        size = 0
        texts, begins = (self._files.enter_context(temporary_file()) for _ in range(2))
        for found, _ in stream.each(parts, part):
            places = array("Q", accumulate(map(len, found), initial=size))
            size = places.pop()
            begins.write(places.tobytes())
            texts.write(b"".join(found))
            self._count += len(found)
        begins.write(array("Q", [size]).tobytes())
        self._texts, self._begins = self._mapped(texts), self._mapped(begins)

    def _mapped(self, file: BinaryIO) -> mmap | bytes:
        file.flush()
        if not file.tell():
            return b""
        return self._files.enter_context(closing(mmap(file.fileno(), 0, access=ACCESS_READ)))

    def __getitem__(self, number: int) -> bytes:
        if not 0 <= number < self._count:
            raise IndexError(f"there is no shared text {number}")
        begin, end = _PLACES.unpack_from(self._begins, number * 8)
        return self._texts[begin:end]


def copied_text(text: str) -> bytes:
    """A text of a workbook for the copy. Characters that XML does not have are written as _x0007_.

    A character beyond U+FFFF may be written as its two surrogates; a lone one stays, and is not UTF-8.
    """
    if "_x" in text:
        text = _EXCEL_ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return escaped(text.encode(errors="surrogatepass"))


def _text_cell(copied: bytes) -> Cell:
    """The cell for a text of copied_text()."""
    if _SURROGATES_BEGIN in copied:
        try:
            copied.decode()
        except UnicodeDecodeError:
            return Cell(Kind.HALF_CHARACTER, copied)
    return Cell(Kind.TEXT, copied)


class _SheetReader:
    """Reads the cells of a sheet as they come from the parser."""

    def __init__(self, texts: SharedTexts, formats: list[str], from_1904: bool) -> None:
        self._texts, self._formats, self._from_1904 = texts, formats, from_1904
        self._stream = XmlStream(self._start, self._end, self._text)
        self._row = self._column = 0
        self._cells = RowCells()
        self._type = self._style = ""
        self._parts = Text()
        self._capturing = self._has_formula = self._has_value = self._skipping = False
        self._columns: dict[str, int] = {}

    def rows(self, parts: Parts, part: str) -> Rows:
        for found, used in self._stream.each(parts, part):
            for number, cells in found:
                yield Row(number, cells, used)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2] if ":" in name else name
        if tag == "c":
            place = attributes.get("r", "").rstrip("0123456789")
            self._column = self._number_of(place) if place else self._column + 1
            self._type, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._has_formula = self._has_value = False
        elif tag == "v" or (tag == "t" and not self._skipping):
            self._capturing = self._has_value = True
        elif tag == "f":
            self._has_formula = True
        elif tag == "rPh":
            self._skipping = True
        elif tag == "row":
            given = attributes.get("r", "")
            self._row = row_number(int(given) if given else self._row + 1)
            self._column, self._cells = -1, RowCells(self._row)

    def _number_of(self, letters: str) -> int:
        if letters not in self._columns:
            number = 0
            if not _COLUMN.fullmatch(letters):
                raise ValueError(f"there is no column {letters}")
            for each in letters:
                number = number * 26 + ord(each) - ord("A") + 1
            self._columns[letters] = number - 1
        return self._columns[letters]

    def _text(self, text: str) -> None:
        if self._capturing:
            self._parts.add(text)

    def _end(self, name: str) -> None:
        tag = name.rpartition(":")[2] if ":" in name else name
        if tag in ("v", "t"):
            self._capturing = False
        elif tag == "c":
            if (cell := self._cell()) is not EMPTY:
                self._cells.put(self._column, cell)
        elif tag == "row":
            if self._cells.cells:
                self._stream.found.append((self._row, self._cells.cells))
        elif tag == "rPh":
            self._skipping = False

    def _cell(self) -> Cell:
        text = self._parts.taken()
        if not (text or self._has_value) or (not text and self._has_formula and self._type != "str"):
            return UNCOMPUTED if self._has_formula else EMPTY
        match self._type:
            case "s":
                return _text_cell(self._texts[int(text)])
            case "n":
                return self._number(text) if text else EMPTY
            case "b":
                return truth_of(text) if text else EMPTY
            case "e":
                return Cell(Kind.ERROR, escaped(text.encode()))
            case "d":
                return Cell(Kind.DATE, escaped(text.replace("T", " ").removesuffix("Z").encode()))
        return _text_cell(copied_text(text))

    def _number(self, text: str) -> Cell:
        kind = self._formats[int(self._style)] if self._style and int(self._style) < len(self._formats) else _NUMBER
        if kind == _DURATION and (duration := duration_of(text)):
            return Cell(Kind.DATE, duration.encode())
        if kind == _DATE and (date := date_of(text, self._from_1904)):
            return Cell(Kind.DATE, date.encode())
        return Cell(Kind.NUMBER, escaped(exact_number(text).encode()))
