"""A file with bad rows in a real browser: rejected, read, downloaded, corrected, and imported again."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from importer.engine.mysql.connection import Address
from importer.models import ImportJob, RowFix
from tests.browser.held import HeldRequest
from tests.browser.test_import import add_target, upload
from tests.dashboard.job_data import make_job
from tests.dashboard.jobs.test_reject_grid import ORDERS, imported
from tests.dashboard.reject_data import write_parts
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import run
from tests.stack import wait_until

ROWS = 5_000
COLUMNS = "id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, seen DATE NULL, score DECIMAL(8,2) NULL"
FIXES = re.compile(r"/rejected/\d+-\d+/")  # where corrected values are sent
EVIL = "<script>alert(1)</script>"
# By id; the row of an id is on line id + 2.
BAD = {
    150: "15O,name 150,2024-01-01,1.25",
    1200: f"1200,{EVIL},2024-01-01,1.25",
    2400: "2400,name 2400,2024-02-31,1.25",
    3600: "3600,name 3600",
    4800: "4799,name twice,2024-01-01,1.25",
}
CORRECTED = {
    150: "150,name 150,2024-01-01,1.25",
    1200: "1200,name 1200,2024-01-01,1.25",
    2400: "2400,name 2400,2024-02-29,1.25",
    3600: "3600,name 3600,2024-01-01,1.25",
    4800: "4800,name 4800,2024-01-01,1.25",
}


def written(path: Path) -> Path:
    rows = (BAD.get(n) or f"{n},name {n},2024-01-{n % 28 + 1:02},1.25" for n in range(ROWS))
    path.write_text("id,name,seen,score\n" + "".join(f"{row}\n" for row in rows))
    return path


def count(database: Address) -> tuple:
    return rows_of(database, "SELECT COUNT(*), SUM(id) FROM people")[0]


def test_bad_rows_are_rejected_corrected_and_loaded_again(page: Page, database: Address, tmp_path: Path):
    run_sql(database, f"CREATE TABLE people ({COLUMNS})")
    page.goto("/")
    add_target(page, database)
    upload(page, written(tmp_path / "people.csv"), "people")
    page.get_by_text("Error handling", exact=True).click()
    page.get_by_label("Invalid rows").select_option("Reject and continue")
    expect(page.get_by_label("Most rejected rows, percent")).to_be_visible()
    page.get_by_role("button", name=".people").click()

    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    equation = page.locator("#job-equation")
    expect(equation).to_contain_text(f"{ROWS - len(BAD):,}loaded")
    expect(equation.get_by_role("link", name=str(len(BAD)))).to_have_attribute("href", "#job-rejects")
    left_out = page.get_by_role("region", name="Rejected rows")
    expect(left_out.locator(".reject-grid tbody tr")).to_have_count(len(BAD))
    for line in (n + 2 for n in BAD):
        expect(left_out.get_by_role("cell", name=f"{line:,}", exact=True)).to_be_visible()
    expect(left_out.get_by_label("name, line 1202")).to_have_value(EVIL)
    with page.expect_download() as taken:
        left_out.get_by_role("link", name="Reject file").click()
    assert taken.value.suggested_filename == "people.rejects.csv"
    reject_file = tmp_path / "people.rejects.csv"
    taken.value.save_as(reject_file)
    assert reject_file.read_text() == "id,name,seen,score\n" + "".join(f"{row}\n" for row in BAD.values())
    first = ImportJob.objects.get()

    reject_file.write_text("id,name,seen,score\n" + "".join(f"{row}\n" for row in CORRECTED.values()))
    left_out.get_by_text("Other ways to bring them in").click()
    left_out.get_by_role("link", name="upload it again").click()
    page.locator("#file-choice").set_input_files(reject_file)
    expect(page.get_by_label("Invalid rows")).to_have_value("reject")
    page.get_by_role("button", name=f"into {database.database}.people").click()
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("link", name=f"import {first.pk}")).to_be_visible()
    assert count(database) == (ROWS, sum(range(ROWS)))


def test_they_load_as_they_are_once_the_table_takes_them(page: Page, database: Address, tmp_path: Path):
    run_sql(database, f"CREATE TABLE people ({COLUMNS})")
    path = tmp_path / "people.csv"
    path.write_text("id,name,seen,score\n" + "".join(f"{n},{'long ' * (n % 9)},,\n" for n in range(900)))
    page.goto("/")
    add_target(page, database)
    upload(page, path, "people")
    page.get_by_text("Error handling", exact=True).click()
    page.get_by_label("Invalid rows").select_option("Reject and continue")
    page.get_by_label("Most rejected rows, percent").fill("50")
    page.get_by_label("Most rejected rows, percent").press("Tab")
    expect(page.get_by_text("at most 50 % of the rows").first).to_be_visible()
    page.get_by_role("button", name=".people").click()
    expect(page.get_by_text("1 to 50 of 400")).to_be_visible(timeout=60_000)
    wait_until(lambda: ImportJob.objects.get().ended)
    run_sql(database, "ALTER TABLE people MODIFY name VARCHAR(60) NOT NULL")
    page.get_by_text("Other ways to bring them in").click()
    page.get_by_role("button", name="Load these again").click()
    page.wait_for_url(re.compile(r"/new/.*again="))
    page.get_by_role("button", name=f"into {database.database}.people").click()
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)
    assert count(database) == (900, sum(range(900)))


@pytest.fixture
def sixty(settings, tmp_path: Path) -> ImportJob:
    """An import that has rejected sixty rows, each for its value of lat."""
    settings.REJECTS_DIR = tmp_path / "rejects"
    job = make_job(ImportJob.Status.SUCCEEDED, chunks=1, options_json={"on_error": "reject"})
    write_parts(job, 0, [(n, "lat", "north", "1366", "Not a number.", b"1,north,2\n") for n in range(2, 62)])
    return job


def test_values_are_fixed_with_the_keyboard_alone(opened, sixty: ImportJob):
    page = opened(f"/jobs/{sixty.pk}/")
    page.get_by_label("lat, line 2", exact=True).fill("52.5")
    page.keyboard.press("Tab")
    expect(page.get_by_text("1 row is changed and waits")).to_be_visible()
    expect(page.get_by_role("button", name="Fix all values of line 2", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("lon", exact=True)).to_have_value("2")
    page.get_by_role("button", name="Undo the changes of line 2").press("Enter")
    expect(page.locator("#job-load-fixed")).to_be_disabled()
    page.get_by_role("link", name="Next").press("Enter")
    expect(page.get_by_text("51 to 60 of 60")).to_be_visible()


def test_what_is_typed_before_the_server_answers_stays(opened, sixty: ImportJob):
    page = opened(f"/jobs/{sixty.pk}/")
    page.get_by_role("button", name="Fix all values of line 2", exact=True).click()
    held = HeldRequest(page, FIXES)
    row = page.locator(".reject-grid tr.open")
    for name, value in (("lat", "52.5"), ("lon", "13.4")):
        row.get_by_label(name, exact=True).fill(value)
        page.keyboard.press("Tab")
    page.get_by_label("lat, line 3", exact=True).fill("48.2")
    page.keyboard.press("Tab")
    page.get_by_label("lat, line 4", exact=True).fill("47")  # and it has the focus
    held.release()
    expect(page.get_by_text("2 rows are changed and wait")).to_be_visible()
    values = [("lat", "52.5"), ("lon", "13.4"), ("lat, line 3", "48.2"), ("lat, line 4", "47")]
    for name, value in values:
        expect(page.get_by_label(name, exact=True)).to_have_value(value)
    page.reload()
    expect(page.get_by_label("lat, line 2", exact=True)).to_have_value("52.5")
    expect(page.locator("#row-0-0")).to_contain_text("13.4")
    expect(page.get_by_label("lat, line 3", exact=True)).to_have_value("48.2")


def test_what_waits_is_sent_before_the_next_rows_come(opened, sixty: ImportJob):
    page = opened(f"/jobs/{sixty.pk}/")
    held = HeldRequest(page, FIXES)
    for line in (2, 3):
        page.get_by_label(f"lat, line {line}", exact=True).fill("52.5")
        page.keyboard.press("Tab")
    page.get_by_role("link", name="Next").click()
    held.release()
    expect(page.get_by_text("51 to 60 of 60")).to_be_visible()
    assert RowFix.objects.count() == 2


def test_what_waits_is_sent_before_the_fixed_rows_are_loaded_once(opened, database: Address, settings, tmp_path: Path):
    settings.REJECTS_DIR, settings.UPLOAD_DIR = tmp_path / "rejects", tmp_path / "uploads"
    job = imported(database, User.objects.get(), ORDERS)
    page = opened(f"/jobs/{job.pk}/")
    page.get_by_label("amount, line 3", exact=True).fill("20.25")
    page.keyboard.press("Tab")
    load = page.locator("#job-load-fixed")
    expect(load).to_be_enabled()
    held = HeldRequest(page, FIXES)
    page.get_by_label("day, line 4", exact=True).fill("2026-03-01")
    page.get_by_label("amount, line 5", exact=True).fill("4.50")
    load.focus()
    load.evaluate("button => { button.click(); button.click(); }")
    held.release()
    page.wait_for_url(lambda url: not url.endswith(f"/jobs/{job.pk}/"))
    expect(page.get_by_text("No corrected row waits")).to_have_count(0)
    assert run(ImportJob.objects.get(rejects_of=job)).loaded_rows == 3


def test_a_value_that_was_not_kept_is_not_left_behind_without_a_question(
    opened, database: Address, settings, tmp_path: Path
):
    settings.REJECTS_DIR, settings.UPLOAD_DIR = tmp_path / "rejects", tmp_path / "uploads"
    job = imported(database, User.objects.get(), ORDERS)
    page = opened(f"/jobs/{job.pk}/")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_label("amount, line 3", exact=True).fill("20.25")
    page.keyboard.press("Tab")
    load = page.get_by_role("button", name="Load the fixed")
    expect(load).to_be_visible()
    lost: list[Route] = []
    page.route(FIXES, lambda route: route.continue_() if lost else _lose(route, lost))
    page.get_by_label("day, line 4", exact=True).fill("2026-03-01")
    load.click()
    # The answer to Cancel sends it again.
    expect(page.get_by_text("2 rows are changed and wait")).to_be_visible()
    assert asked == ["What you entered in line 4 was not kept. Continue without it? Cancel keeps it here."]
    expect(page.get_by_label("day, line 4", exact=True)).to_have_value("2026-03-01")
    assert not ImportJob.objects.filter(rejects_of=job).exists()
    load.click()
    page.wait_for_url(lambda url: not url.endswith(f"/jobs/{job.pk}/"))
    assert run(ImportJob.objects.get(rejects_of=job)).loaded_rows == 2
    opened.complaints.clear()  # The browser complains about the lost request.


def test_a_page_is_not_left_without_a_question_either(opened, sixty: ImportJob):
    page = opened(f"/jobs/{sixty.pk}/")
    page.route(FIXES, lambda route: route.abort())
    page.get_by_label("lat, line 2", exact=True).fill("52.5")
    page.keyboard.press("Tab")
    expect(page.locator("[data-unkept]")).to_have_count(1)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_role("link", name="Performance", exact=True).first.click()
    expect(page.get_by_label("lat, line 2", exact=True)).to_have_value("52.5")
    assert asked == ["beforeunload"]
    opened.complaints.clear()  # The browser complains about the lost requests.


def _lose(route: Route, lost: list[Route]) -> None:
    lost.append(route)
    route.abort()


def test_values_that_a_browser_changes_stay_as_they_are_in_the_file(opened, settings, tmp_path: Path):
    settings.REJECTS_DIR = tmp_path / "rejects"
    job = make_job(ImportJob.Status.SUCCEEDED, chunks=1, options_json={"on_error": "reject"})
    one_line = "".join(chr(each) for each in range(0x20) if chr(each) not in "\r\n") + "\x7f\x85\xa0\ufeff\ufffe "
    lines = f"\n\r\r\n&amp;\rVienna\n{one_line}\u2028\n"
    raw = f'{one_line},abc,"Main St\rVienna","{lines}",\n'.encode()
    write_parts(job, 0, [(2, "lat", "abc", "1366", "Not a number.", raw)])
    page = opened(f"/jobs/{job.pk}/")
    page.get_by_role("button", name="Fix all values of line 2", exact=True).click()
    page.get_by_label("lat", exact=True).fill("52.5")
    page.keyboard.press("Tab")
    expect(page.get_by_text("1 row is changed and waits")).to_be_visible()
    assert RowFix.objects.get().texts == [one_line, "52.5", "Main St\rVienna", lines, ""]
