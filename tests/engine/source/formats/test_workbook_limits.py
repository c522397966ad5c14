"""Workbooks that are refused because a few bytes of them stand for very much."""

import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.profile.profile import profile_file
from importer.engine.units import MIB
from tests.engine.packing import stating
from tests.engine.source.formats.test_workbooks import FLOAT, ROWS
from tests.importer.formats.workbooks import parts_of, write_ods, write_xlsx

SHEET_OF_XLSX = '<sheet xmlns:r="r" name="{n}" sheetId="{n}" r:id="{id}"/>'
TABLE_OF_ODS = '<table:table table:name="{n}">{rows}</table:table>'


def with_sheets(path: Path, number: int, rows: str = "") -> Path:
    """The workbook with so many more sheets: those of Excel are its first one again, of ODS they have these rows."""
    with parts_of(path) as parts:
        name = next(each for each in ("xl/workbook.xml", "content.xml") if each in parts)
        kind, end = (SHEET_OF_XLSX, "</sheets>") if "xl/" in name else (TABLE_OF_ODS, "</office:spreadsheet>")
        first = re.search('<sheet .*?r?:?id="(.*?)"', parts[name])
        more = (kind.format(n=n, rows=rows, id=first[1] if first else "") for n in range(number))
        parts[name] = parts[name].replace(end, "".join(more) + end)
    return path


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
def test_very_many_sheets_are_refused(tmp_path: Path, write):
    path = with_sheets(write(tmp_path / "b", {"S": ROWS}), 1000)
    with pytest.raises(SourceProblem, match="more than 1,000 sheets"):
        profile_file(path)


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
def test_each_part_is_read_as_often_with_many_sheets_as_with_one(tmp_path: Path, monkeypatch, write):
    def readings(more: int) -> set[tuple[str, int]]:
        path = with_sheets(write(tmp_path / f"{more}", {"S": ROWS}), more)
        read: list[str] = []
        open_ = zipfile.ZipFile.open

        def noted(self: zipfile.ZipFile, name: str | zipfile.ZipInfo, *args: Any, **kwargs: Any) -> Any:
            read.append(name if isinstance(name, str) else name.filename)
            return open_(self, name, *args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(zipfile.ZipFile, "open", noted)
            profile_file(path, sheet="S")
        return set(Counter(read).items())

    assert readings(99) == readings(0)


def test_very_many_cells_in_the_first_rows_are_refused(tmp_path: Path):
    """A row that is repeated, with a cell that is repeated, is a few bytes."""
    cell = FLOAT + ' table:number-columns-repeated="16384"/>'
    rows = f'<table:table-row table:number-rows-repeated="50">{cell}</table:table-row>'
    assert profile_file(with_sheets(write_ods(tmp_path / "few", {"S": ROWS}), 4, rows), sheet="S").header == ("a", "b")
    with pytest.raises(SourceProblem, match="first 50 rows of the sheets have more than 4,000,000 cells"):
        profile_file(with_sheets(write_ods(tmp_path / "many", {"S": ROWS}), 5, rows), sheet="S")


def test_the_limits_hold_for_all_parts_together(tmp_path: Path):
    """Each by itself is within them."""
    path = write_xlsx(tmp_path / "b", {"S": ROWS, "T": ROWS})
    with_blanks(path, {f"xl/worksheets/sheet{n}.xml": 40 * MIB for n in (1, 2)})
    with pytest.raises(SourceProblem, match="more than 200 times its size"):
        profile_file(path)
    path = write_xlsx(tmp_path / "b", {"S": ROWS, "T": ROWS})
    with_blanks(path, {f"xl/worksheets/_rels/sheet{n}.xml.rels": 15 * MIB for n in (1, 2)} | {"xl/styles.xml": 3 * MIB})
    with pytest.raises(SourceProblem, match="sheet list, styles and relations have more than 33,554,432 bytes"):
        profile_file(path)


def with_blanks(path: Path, sizes: dict[str, int]) -> Path:
    """The workbook with so many blanks at the begin of these parts; a part that it does not have names no other."""
    with parts_of(path, zipfile.ZIP_DEFLATED) as parts:
        for name, size in sizes.items():
            begin, tag, rest = re.split(
                "(<[a-zA-Z].*?>)", parts.get(name, "<Relationships></Relationships>"), maxsplit=1
            )
            parts[name] = begin + tag + " " * size + rest
    return path


def test_a_workbook_of_very_many_parts_is_refused(tmp_path: Path):
    path = write_xlsx(tmp_path / "b", {"S": ROWS})
    with zipfile.ZipFile(path, "a") as archive:
        for n in range(10_000):
            archive.writestr(f"{n}", b"")
    path.write_bytes(stating(path.read_bytes(), 1))
    with pytest.raises(SourceProblem, match="more than 10,000 parts"):
        profile_file(path)
