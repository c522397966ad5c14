"""Mode create with formats: a German export gives dates, decimals and texts; bad values are named, on real servers."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from importer.engine.mapping.columns import ColumnMapping, FieldOverride
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.models import ImportJob, Target
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest, NewTableRequest
from importer.sources import uploads
from tests.importer.steps import import_of, run
from tests.importer.worker.test_create_mode import told, types

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status
GERMAN = (
    "Kundennr;PLZ;Größe;Straße;Bestelldatum;Geändert am;Betrag;Menge;Rabatt\r\n"
    '1001;01067;M;"Königstraße 5; Hinterhaus";31.12.2024;31.12.2024 08:15;1.234,56;12;0,5\r\n'
    "1002;80331;XL;Äußere Ring 7;01.02.2025;01.02.2025 17:30;-12,00;7;\r\n"
    "1003;99999;;Ufer 1;28.02.2025;;12.345.678,90;1.000;2,25\r\n"
)


def created(target: Target, path: Path, table: str = "made", on_error: str = "stop", **request) -> ImportJob:
    options = Options(mode="create", chunk_bytes=50_000, parallelism=2, on_error=on_error)
    return import_of(path, target, table, options=options, **request)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_a_german_export_becomes_dates_decimals_and_texts(target, tmp_path, encoding):
    path = tmp_path / "Bestellungen.csv"
    path.write_bytes(GERMAN.encode(encoding))
    stated = {"known_format": {"encoding": "cp1252"}} if encoding == "cp1252" else {}
    job = run(created(target, path, **stated))
    assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
    assert types(target, "made") == {
        "Kundennr": "int",
        "PLZ": "varchar(16)",
        "Größe": "varchar(16)",
        "Straße": "varchar(32)",
        "Bestelldatum": "date",
        "Geändert am": "datetime",
        "Betrag": "decimal(12,2)",
        "Menge": "varchar(16)",
        "Rabatt": "decimal(5,2)",
    }
    assert told(target, "SELECT * FROM made ORDER BY Kundennr") == [
        (1001, "01067", "M", "Königstraße 5; Hinterhaus", date(2024, 12, 31), datetime(2024, 12, 31, 8, 15),
         Decimal("1234.56"), "12", Decimal("0.50")),
        (1002, "80331", "XL", "Äußere Ring 7", date(2025, 2, 1), datetime(2025, 2, 1, 17, 30),
         Decimal("-12.00"), "7", None),
        (1003, "99999", "", "Ufer 1", date(2025, 2, 28), None, Decimal("12345678.90"), "1.000", Decimal("2.25")),
    ]  # fmt: skip


def test_a_german_export_is_asked_nothing_and_says_why_a_column_is_text(target, tmp_path):
    path = tmp_path / "Bestellungen.csv"
    path.write_bytes(GERMAN.encode("utf-8-sig"))
    prepared = prepare(uploads.register(path), target, "made", ImportRequest(options=Options(mode="create")))
    assert prepared.reading.guesses == ()
    notes = " ".join(prepared.reading.notes)
    assert "PLZ: text, since a number has no place for a leading zero ('01067')." in notes
    assert "Menge: text" in notes
    assert "--primary-key 'Kundennr'" in notes


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """More rows than the sample has; line 3,302 has neither a date nor an amount."""
    path = tmp_path / "long.csv"
    lines = [f"{n};{n % 28 + 1:02}.0{n % 9 + 1}.2024;{n % 900},{n % 100:02}\n" for n in range(3_500)]
    lines[3_300] = "3300;unbekannt;n/k\n"
    path.write_text("id;day;amount\n" + "".join(lines))
    return path


def test_one_bad_value_beyond_the_sample_stops_with_the_line_and_the_choice(target, long_file):
    job = run(created(target, long_file))
    assert job.status == Status.FAILED
    assert "'unbekannt' does not fit day date: 1 of 3,500 values is no date" in job.problem["what"]
    assert "line 3,302" in job.problem["where"]
    assert "--on-error reject" in job.problem["advice"]
    assert "--type 'day=varchar(16)'" in job.problem["advice"]
    assert told(target, "SHOW TABLES LIKE 'made'") == []


def test_one_bad_value_beyond_the_sample_is_rejected_and_the_column_stays_a_date(target, long_file):
    job = run(created(target, long_file, on_error="reject"))
    assert (job.problem, job.loaded_rows, job.rejected_rows) == ({}, 3_499, 1)
    assert types(target, "made") == {"id": "int", "day": "date", "amount": "decimal(7,2)"}
    reasons = [reason["choice"] for reason in job.plan_json["reasons"]]
    assert "day is date, and rows with another value are rejected" in reasons
    assert told(target, "SELECT COUNT(*), COUNT(day), SUM(amount) FROM made") == [
        (3_499, 3_499, sum((Decimal(f"{n % 900}.{n % 100:02}") for n in range(3_500) if n != 3_300), Decimal(0)))
    ]


@pytest.mark.parametrize(
    ("request_", "stored"),
    [
        ({"new_table": NewTableRequest(types={"day": "varchar(20)", "amount": "varchar(20)"})}, ("unbekannt", "n/k")),
        (
            {"overrides": (FieldOverride("day", "day", null_markers=("unbekannt",)),
                           FieldOverride("amount", "amount", null_markers=("n/k",)))},
            (None, None),
        ),
    ],
)  # fmt: skip
def test_the_answers_to_a_bad_value_load_every_row(target, long_file, request_, stored):
    job = run(created(target, long_file, **request_))
    assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 3_500)
    assert told(target, "SELECT day, amount FROM made WHERE id = 3300") == [stored]


def test_many_bad_values_beyond_the_sample_make_a_text_that_loses_nothing(target, tmp_path):
    path = tmp_path / "changing.csv"
    lines = [f"{n};{n % 28 + 1:02}.01.2024\n" if n < 2_000 else f"{n};week {n % 50}\n" for n in range(3_500)]
    path.write_text("id;day\n" + "".join(lines))
    job = run(created(target, path))
    assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 3_500)
    assert types(target, "made")["day"] == "varchar(16)"
    assert told(target, "SELECT day FROM made WHERE id IN (0, 3499) ORDER BY id") == [("01.01.2024",), ("week 49",)]


def test_a_bad_value_in_the_sample_is_asked_about_before_anything_is_written(target, tmp_path):
    path = tmp_path / "asked.csv"
    path.write_text("id,day\n" + "".join(f"{n},2024-01-{n:02}\n" for n in range(1, 20)) + "20,n/k\n")
    with pytest.raises(NeedsAnswer, match="'n/k' on line 21 is no date"):
        created(target, path)
    assert not ImportJob.objects.exists()
    stated = NewTableRequest(types={"day": "date"})
    job = run(created(target, path, on_error="reject", new_table=stated))
    assert (job.problem, job.loaded_rows, job.rejected_rows) == ({}, 19, 1)
    assert types(target, "made") == {"id": "int", "day": "date"}


def test_a_given_mapping_decides_the_types_and_is_asked_nothing(target, tmp_path):
    path = tmp_path / "given.csv"
    path.write_text("id;day;amount\n1;01/02/2024;1,234\n2;03/04/2024;5,678\n3;;n/k\n")
    mapping = (
        ColumnMapping("id"),
        ColumnMapping("day", ("",), "%m/%d/%Y"),
        ColumnMapping("amount", ("", "n/k"), "", ("thousands-comma",)),
    )
    job = run(created(target, path, mapping=mapping))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert types(target, "made") == {"id": "int", "day": "date", "amount": "int"}
    assert told(target, "SELECT day, amount FROM made ORDER BY id") == [
        (date(2024, 1, 2), 1234), (date(2024, 3, 4), 5678), (None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("on_error", ["stop", "reject"])
def test_accepted_guesses_keep_the_date(target, tmp_path, on_error):
    path = tmp_path / "asked.csv"
    path.write_text("id,day\n" + "".join(f"{n},2024-01-{n:02}\n" for n in range(1, 20)) + "20,n/k\n")
    job = run(created(target, path, on_error=on_error, accept_guesses=True))
    if on_error == "stop":
        assert job.status == Status.FAILED
        assert "'n/k' does not fit day date" in job.problem["what"]
    else:
        assert (job.problem, job.loaded_rows, types(target, "made")["day"]) == ({}, 19, "date")
