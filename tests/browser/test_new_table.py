"""A new table from a German export, in a real browser: three clicks give dates, decimals and texts."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.models import ImportJob, SourceFile
from importer.sources import uploads
from tests.engine.loads import rows_of
from tests.importer.steps import run
from tests.targets import saved_target

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_workers")]

ROWS = (
    "Kundennr;PLZ;Größe;Bestelldatum;Betrag\r\n"
    "1001;01067;M;31.12.2024;1.234,56\r\n"
    "1002;80331;;01.02.2025;-12,00\r\n"
    "1003;99999;XL;;12.345.678,90\r\n"
)


def uploaded(folder: Path, data: bytes) -> SourceFile:
    path = folder / "Bestellungen.csv"
    path.write_bytes(data)
    source = uploads.register(path)
    source.owned, source.uploaded_by = True, User.objects.get()
    source.save()
    return source


def test_a_german_export_becomes_a_table_with_three_clicks(opened, database: Address, tmp_path: Path):
    saved_target(database)
    source = uploaded(tmp_path, ROWS.encode("utf-8-sig"))
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    page.get_by_role("button", name="Create table Bestellungen").press("Enter")
    expect(page.get_by_label("Type of Bestelldatum")).to_have_value("date")
    page.keyboard.press("Tab")
    expect(page.locator(":is(.questions, .mapping-grid) :focus")).to_have_count(1)
    expect(page.get_by_label("Type of Betrag")).to_have_value("decimal(12,2)")
    expect(page.get_by_label("Type of PLZ")).to_have_value("varchar(16)")
    page.get_by_role("button", name="Make Kundennr the primary key").click()
    expect(page.get_by_label("NULL or key of Kundennr")).to_have_value("key")
    page.get_by_label("PLZ goes into").fill("zip")
    page.get_by_label("NULL or key of PLZ").select_option("not_null")
    expect(page.get_by_text("`zip` varchar(16) NOT NULL")).to_have_count(1)
    page.get_by_role("button", name="into").click()
    page.wait_for_url("**/jobs/**")
    job = run(ImportJob.objects.get())
    assert (job.problem, job.balanced) == ({}, True)
    with connect(database) as connection:
        columns = "Kundennr, zip, Größe, Bestelldatum, Betrag"
        assert fetch_all(connection, f"SELECT {columns} FROM Bestellungen ORDER BY Kundennr") == [
            (1001, "01067", "M", date(2024, 12, 31), Decimal("1234.56")),
            (1002, "80331", "", date(2025, 2, 1), Decimal("-12.00")),
            (1003, "99999", "XL", None, Decimal("12345678.90")),
        ]


def test_a_type_that_is_chosen_for_ambiguous_dates_asks_for_their_format(opened, database: Address, tmp_path: Path):
    saved_target(database)
    source = uploaded(tmp_path, b"id;day\r\n1;01/02/2024\r\n2;03/04/2024\r\n")
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    page.get_by_text("Import mode", exact=True).click()
    page.get_by_text("Create", exact=True).click()
    expect(page.get_by_label("Type of day")).to_have_value("varchar(16)")
    page.get_by_label("Type of day").fill("date")
    page.get_by_label("Type of day").blur()
    page.get_by_role("button", name="31/12/2026 (day/month/year)").click()
    expect(page.get_by_label("Date and time format of day")).to_have_value("%d/%m/%Y")
    page.get_by_role("button", name="into").click()
    page.wait_for_url("**/jobs/**")
    assert run(ImportJob.objects.get()).problem == {}
    days = rows_of(database, "SELECT day FROM Bestellungen ORDER BY id")
    assert days == [(date(2024, 2, 1),), (date(2024, 4, 3),)]


@pytest.mark.parametrize(
    ("answer", "type_", "stored"), [("A text", "varchar(16)", "n/k"), ("means NULL", "date", None)]
)
def test_one_value_that_is_no_date_is_asked_about_and_the_answer_taken(
    opened, database: Address, tmp_path: Path, answer: str, type_: str, stored: str | None
):
    saved_target(database)
    days = "".join(f"{day};{day}.12.2024\r\n" for day in range(10, 31))
    source = uploaded(tmp_path, f"id;day\r\n{days}9;n/k\r\n".encode())
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    page.get_by_text("Import mode", exact=True).click()
    page.get_by_text("Create", exact=True).click()
    expect(page.get_by_text("'n/k' on line 23 is no date")).to_be_visible()
    page.get_by_role("button", name=answer).click()
    expect(page.get_by_text("'n/k' on line 23 is no date")).to_have_count(0)
    expect(page.get_by_label("Type of day")).to_have_value(type_)
    page.get_by_role("button", name="into").click()
    page.wait_for_url("**/jobs/**")
    job = run(ImportJob.objects.get())
    assert (job.problem, job.loaded_rows) == ({}, 22)
    assert rows_of(database, "SELECT day FROM Bestellungen WHERE id = 9") == [(stored,)]
