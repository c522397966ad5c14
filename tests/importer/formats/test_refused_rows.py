"""Rows that their format cannot read: they stop the import before it begins, or are rejected with their place."""

from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from importer.engine.errors import RecordUnreadable
from importer.jobs.actions import fixes
from importer.jobs.rejects import downloads
from importer.jobs.rejects import rows as rejected
from importer.models import ImportJob
from tests.importer.formats.workbooks import write_xlsx
from tests.importer.steps import run
from tests.people import operator
from tests.targets import on_one_server

pytestmark = on_one_server
JSON = b'{"id": 1}\n\n{"id": 2, "na\n[3]\n{"id": 4, "id": 5}\n{"id": 6, "name": "\\ud800"}\n{"id": 7, "name": "a"}\n'
SQL = b"INSERT INTO items (name, id) VALUES ('a', 1),\n('b', 1+1),\n(CONCAT('c', ','), 3),\n('d'),\n('e', 5);\n"


def write_json(folder: Path) -> Path:
    path = folder / "items.jsonl"
    path.write_bytes(JSON)
    return path


def write_dump(folder: Path) -> Path:
    path = folder / "items.sql"
    path.write_bytes(SQL)
    return path


def write_book(folder: Path) -> Path:
    path = write_xlsx(
        folder / "items.xlsx", {"S": [("id", "name", "price"), (1, "a", 1.5), (), (2, "b", 2.5), (3, "c", 3)]}
    )
    book = openpyxl.load_workbook(path)
    book["S"]["C4"], book["S"]["A5"] = "#REF!", "=1+2"
    book.save(path)
    return path


CASES = [
    (
        write_json,
        [1, 7],
        [
            (3, "", '{"id": 2, "na', "The JSON of the row ends in the middle of an object."),
            (4, "", "[3]", "The row is no JSON object with values."),
            (5, "", '{"id": 4, "id": 5}', "A key stands twice in the row."),
            (6, "", '{"id": 6, "name": "\\ud800"}', "A text has half of a character (a lone surrogate)."),
        ],
    ),
    (
        write_dump,
        [1, 5],
        [
            (2, "id", "1+1", "The value is a function or an expression, and nothing of a dump is executed."),
            (
                3,
                "name",
                "CONCAT('c', ',')",
                "The value is a function or an expression, and nothing of a dump is executed.",
            ),
            (4, "", "1 value", "The row has another number of values than its statement has columns."),
        ],
    ),
    (
        write_book,
        [1],
        [
            (4, "price", "#REF!", "The cell has an error."),
            (5, "id", r"\N", "The cell has a formula without a saved result."),
        ],
    ),
]


@pytest.mark.parametrize(("write", "kept", "refused"), CASES, ids=["json", "sql", "xlsx"])
def test_they_are_rejected_with_their_place_and_value(load, rows, tmp_path: Path, write, kept, refused):
    job = load(write(tmp_path), on_error="reject", max_rejects=9)
    assert (job.status, job.balanced, job.rejected_rows) == ("succeeded", True, len(refused)), job.problem
    found = [(each.line, each.column, each.value, each.reason) for each in downloads.first_rows(job, 9)]
    assert found == refused
    assert [number for (number,) in rows("id")] == kept


@pytest.mark.parametrize(("write", "kept", "refused"), CASES, ids=["json", "sql", "xlsx"])
def test_they_stop_an_import_before_it_begins(load, tmp_path: Path, write, kept, refused):
    with pytest.raises(RecordUnreadable) as stopped:
        load(write(tmp_path))
    assert str(refused[0][0]) in stopped.value.where
    assert "--on-error reject" in stopped.value.advice
    assert not ImportJob.objects.exists()


def test_the_reject_file_has_what_there_is_of_each_and_can_be_corrected(load, rows, tmp_path: Path):
    job = load(write_book(tmp_path), on_error="reject", max_rejects=9)
    lines = b"".join(downloads.reject_file(job)).decode().splitlines()
    assert lines[:2] == ["id\tname\tprice", "2\tb\t\\N\t\\!cell error|4|3|#REF!"]
    again = tmp_path / downloads.file_name(job, "rejects")
    again.write_text("id\tname\tprice\n2\tb\t4.5\n")
    assert load(again).status == "succeeded"
    assert [number for (number,) in rows("id")] == [1, 2]


def test_keys_that_appear_late_are_rejected_rows(load, rows, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("importer.engine.source.formats.json.text.KEYS_BYTES", 0)
    path = tmp_path / "late.jsonl"
    path.write_text('{"id": 1}\n{"id": 2}\n{"id": 3, "name": "late"}\n')
    job = load(path, on_error="reject", max_rejects=9)
    (found,) = downloads.first_rows(job, 9)
    assert (found.line, found.value) == (3, '{"id": 3, "name": "late"}')
    assert found.reason.startswith("The row has a key that is not among those")
    assert rows("id") == [(1,), (2,)]


def test_a_refused_row_is_corrected_on_the_page_without_its_mark(load, rows, tmp_path: Path, no_workers):
    job = load(write_book(tmp_path), on_error="reject", max_rejects=9)
    (row, _) = rejected.rows(job, None, 0, 9)
    assert [each.text for each in fixes.cells_of(job, row)] == ["2", "b", "\\N"]
    person = operator("ann")
    fixes.save_fix(job, person, row, ["2", "b", "4.5"])
    again, count = fixes.load_fixed(job, person)
    assert (run(again).status, count) == ("succeeded", 1)
    assert rows("id, price")[1] == (2, Decimal("4.5"))
