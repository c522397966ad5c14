"""The second load: a clerk looks at prices before they change anything, and a DBA drops a file that was cut."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import Schedule, SourceConnection
from importer.schedules import ScheduleRequest, create_from_job, run_now
from tests.browser.test_clerk import COUNT_CLICKS
from tests.browser.test_reach import expect_reachable
from tests.browser.test_upload_page import drop
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

pytestmark = [pytest.mark.django_db(transaction=True)]
ARTICLES = 20_000
CHANGED = range(0, ARTICLES, 50)
MOST_CLICKS = 8


@pytest.fixture
def database(server: TestServer) -> Iterator[Address]:
    """Articles with prices, which orders point at."""
    with server.fresh_database() as address:
        run_sql(
            address,
            "CREATE TABLE articles (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, price DECIMAL(9,2) NOT NULL)",
            "CREATE TABLE orders (article INT NOT NULL, FOREIGN KEY (article) REFERENCES articles (id))",
            "INSERT INTO articles VALUES " + ", ".join(f"({n}, 'article {n}', {n}.50)" for n in range(ARTICLES)),
            "INSERT INTO orders VALUES (1), (2)",
        )
        yield address


def sum_of(database: Address) -> list[tuple]:
    return rows_of(database, "SELECT COUNT(*), SUM(price - id - 0.5), SUM(name = CONCAT('article ', id)) FROM articles")


def test_a_price_list_is_looked_at_before_it_changes_the_articles(page: Page, database: Address, tmp_path: Path):
    saved_target(database)
    path = tmp_path / "articles.csv"
    lines = [f"{n},{n + (n in CHANGED)}.50" for n in range(ARTICLES)]
    path.write_text("\n".join(["id,price", *lines[:7], *(f"{n},1.00" for n in (70001, 70002, 70003)), *lines[7:], ""]))
    page.goto("/new/")
    drop(page, path)
    page.evaluate(COUNT_CLICKS)
    page.locator("summary").filter(has_text="Import mode").click()
    page.get_by_role("radio", name=re.compile("^Update")).click()
    page.get_by_label("Undo", exact=True).select_option("keep")
    page.get_by_role("button", name="Show what would change").click()
    page.wait_for_url("**/jobs/*/")
    page.get_by_role("button", name="Preview without these rows").click(timeout=60_000)
    compared = page.locator("#job-compared")
    expect(compared).to_contain_text(f"{len(CHANGED):,} change a row", timeout=60_000)
    expect(compared).to_contain_text("3 are left out")
    for key in ("70001", "70002", "70003"):
        expect(page.locator("#job-rejects")).to_contain_text(key)
    expect(page.locator("#job-headline")).to_contain_text(f"{ARTICLES:,} rows")
    assert sum_of(database) == [(ARTICLES, 0, ARTICLES)]
    # Selecting took one that no pointer made.
    clicks = page.evaluate("Number(sessionStorage.clicks)") + 1
    expect_reachable(page)
    page.get_by_role("button", name="Change the table").click()
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    expect(page.locator("#job-equation")).to_contain_text(re.compile(rf"{len(CHANGED):,}\s*replaced"))
    assert sum_of(database) == [(ARTICLES, len(CHANGED), ARTICLES)]
    expect(page.get_by_role("heading", name="It can be taken back")).to_be_visible()
    # What is read after the end moves the page: a button may be elsewhere before the mouse is up.
    page.locator("#job-restore").press("Enter")
    expect_reachable(page)
    page.get_by_role("button", name="Take it back").press("Enter")
    expect(page.get_by_role("heading", name="The old rows are back")).to_be_visible(timeout=60_000)
    expect(page.locator("#job-table-backup")).to_contain_text(f"{len(CHANGED):,} changed rows have their old values")
    assert clicks + 3 <= MOST_CLICKS
    assert sum_of(database) == [(ARTICLES, 0, ARTICLES)]
    expect_reachable(page)


def test_the_night_a_file_is_cut_in_half_is_dropped_with_one_click(page: Page, database: Address, tmp_path: Path):
    folder = Path(settings.IMPORT_FOLDERS[0]) / tmp_path.name
    folder.mkdir(parents=True)
    connection = SourceConnection.objects.create(name="incoming", kind="folder", base=str(folder))
    whole = [f"{n},article {n},{n}.50" for n in range(ARTICLES)]

    def written(name: str, lines: list[str]) -> Path:
        path = folder / name
        path.write_text("\n".join(["id,name,price", *lines, ""]))
        return path

    first = import_of(written("day-1.csv", whole), saved_target(database), "articles", options=Options(mode="sync"))
    commands.start(first.pk)
    wait_until(lambda: type(first).objects.get(pk=first.pk).balanced, what="the first import")
    request = ScheduleRequest(name="articles", connection=connection, pattern="day-*.csv", cron="0 3 * * *")
    nightly = create_from_job(first, request)
    written("day-2.csv", whole[: ARTICLES // 2])
    run_now(nightly)
    page.goto(f"/schedules/{nightly.pk}/")
    expect(page.locator("#schedule-live")).to_contain_text("Waits for a decision", timeout=90_000)
    expect_reachable(page)
    page.goto("/")
    page.get_by_role("link", name="articles").first.click()
    page.locator("#schedule-live").get_by_role("link", name=re.compile("import|day-2", re.I)).first.click()
    expect(page.locator("#job-problem")).to_contain_text("10,000 rows (50.0%) would be deleted")
    expect(page.locator("#job-status")).to_contain_text("Waits for a decision")
    expect_reachable(page)
    page.get_by_role("button", name="Drop it").click()
    expect(page.locator("#job-status")).to_contain_text("Cancelled")
    assert sum_of(database) == [(ARTICLES, 0, ARTICLES)]
    wait_until(lambda: len(rows_of(database, "SHOW TABLES")) == 3, what="no staging table")
    page.goto("/")
    expect(page.get_by_text("Nothing needs your attention")).to_be_visible()
    assert Schedule.objects.get().files.get(name="day-2.csv").outcome == "dropped"
