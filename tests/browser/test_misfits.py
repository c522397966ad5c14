"""Rows that do not fit are named before the import, with what can be done about them; nothing offered fails again."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from tests.browser.test_upload_page import drop
from tests.engine.loads import rows_of
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

ROWS, BAD_LINES = 140, (41, 92)
TWO_LINES = 110  # pixels of the bar on a phone


@pytest.fixture
def each_target(server: TestServer) -> Iterator[tuple[Target, Address]]:
    with server.fresh_database() as address:
        yield saved_target(address), address


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """Dates and amounts, but for two rows: one has a text in place of a date, the other one in place of an amount."""
    lines = [f"{n};{n % 28 + 1:02}.12.2024;{n},50" for n in range(ROWS)]
    lines[BAD_LINES[0] - 2] = "39;unbekannt;1,50"
    lines[BAD_LINES[1] - 2] = "90;24.12.2024;n/k"
    path = tmp_path / "orders.csv"
    path.write_text("id;day;amount\n" + "\n".join(lines) + "\n")
    return path


def failed(target: Target, file: Path) -> ImportJob:
    """An import that makes the table and has stopped at the rows."""
    job = import_of(file, target, "orders", options=Options(mode="create"), accept_guesses=True)
    commands.start(job.pk)
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, 60, "the end of the import")
    return ImportJob.objects.get(pk=job.pk)


def accept(page: Page) -> None:
    """Accept what is asked about; the two values are."""
    page.get_by_role("button", name="Accept the first answers").click()
    expect(page.get_by_text("Accept the first answers")).to_have_count(0)


def test_a_new_table_is_made_without_the_rows_that_do_not_fit(page: Page, each_target, orders: Path):
    database = each_target[1]
    page.goto(reverse("new"))
    drop(page, orders)
    page.get_by_text("Import mode", exact=True).click()
    page.get_by_text("Create", exact=True).click()
    accept(page)
    bar = page.locator(".start-bar")
    expect(bar).to_contain_text("2 rows do not fit")
    # The import that they would stop is not offered.
    main = bar.locator(".btn-primary:visible")
    expect(main).to_have_text([f"Import the other {ROWS - 2}"])
    place = main.bounding_box()["x"]
    page.set_viewport_size({"width": 390, "height": 844})
    assert bar.bounding_box()["height"] < TWO_LINES
    page.set_viewport_size({"width": 1280, "height": 720})
    bar.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("rowheader", name=re.compile("^(41|92)$"))).to_have_count(2)
    bar.get_by_role("button", name="Leave them out").click()
    expect(bar).to_contain_text("2 rows will be rejected")
    expect(main).to_contain_text("Import into")
    assert main.bounding_box()["x"] == place
    main.click()
    page.wait_for_url("**/jobs/*/")
    expect(page.locator("#job-status")).to_contain_text("Completed with rejects, 2 rows", timeout=60_000)
    assert rows_of(database, "SELECT COUNT(*) FROM orders") == [(ROWS - 2,)]


def test_a_failed_import_names_each_row_and_offers_what_does_not_fail_again(page: Page, each_target, orders: Path):
    target, database = each_target
    job = failed(target, orders)
    page.goto(reverse("job", args=[job.pk]))
    fault = page.get_by_role("region", name="Rows at fault")
    for line, value in zip(BAD_LINES, ("unbekannt", "n/k"), strict=True):
        expect(fault.get_by_role("row", name=f"{line}")).to_contain_text(value)
    expect(page.locator("#job-actions .btn-primary:visible")).to_have_text(["Retry, reject invalid rows"])
    page.locator("#job-edit").click()
    expect(page.locator(".start-bar")).to_contain_text("2 rows do not fit")
    expect(page.locator(".start-bar .btn-primary:visible")).to_have_text([f"Import the other {ROWS - 2}"])
    page.go_back()
    page.locator("#job-leave-out").click()
    expect(page.locator("#job-status")).to_contain_text("Completed with rejects, 2 rows", timeout=60_000)
    assert rows_of(database, "SELECT COUNT(*) FROM orders") == [(ROWS - 2,)]
