"""Makes workbooks with the libraries that others use to write them."""

import datetime
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import openpyxl
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

To = TypeVar("To", Path, BytesIO)
Sheets = dict[str, Sequence[Sequence[Any]]]


def write_xlsx(path: To, sheets: Sheets, *, from_1904: bool = False) -> To:
    """Write a workbook with these sheets, each a list of rows, to a path or an open file."""
    book = openpyxl.Workbook(write_only=True)
    if from_1904:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


@contextmanager
def parts_of(path: Path, packing: int = zipfile.ZIP_STORED) -> Iterator[dict[str, str]]:
    """The parts of a workbook by name, which may be changed. `packing`: of those that are written."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    yield parts
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)


_INLINE = re.compile(r't="inlineStr"><is>(.*?)</is>', re.DOTALL)


def share_texts(path: Path, more: str = "") -> Path:
    """Put the texts of the first sheet's cells where Excel has them, in a part of their own. `more`: its last texts."""
    texts: list[str] = []

    def shared(found: re.Match[str]) -> str:
        texts.append(f"<si>{found[1]}</si>")
        return f't="s"><v>{len(texts) - 1}</v>'

    with parts_of(path) as parts:
        sheet, relations = "xl/worksheets/sheet1.xml", "xl/_rels/workbook.xml.rels"
        parts[sheet] = _INLINE.sub(shared, parts[sheet])
        parts["xl/sharedStrings.xml"] = f"<sst>{''.join(texts)}{more}</sst>"
        relation = '<Relationship Id="texts" Type="http://x/sharedStrings" Target="sharedStrings.xml"/>'
        parts[relations] = parts[relations].replace("</Relationships>", f"{relation}</Relationships>")
    return path


def write_ods(path: Path, sheets: Sheets) -> Path:
    """Write a spreadsheet with these sheets, each with an empty rest up to its edge."""
    book = OpenDocumentSpreadsheet()
    for name, rows in sheets.items():
        table = Table(name=name)
        for row in rows:
            table.addElement(_row(row))
        rest = TableRow(numberrowsrepeated=1_000_000)
        rest.addElement(TableCell(numbercolumnsrepeated=16_384))
        table.addElement(rest)
        book.spreadsheet.addElement(table)
    book.save(str(path))
    return path


def _row(values: Sequence[Any]) -> TableRow:
    row = TableRow()
    for value in values:
        row.addElement(_cell(value))
    return row


def _cell(value: Any) -> TableCell:
    if value is None:
        return TableCell()
    if isinstance(value, bool):
        return TableCell(valuetype="boolean", booleanvalue=str(value).lower())
    if isinstance(value, int | float):
        return TableCell(valuetype="float", value=value)
    if isinstance(value, datetime.date):
        return TableCell(valuetype="date", datevalue=value.isoformat())
    cell = TableCell(valuetype="string")
    for line in value.split("\n"):
        cell.addElement(P(text=line))
    return cell
