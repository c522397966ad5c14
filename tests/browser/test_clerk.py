"""A clerk with a German export: from dropping it on any page to the equation, in at most six clicks."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.models import ImportJob
from tests.browser.test_upload_page import drop
from tests.engine.loads import run_sql
from tests.targets import TestServer, saved_target

ROWS = 3000
COLUMNS = "id INT PRIMARY KEY, customer VARCHAR(80) NOT NULL, ordered_on DATE, amount DECIMAL(12,2), paid TINYINT(1)"
MOST_CLICKS = 6
COUNT_CLICKS = """addEventListener("pointerdown", () => {
    sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);"""


@pytest.fixture
def each_database(server: TestServer) -> Iterator[Address]:
    with server.fresh_database() as address:
        run_sql(address, f"CREATE TABLE orders ({COLUMNS}) CHARSET utf8mb4")
        saved_target(address)
        yield address


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return export_of(tmp_path, "orders.csv")


def export_of(folder: Path, name: str, first: int = 0) -> Path:
    """A messy file: semicolons, cp1252, dates as dd.mm., decimal commas, and a total in its last line."""
    lines = ["id;customer;ordered_on;amount;paid"]
    for n in range(first, first + ROWS):
        day = f"{n % 28 + 1:02}.{n % 12 + 1:02}.2025"
        lines.append(f"{n};Müller & Söhne {n};{day};1.{n % 1000:03},{n % 100:02};{'ja' if n % 3 else 'nein'}")
    path = folder / name
    path.write_bytes("\r\n".join([*lines, "Summe;;;4.498.648,50;", ""]).encode("cp1252"))
    return path


def test_from_the_drop_to_the_equation_in_six_clicks(page: Page, each_database: Address, export: Path):
    page.goto("/history/")
    drop(page, export, on="main")
    expect(page.locator(".start-message")).to_contain_text("2 questions")
    page.evaluate(COUNT_CLICKS)
    page.get_by_role("button", name="cp1252 (Windows, western)").click()
    expect(page.locator(".start-message")).to_contain_text("1 question")
    page.get_by_role("button", name="A footer").click()
    expect(page.locator(".plan-sentence")).to_contain_text(f"{ROWS:,} rows into {each_database.database}.orders")
    page.get_by_role("button", name=f"into {each_database.database}.orders").click()
    page.wait_for_url("**/jobs/*/")
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    expect(page.locator("#job-equation")).to_contain_text(f"{ROWS:,}")
    assert 0 < page.evaluate("Number(sessionStorage.clicks)") <= MOST_CLICKS

    assert ImportJob.objects.get().balanced
    with connect(each_database) as connection:
        found = fetch_all(connection, "SELECT COUNT(*), SUM(paid) FROM orders")[0]
        row = fetch_all(connection, "SELECT customer, ordered_on, amount, paid FROM orders WHERE id = 14")[0]
    assert (found[0], int(found[1])) == (ROWS, ROWS * 2 // 3)
    assert row == ("Müller & Söhne 14", date(2025, 3, 15), Decimal("1014.14"), 1)


def test_the_second_week_takes_two_clicks(page: Page, each_database: Address, tmp_path: Path):
    page.goto("/new/")
    drop(page, export_of(tmp_path, "shop 2026-11-20.csv"))
    page.get_by_role("button", name="cp1252 (Windows, western)").click()
    page.get_by_role("button", name="A footer").click()
    page.get_by_label("Table", exact=True).fill("orders")
    page.get_by_label("Table", exact=True).blur()
    page.get_by_role("button", name=f"into {each_database.database}.orders").click()
    page.wait_for_url("**/jobs/*/")
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    first = ImportJob.objects.get()

    page.goto("/new/")
    drop(page, export_of(tmp_path, "shop 2026-11-27.csv", ROWS))
    said = page.get_by_text(f"as import {first.pk} of {first.created_at:%A}")
    expect(said).to_contain_text(f"shop 2026-11-20.csv into {each_database.database}.orders")
    page.evaluate(COUNT_CLICKS)
    page.get_by_role("link", name="As last time").click()
    expect(page.locator(".start-message")).not_to_contain_text("question")
    page.get_by_role("button", name=f"into {each_database.database}.orders").click()
    page.wait_for_url("**/jobs/*/")
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    assert page.evaluate("Number(sessionStorage.clicks)") == 2
    with connect(each_database) as connection:
        assert fetch_all(connection, "SELECT COUNT(*), MAX(id) FROM orders") == [(2 * ROWS, 2 * ROWS - 1)]
