"""A schedule made in a real browser, then real processes: files dropped, loaded, moved, people told of a failure."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address
from importer.jobs.actions import commands
from importer.models import Channel, Schedule, SourceConnection
from importer.models.channel import Event
from importer.notifications import channels
from tests.documents import read
from tests.engine.loads import rows_of, run_sql
from tests.importer.notifications.receivers import Hook, Inbox, mail_catcher, web_catcher
from tests.importer.steps import import_of
from tests.stack import Stack, wait_until
from tests.targets import TestServer, saved_target

HEADER = "n,word\n"


@pytest.fixture
def database(servers: dict[str, TestServer]) -> Iterator[Address]:
    """On one server: what schedules add to imports is the same on all."""
    with servers["mariadb"].fresh_database() as address:
        run_sql(address, "CREATE TABLE words (n INT PRIMARY KEY, word VARCHAR(20) NOT NULL)")
        yield address


@pytest.fixture
def folder(tmp_path: Path, transactional_db) -> Path:
    """Where files are dropped, and what is made of it in Millrace."""
    path = Path(settings.IMPORT_FOLDERS[0]) / tmp_path.name
    path.mkdir(parents=True)
    SourceConnection.objects.create(name="incoming", kind="folder", base=str(path))
    return path


@pytest.fixture
def told(web: Stack, transactional_db) -> Iterator[tuple[Inbox, Hook]]:
    """A mail server and a web server that hear of all usual events: that of a success would come first."""
    with mail_catcher() as (inbox, port), web_catcher() as hook:
        web.env["EMAIL_URL"] = f"smtp://127.0.0.1:{port}"
        web.control_worker.stop()
        web.control_worker.start()
        every = {"events": Event.usual()}
        Channel.objects.create(name="team", kind="mail", addresses="ann@example.org", **every)
        channels.save(Channel(name="ops", kind="webhook", url=hook.url, private_allowed=True, **every), "sesame " * 3)
        yield inbox, hook
    del web.env["EMAIL_URL"]
    web.control_worker.stop()
    web.control_worker.start()


def test_from_an_import_to_a_schedule_that_loads_moves_and_tells(
    page: Page, database: Address, folder: Path, told: tuple[Inbox, Hook], tmp_path: Path
):
    first = tmp_path / "words-1.csv"
    first.write_text(f"{HEADER}1,one\n")
    job = import_of(first, saved_target(database, "here"), "words")
    commands.start(job.pk)
    page.goto(reverse("job", args=[job.pk]))
    page.get_by_text("More", exact=True).click(timeout=30_000)
    page.get_by_role("link", name="Schedule this import").click()
    expect(page.get_by_label("Files", exact=True)).to_have_value("words-*.csv")
    expect(page.get_by_text("No file matches now.")).to_be_visible()
    page.get_by_label("At set times").check()
    page.get_by_role("button", name="Every hour").click()
    expect(page.get_by_label("When (cron)")).to_have_value("0 * * * *")
    expect(page.locator(".schedule-times li")).to_have_count(5)
    page.get_by_label("When a new file appears").check()
    page.get_by_label("Move it").check()
    page.get_by_label("Folder", exact=True).fill("loaded")
    page.get_by_role("button", name="Create schedule").click()
    expect(page).to_have_url(re.compile(r"/schedules/\d+/"))
    expect(page.get_by_text("Its file is not loaded again.")).to_be_visible()

    (folder / "words-2.csv").write_text(f"{HEADER}2,two\n")
    (folder / "words-3.csv").write_text(f"{HEADER}3,{'x' * 30}\n")
    runs = page.locator("#schedule-live")
    expect(runs.get_by_text("1 of 2 files failed")).to_be_visible(timeout=60_000)
    expect(runs.get_by_text("1 row, moved")).to_be_visible()
    expect(runs.get_by_text("line 2, column word: The value is too long")).to_be_visible()
    assert sorted(str(each.relative_to(folder)) for each in folder.rglob("*.csv")) == [
        "loaded/words-2.csv", "words-3.csv",
    ]  # fmt: skip
    assert rows_of(database, "SELECT n, word FROM words ORDER BY n") == [(1, "one"), (2, "two")]
    inbox, hook = told
    wait_until(lambda: inbox.came and hook.came, what="both messages")
    told_of = read(hook.came[0][1])
    assert (told_of["event"], told_of["title"], told_of["job"]["file"]) == ("failed", "words failed", "words-3.csv")
    assert told_of["run"]["schedule"]["url"].endswith(reverse("schedule", args=[Schedule.objects.get().pk]))
    assert inbox.subjects[0].startswith("Millrace: words failed:")
