"""From signing in and an upload in a real browser to the balanced equation, through real workers into real servers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

ROWS = 20_000
PASSWORD = "a long enough password"
COLUMNS = "id INT PRIMARY KEY, name VARCHAR(60) NOT NULL, seen DATETIME NULL, score DECIMAL(8,2) NULL"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people & <b>more.csv"
    rows = (f'{n},"Zoë, ""{n}""",2024-01-{n % 28 + 1:02}T10:00:00Z,{"NA" if n % 4 else "1.25"}\n' for n in range(ROWS))
    path.write_text("id,name,seen,score\n" + "".join(rows))
    return path


def sign_in(page: Page) -> None:
    """By the form, instead of with the session that the page came with."""
    user = User.objects.get()
    user.set_password(PASSWORD)
    user.save()
    page.context.clear_cookies()
    page.goto("/")
    page.get_by_label("User name").fill(user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def add_target(page: Page, address: Address) -> None:
    page.get_by_text("Manage", exact=True).click()
    page.get_by_role("link", name="Targets").click()
    page.get_by_role("link", name="Add").first.click()
    for name in ("host", "port", "user", "database"):
        page.locator(f"#id_{name}").fill(str(getattr(address, name)))
    page.locator("#id_name").fill("warehouse")
    page.get_by_label("Off (this machine").check()
    page.get_by_role("button", name="Save and check").click()
    page.wait_for_url(re.compile(r"/targets/\d+/$"))
    expect(page.get_by_text("Ready", exact=False).first).to_be_visible()


def upload(page: Page, path: Path, table: str) -> None:
    """Choose a file and a table, and wait for the button that says what it will do."""
    page.goto("/new/")
    page.locator("#file-choice").set_input_files(path)
    page.get_by_label("Table", exact=True).fill(table)
    page.get_by_label("Table", exact=True).blur()


@pytest.fixture
def each_database(server: TestServer) -> Iterator[Address]:
    with server.fresh_database() as address:
        yield address


def test_from_signing_in_to_the_balanced_equation(page: Page, each_database: Address, people: Path):
    database = each_database
    sign_in(page)
    run_sql(database, f"CREATE TABLE people ({COLUMNS})")
    add_target(page, database)
    upload(page, people, "people")
    page.get_by_role("button", name="into warehouse.people").or_(
        page.get_by_role("button", name=f"into {database.database}.people")
    ).click()
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    expect(page.locator("#job-equation")).to_contain_text(f"{ROWS:,}")
    found = rows_of(database, "SELECT COUNT(*), COUNT(score), MIN(name), MAX(seen) FROM people")[0]
    assert (found[0], found[1], found[2], str(found[3])) == (ROWS, ROWS // 4, 'Zoë, "0"', "2024-01-28 10:00:00")


def test_a_bad_row_is_named_on_the_job_page_and_nothing_of_its_chunk_is_kept(
    page: Page, database: Address, people: Path
):
    run_sql(database, f"CREATE TABLE people ({COLUMNS})")
    people.write_text(people.read_text().replace("\n150,", "\n15O,"))
    # The page of a new import would not begin it: it names the row first.
    job = import_of(people, saved_target(database), "people")
    commands.start(job.pk)
    page.goto(reverse("job", args=[job.pk]))
    expect(page.get_by_text("15O").first).to_be_visible(timeout=60_000)
    expect(page.get_by_text("line 152").first).to_be_visible()
    wait_until(lambda: ImportJob.objects.get().ended)
    assert rows_of(database, "SELECT COUNT(*) FROM people") == [(0,)]


def test_a_table_is_replaced_and_restored_with_one_click(page: Page, database: Address, people: Path):
    run_sql(database, f"CREATE TABLE people ({COLUMNS})", "INSERT INTO people VALUES (1, 'was there', NULL, NULL)")
    saved_target(database)
    upload(page, people, "people")
    page.get_by_text("Import mode", exact=True).click()
    page.get_by_role("radio", name="Replace").check()
    expect(page.get_by_text("in one instant").last).to_be_visible()
    page.get_by_role("button", name=f"into {database.database}.people").click()
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("The old table is kept")).to_be_visible()
    # What is read after the end moves the page: a button may be elsewhere before the mouse is up.
    page.locator("#job-restore").press("Enter")
    page.get_by_role("button", name="Restore the old table").press("Enter")
    expect(page.get_by_role("heading", name="The old table is back")).to_be_visible()
    expect(page.locator("#job-restore")).to_have_count(0)
    assert rows_of(database, "SELECT name FROM people") == [("was there",)]
    page.locator("#job-drop-backup").press("Enter")
    page.get_by_role("button", name="Drop the table").press("Enter")
    expect(page.locator("#job-table-backup")).to_contain_text("The table of this import is dropped")
    assert {row[0] for row in rows_of(database, "SHOW TABLES")} == {"people", "millrace_ledger"}
