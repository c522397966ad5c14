"""Excel workbooks and OpenDocument spreadsheets, from the file to the table."""

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from importer.engine.reading.questions import NeedsAnswer
from importer.jobs.rejects import downloads
from importer.models import ImportJob
from tests.importer.formats.workbooks import write_ods, write_xlsx

Status = ImportJob.Status
HEAD = ("id", "name", "price", "day", "at")
MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 59, 123000)
ROWS = (
    (1, "a\\b\né", 1.1, datetime.date(2024, 2, 29), MOMENT),
    (2, None, 123456789.25, None, None),
    (3, "NULL", -0.5, datetime.date(1900, 3, 1), None),
)
WANTED = [
    (1, "a\\b\né", Decimal("1.1"), "2024-02-29", "2024-02-29 23:59:59.123000"),
    (2, None, Decimal("123456789.25"), None, None),
    (3, "NULL", Decimal("-0.5"), "1900-03-01", None),
]
COLUMNS = "id, name, price, CAST(day AS CHAR), CAST(at AS CHAR)"


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
def test_every_cell_arrives_exactly(load, rows, tmp_path: Path, write):
    job = load(write(tmp_path / "book", {"Data": (HEAD, *ROWS)}))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert rows(COLUMNS) == WANTED


def test_the_sheet_that_fits_the_table_is_read_and_a_bad_row_is_named_by_its_number(load, rows, tmp_path: Path):
    path = write_xlsx(tmp_path / "book", {"Notes": [("about",)], "Data": (HEAD, *ROWS, (), ("x", "b"), (5, "c"))})
    job = load(path, on_error="reject", max_rejects=5)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, 4), job.problem
    assert [(each.line, each.column) for each in downloads.first_rows(job, 9)] == [(6, "id")]


def test_two_sheets_that_fit_are_a_question(load, tmp_path: Path):
    path = write_xlsx(tmp_path / "book", {"May": (HEAD, ROWS[0]), "June": (HEAD, ROWS[1])})
    with pytest.raises(NeedsAnswer) as asked:
        load(path)
    (question,) = [each for each in asked.value.reading.guesses if each.name == "sheet"]
    assert [answer.flag for answer in question.answers] == ["--sheet 'May'", "--sheet 'June'"]
    assert load(path, {"sheet": "June"}).loaded_rows == 1


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
def test_a_total_below_the_rows_is_a_question_and_not_loaded(load, rows, tmp_path: Path, write):
    path = write(tmp_path / "book", {"Data": (HEAD, *ROWS, (), ("Summe", None, 123456789.85))})
    with pytest.raises(NeedsAnswer) as asked:
        load(path)
    (question,) = asked.value.reading.guesses
    assert (question.name, question.answers[0].shows) == ("skip_footer", ("Summe, , 123456789.85",))
    job = load(path, {"skip_footer": 1})
    assert (job.status, job.loaded_rows, job.problem) == (Status.SUCCEEDED, 3, {})
    assert rows(COLUMNS) == WANTED
