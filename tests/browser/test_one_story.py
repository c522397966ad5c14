"""Regression tests of faults of the pages, on each kind of server.

A field that loses letters, answers that are given for later questions, figures of rejected rows and of locks, an upload
without a network, and a file of 300 columns. Of the other kinds: rows that would fail again (test_misfits.py), an
incident that is dealt with (test_returning.py), locks with the prescribed account (test_dba.py), and the second week
(test_clerk.py).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.models.outcomes import attempts
from importer.models.outcomes.phases import wait_in
from tests.browser.held import HeldRequest
from tests.browser.test_upload_answers import is_part
from tests.browser.test_upload_page import drop
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = "id,nmae,price,extra\n1,Anna,10.5,x\n2,Bo,11,y\n"
TABLES = (
    "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(50), price DECIMAL(8,2) DEFAULT 0)",
    "CREATE TABLE others (id INT PRIMARY KEY, nmae VARCHAR(50), pryce DECIMAL(8,2))",
    "CREATE TABLE umsatz (id INT PRIMARY KEY, name VARCHAR(50))",
)
PACE = 110  # milliseconds from key to key
WIDTH, ROWS, BAD = 300, 40_000, 20_000


@pytest.fixture
def target(server: TestServer) -> Iterator[Target]:
    with server.fresh_database() as address:
        with connect(address) as connection:
            ledger.create(connection)
        run_sql(address, *TABLES)
        yield saved_target(address, "shop")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_the_field_of_the_table_keeps_each_letter_typed_during_and_after_a_lookup(page: Page, target: Target, people):
    page.goto(reverse("new"))
    drop(page, people)
    table = page.get_by_label("Table", exact=True)
    expect(table).to_have_value("people")
    table.fill("")
    lookup = HeldRequest(page, "**/new/tables/**")
    table.press_sequentially("um", delay=PACE)
    # While the server has not answered. The next lookup takes the place of this one.
    lookup.sent()
    with page.expect_response("**/new/tables/**"):
        table.press_sequentially("satz", delay=PACE)
    expect(table).to_have_value("umsatz")
    expect(table).to_be_focused()
    table.blur()
    expect(page.get_by_role("button", name=f"into {target.database}.umsatz")).to_be_visible()


def test_a_question_that_comes_up_later_is_not_answered_with_the_first_ones(page: Page, target: Target, people: Path):
    page.goto(reverse("new"))
    drop(page, people)
    message, accept = page.locator(".start-message"), page.get_by_role("button", name="Accept the first answers")
    start = page.get_by_role("button", name="Import into")
    expect(message).to_contain_text("2 questions")
    accept.click()
    expect(message).not_to_contain_text("question")
    expect(start).to_be_enabled()
    table = page.get_by_label("Table", exact=True)
    table.fill("others")
    table.blur()
    expect(page.get_by_role("button", name="Put it into pryce")).to_be_visible()
    expect(message).to_contain_text("question")
    expect(start).to_be_disabled()
    accept.click()
    start.click()
    page.wait_for_url("**/jobs/*/")


def test_rejected_rows_are_in_no_rate_and_a_wait_for_a_lock_stands_by_itself(
    page: Page, target: Target, tmp_path: Path
):
    path = tmp_path / "people.csv"
    lines = (f"{n},{'n' * (60 if n % (ROWS // BAD) == 0 else 9)},1" for n in range(ROWS))
    path.write_text("id,name,price\n" + "\n".join(lines) + "\n")
    job = import_of(path, target, "people", options=Options(on_error="reject", max_rejects=BAD, parallelism=1))
    with connect(target.address) as other:
        execute(other, "LOCK TABLES people WRITE")
        commands.start(job.pk)
        page.goto(reverse("job", args=[job.pk]))
        expect(page.locator("#job-why")).to_contain_text("people is locked")
        execute(other, "UNLOCK TABLES")
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, 120, "the end of the import")
    ended = ImportJob.objects.get(pk=job.pk)
    assert (ended.committed_rows, ended.rejected_rows) == (ROWS - BAD, BAD)
    page.reload()
    headline = page.locator("#job-headline")
    expect(headline).to_contain_text(f"{ROWS - BAD:,} rows")
    # The rate is that of committed rows, by the time of the load without the lock.
    told = headline.inner_text()
    rate = float(re.search(r"([\d.,]+)(k?) rows/s", told)[1].replace(",", "")) * (1000 if "k rows/s" in told else 1)
    phases = page.locator("#job-timeline .job-phases > div").evaluate_all(
        """all => all.map((each) => [
            each.querySelector("rect:last-child").classList[0],
            ...[...each.children].map((part) => part.innerText.trim()),
        ])"""
    )
    seconds = {"phase-lock": 0.0}
    for kind, name, took, *_ in phases:
        of = "phase-lock" if name == "Wait for a lock" else kind
        seconds[of] = seconds.get(of, 0.0) + in_seconds(took)
    assert seconds["phase-lock"] == pytest.approx(ended.lock_seconds, abs=1), phases
    assert ended.lock_seconds > seconds["phase-verify"], phases
    loading = attempts.seconds_of(ended).loading
    # The rate is shown with three digits. With the rejected rows it would be twice that, with the lock a part of it.
    assert rate == pytest.approx((ROWS - BAD) / loading, rel=0.02), phases
    # The bar of the load has its waits for a worker in it. Times above 10 s are shown in tenths.
    waited = ended.phases_json.get(wait_in("loading"), 0.0)
    assert seconds["phase-load"] - seconds["phase-lock"] == pytest.approx(loading + waited, abs=0.2), phases


def in_seconds(text: str) -> float:
    """The seconds of a duration such as "1 min 2 s" or "0.52 s"."""
    units = {"h": 3600, "min": 60, "s": 1, "ms": 0.001}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) (h|min|ms|s)\b", text))


def test_without_a_network_an_upload_shows_no_rate_and_then_goes_on_into_the_table(
    page: Page, target: Target, tmp_path: Path
):
    large = tmp_path / "umsatz.csv"
    large.write_text("id,name\n" + "".join(f"{n},{'n' * 40}\n" for n in range(400_000)))
    parts: list[Route] = []

    def hold(route: Route) -> None:
        parts.extend([route] if is_part(route.request) else [])
        # The first part arrives, so that there is a rate; the next one is on its way when the network goes.
        if not is_part(route.request) or len(parts) != 2:
            route.continue_()

    page.goto(reverse("new"))
    page.route("**/uploads/*/", hold)
    drop(page, large)
    wait_until(lambda: page.evaluate("true") and len(parts) == 2, 60, what="the second part")
    page.context.set_offline(True)
    expect(page.get_by_role("alert").filter(has_text="The upload continues by itself when it is back")).to_be_visible()
    expect(page.locator("[data-upload-part=status]")).not_to_have_text(re.compile("/s|left|reload"))
    page.context.set_offline(False)
    page.get_by_role("button", name=f"into {target.database}.umsatz").click(timeout=60_000)
    page.wait_for_url("**/jobs/*/")
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=120_000)
    assert rows_of(target.address, "SELECT COUNT(*) FROM umsatz") == [(400_000,)]


def test_a_table_of_300_columns_is_made_and_each_step_shows_that_it_is_at_work(
    page: Page, target: Target, tmp_path: Path
):
    names = [f"measure_{number:03}" for number in range(WIDTH)]
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join(map(",".join, [names, *[["7"] * WIDTH] * 100])) + "\n")
    page.goto(reverse("new"))
    drop(page, wide)
    expect(page.get_by_text("Fields 1 to 24 of 300")).to_be_visible()
    held = HeldRequest(page, re.compile(r"/new/[0-9a-f-]{36}/$"))
    page.get_by_role("button", name="Create table wide").click()
    held.sent()
    expect(page.get_by_text("Reading the file and planning …")).to_be_visible()
    held.release()
    start = page.get_by_role("button", name=f"into {target.database}.wide")
    expect(start).to_be_enabled()
    expect(page.get_by_text("Reading the file and planning …")).to_be_hidden()
    # The last field is found, and what is said of it holds for the table.
    page.get_by_label("Find fields").fill("299")
    page.get_by_label("Find fields").press("Enter")
    page.get_by_label("Type of measure_299").fill("bigint")
    page.get_by_label("Type of measure_299").press("Tab")
    expect(page.get_by_label("Type of measure_299")).to_have_value("bigint")
    start.click()
    page.wait_for_url("**/jobs/*/")
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=120_000)
    assert rows_of(target.address, "SELECT COUNT(*), SUM(measure_299) FROM wide") == [(100, 700)]
    columns = rows_of(
        target.address, "SELECT COUNT(*), MAX(data_type = 'bigint' AND column_name = 'measure_299')"
        " FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'wide'",
    )  # fmt: skip
    assert columns == [(WIDTH, 1)]
