"""JSON Lines and JSON arrays, from the file to the table."""

from decimal import Decimal
from pathlib import Path

import pytest

from importer.jobs.rejects import downloads
from importer.models import ImportJob
from tests.engine.packing import PACKED

Status = ImportJob.Status
LINES = (
    '{"id": 1, "name": "a\\tb\\\\N\\n\\u00e9", "price": 12345678901234567.123456, "day": "2024-02-29"}\n'
    "\n"
    '{"more": {"x":  [1, 2.50]}, "id": 2, "name": null, "price": 1e3}\n'
    '{"id": 3, "name": "NULL", "price": "4.5", "at": "2024-02-29T23:59:59.123456"}'
)
ROWS = [
    (1, "a\tb\\N\né", Decimal("12345678901234567.123456"), "2024-02-29", None, None),
    (2, None, Decimal("1000"), None, None, '{"x":  [1, 2.50]}'),
    (3, "NULL", Decimal("4.5"), None, "2024-02-29 23:59:59.123456", None),
]
COLUMNS = "id, name, price, CAST(day AS CHAR), CAST(at AS CHAR), more"


def as_array(lines: str) -> str:
    return "[\n" + ",\n".join(line for line in lines.split("\n") if line) + "\n]\n"


@pytest.mark.parametrize("pack", ["", "gzip"])
@pytest.mark.parametrize("write", [str, as_array], ids=["lines", "array"])
def test_every_value_arrives_exactly(load, rows, tmp_path: Path, write, pack: str):
    content = write(LINES).encode()
    path = tmp_path / "items.json"
    path.write_bytes(PACKED[pack](content) if pack else content)
    job = load(path)
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert rows(COLUMNS) == ROWS


def test_a_key_that_appears_late_is_a_field(load, rows, tmp_path: Path):
    path = tmp_path / "late.jsonl"
    early = "".join(f'{{"id": {n}, "name": "{"x" * 40}"}}\n' for n in range(18_000))
    path.write_text(early + '{"id": 18000, "more": "late"}\n')
    assert path.stat().st_size > 2**20
    job = load(path)
    assert job.status == Status.SUCCEEDED, job.problem
    assert rows("id, more")[-1] == (18_000, "late")


def test_a_rejected_row_is_named_by_its_line_in_the_file_and_can_be_loaded_again(load, rows, tmp_path: Path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": 1, "name": "a"}\n\n{"id": 2, "name": "%s"}\n{"id": "x"}\n{"id": 5}\n' % ("b" * 61))
    job = load(path, on_error="reject", max_rejects=10)
    assert (job.status, job.rejected_rows, job.loaded_rows) == (Status.SUCCEEDED, 2, 2), job.problem
    assert [(each.line, each.column) for each in downloads.first_rows(job, 9)] == [(3, "name"), (4, "id")]
    again = tmp_path / downloads.file_name(job, "rejects")
    again.write_bytes(b"".join(downloads.reject_file(job)).replace(b"b" * 61, b"b").replace(b"x", b"6"))
    assert load(again).status == Status.SUCCEEDED
    assert rows("id, name") == [(1, "a"), (2, "b"), (5, None), (6, None)]


def test_a_bad_row_stops_the_import_with_its_line_in_the_file(load, rows, tmp_path: Path):
    path = tmp_path / "bad.jsonl"
    path.write_text('\n\n{"id": 1}\n{"id": "x"}\n')
    job = load(path)
    assert job.status == Status.FAILED
    assert "line 4" in job.problem["where"]
    assert rows("id") == []


def test_a_sorted_copy_keeps_the_lines_of_the_file(load, rows, tmp_path: Path):
    path = tmp_path / "unsorted.jsonl"
    path.write_text('\n{"id": 3}\n{"id": 2, "price": "x"}\n\n{"id": 1}\n')
    job = load(path, on_error="reject", max_rejects=10, sort="key")
    assert (job.status, job.is_sorted) == (Status.SUCCEEDED, True), job.problem
    assert [(each.line, each.column) for each in downloads.first_rows(job, 9)] == [(3, "price")]
    assert rows("id") == [(1,), (3,)]


def test_a_line_that_is_cut_after_the_plan_was_made_fails_with_nothing_done(load, rows, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("importer.engine.source.formats.json.text.KEYS_BYTES", 100)
    path = tmp_path / "cut.jsonl"
    lines = "".join(f'{{"id": {n}, "name": "{"x" * 50}"}}\n' for n in range(22_000))
    path.write_text(lines + '{"id": 1, "other": 2}\n')
    job = load(path)
    assert job.status == Status.FAILED
    assert ("line 22,001" in job.problem["where"], "'other'" in job.problem["what"]) == (True, True), job.problem
    assert rows("id") == []
    assert not list(Path(job.copy_file.parent).glob(f"{job.key}*"))


def test_the_reading_names_the_format_and_has_no_marks(load, tmp_path: Path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"id": 1}\n')
    reading = load(path).reading_json
    assert (reading["format"], reading["delimiter"], reading["encoding"]) == ("jsonl", None, "utf-8")
    assert {each["name"]: each["standing"] for each in reading["decisions"] if not each["field"]}["format"] == "proved"
