"""Somebody comes back after a week of nightly runs, sees at first glance the night that lost rows, and fixes it."""

import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from datetime import time as clock
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from importer import queue, schedules
from importer.connections import operations
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.plan.options import Options
from importer.models import ImportJob, Schedule, ScheduleRun, SourceConnection
from importer.preparation.prepare import ImportRequest, prepare
from importer.preparation.presets import save
from importer.queue import Message
from importer.schedules import ScheduleRequest
from importer.schedules.scheduler import record_run
from importer.sources import uploads
from tests.engine.loads import rows_of
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

ZONE = ZoneInfo("Europe/Vienna")
NIGHTS, ROWS, LOSSY, LOST = 7, 40, 3, 3
SEEN = 45_000  # milliseconds in which the list of imports, where none runs, renews itself
HEADER = "id,name\n"


def rows(night: int, lost: int = 0) -> str:
    """The rows of a night; of the last `lost` ones the name is too long."""
    whole = ROWS - lost
    return "".join(f"{night * ROWS + n},{'n' if n < whole else 'n' * 30}{n}\n" for n in range(ROWS))


@pytest.fixture
def each_database(server: TestServer) -> Iterator[Address]:
    with server.fresh_database() as address, connect(address) as connection:
        execute(connection, "CREATE TABLE sales (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)")
        yield address


def nights(database: Address, tmp_path: Path, on_error: str, loaded: int) -> Schedule:
    """A schedule whose files of the last nights are there. Real workers have run all, and `loaded` have succeeded."""
    folder = Path(settings.IMPORT_FOLDERS[0]) / tmp_path.name
    folder.mkdir(parents=True)
    like = tmp_path / "sales.csv"
    like.write_text(HEADER + rows(0))
    request = ImportRequest(options=Options(on_error=on_error))
    preset = save("sales", prepare(uploads.register(like), saved_target(database, "here"), "sales", request))
    connection = SourceConnection.objects.create(name="incoming", kind="folder", base=str(folder))
    wanted = ScheduleRequest(
        name="sales nightly", connection=connection, pattern="sales-{date:%Y%m%d}.csv", trigger="cron",
        cron="30 2 * * *", zone=ZONE.key,
    )  # fmt: skip
    schedule = schedules.create(wanted, preset)
    today = timezone.now().astimezone(ZONE).date()
    for night in range(NIGHTS):
        day = today - timedelta(days=NIGHTS - night)
        file = folder / f"sales-{day:%Y%m%d}.csv"
        file.write_text(HEADER + rows(night, LOST if night == LOSSY else 0))
        os.utime(file, (time.time() - 60,) * 2)
        record_run(schedule, datetime.combine(day, clock(2, 30), ZONE), ScheduleRun.Cause.DUE)
    there = partial(operations.find, connection, "*.csv", timezone.now(), ZONE)
    wait_until(lambda: len(there()) == NIGHTS, what="files that nobody writes to any more")
    first = schedule.runs.order_by("due_at").first()
    assert first
    queue.send([Message("take_run", first.pk)])
    ended = schedule.runs.filter(finished_at__isnull=False)
    wait_until(lambda: ended.count() == NIGHTS, what="seven runs", seconds=120)
    assert ended.filter(status="succeeded").count() == loaded
    return schedule


@pytest.fixture
def nightly(page: Page, each_database: Address, tmp_path: Path) -> Schedule:
    """Nights of which one has lost rows."""
    return nights(each_database, tmp_path, "reject", NIGHTS)


@pytest.fixture
def failing(page: Page, each_database: Address, tmp_path: Path) -> Schedule:
    """Nights of which one has failed."""
    return nights(each_database, tmp_path, "stop", NIGHTS - 1)


def expect_one_amber(marks: Locator) -> None:
    """All marks are green but one, which is amber and says what was lost."""
    expect(marks).to_have_count(NIGHTS)
    amber = marks.and_(marks.page.locator(".mark-yellow"))
    expect(amber).to_have_count(1)
    expect(amber).to_contain_text(f"completed with rejects, {LOST} rows rejected")
    expect(marks.nth(LOSSY)).to_have_class("mark mark-yellow")


def count(database: Address) -> int:
    return rows_of(database, "SELECT COUNT(*) FROM sales")[0][0]


def fix(page: Page, lossy: ImportJob) -> None:
    """Correct the rejected rows on the page of their import, and load them."""
    rejected = page.get_by_role("region", name="Rejected rows")
    for number in range(ROWS - LOST, ROWS):
        value = rejected.get_by_label(f"name, line {number + 2}", exact=True)
        value.fill(f"n{number}")
        value.press("Tab")
    expect(page.get_by_text(f"{LOST} rows are changed and wait")).to_be_visible()
    page.locator("#job-load-fixed").click()
    # Before that the page of the lossy import would be taken for it.
    page.wait_for_url(lambda url: reverse("job", args=[lossy.pk]) not in url)
    expect(page.get_by_text("Balanced, and verified")).to_be_visible(timeout=60_000)


def test_a_lossy_night_is_amber_everywhere_and_is_fixed_from_home(
    page: Page, nightly: Schedule, each_database: Address
):
    assert count(each_database) == NIGHTS * ROWS - LOST
    page.goto(reverse("home"))
    expect(page.get_by_role("heading", name="1 thing needs your attention")).to_be_visible()
    expect_one_amber(page.locator(".mark"))
    page.get_by_role("navigation").get_by_role("link", name="Imports").click()
    expect(page.locator("#jobs .status-yellow")).to_have_count(1)
    expect(page.locator("#jobs .status-green")).to_have_count(NIGHTS - 1)
    page.get_by_role("navigation").get_by_role("link", name="Schedules").click()
    expect_one_amber(page.locator(".mark"))
    page.locator(".mark-yellow").click()
    expect(page.locator(".schedule-month .bg-yellow-lt")).to_have_count(1)
    expect(page.locator(".schedule-figures").get_by_text("1 with rejects")).to_be_visible()
    expect(page.get_by_role("link", name=f"{LOST} rows rejected", exact=True)).to_be_visible()

    page.goto(reverse("home"))
    page.locator("#home").get_by_role("link", name="sales-").first.click()
    lossy = ImportJob.objects.get(rejected_rows=LOST)
    page.wait_for_url(f"**{reverse('job', args=[lossy.pk])}")  # with its scripts, which store what is typed
    fix(page, lossy)
    assert ImportJob.objects.get(rejects_of=lossy).loaded_rows == LOST
    assert count(each_database) == NIGHTS * ROWS
    page.goto(reverse("home"))
    expect(page.get_by_role("heading", name="Nothing needs your attention")).to_be_visible()


def test_a_night_that_failed_is_green_everywhere_once_it_is_repaired(
    page: Page, failing: Schedule, each_database: Address
):
    """The pages that somebody has left open say it, too, and before that what is left."""
    (failed,) = ImportJob.objects.filter(status="failed")
    places = {name: page.context.new_page() for name in ("home", "schedules", "schedule", "jobs")}
    for name, place in places.items():
        place.goto(reverse(name, args=[failing.pk] if name == "schedule" else []))
    marks = {name: places[name].locator(".mark") for name in ("home", "schedules", "schedule")}
    unwell = places["jobs"].locator("#jobs :is(.status-red, .status-yellow)")

    def expect_told(colour: str, words: str) -> None:
        """One night of this colour and the other ones green, on each page that is open."""
        others = NIGHTS if colour == "green" else NIGHTS - 1
        for name, each in marks.items():
            expect(each, name).to_have_count(NIGHTS)
            expect(each.and_(places[name].locator(".mark-green")), name).to_have_count(others, timeout=SEEN)
            if colour != "green":
                expect(each.nth(LOSSY), name).to_have_class(f"mark mark-{colour}")
            expect(each.nth(LOSSY), name).to_contain_text(words)
        expect(unwell).to_have_count(NIGHTS - others, timeout=SEEN)

    expect_told("red", "failed")
    expect(places["home"].get_by_role("heading", name="1 thing needs your attention")).to_be_visible()
    page.goto(reverse("job", args=[failed.pk]))
    page.locator("#job-leave-out").click()
    expect(page.locator("#job-status")).to_contain_text(f"Completed with rejects, {LOST} rows", timeout=60_000)
    expect_told("yellow", f"{LOST} rows rejected")
    expect(places["home"].get_by_role("heading", name="1 thing needs your attention")).to_be_visible()
    page.goto(reverse("job", args=[failed.pk]))
    fix(page, failed)
    assert count(each_database) == NIGHTS * ROWS
    expect_told("green", "repaired")
    expect(places["home"].get_by_role("heading", name="Nothing needs your attention")).to_be_visible()
