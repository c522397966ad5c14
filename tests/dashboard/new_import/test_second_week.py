"""The second week: no page that takes a file asks again what an import of the same header has answered."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from importer.models import ImportJob, SourceConnection, SourceFile, Target
from tests.dashboard.new_import.test_page import HTMX, show, shown_form, start, uploaded
from tests.dashboard.new_import.test_questions import buttons
from tests.importer.steps import run

pytestmark = pytest.mark.django_db
TABLES = ("CREATE TABLE orders (id INT PRIMARY KEY, customer VARCHAR(20) NOT NULL, amount DECIMAL(8,2))",)


def export(week: int) -> bytes:
    """A file that is asked about: its encoding, its last line, and its table, since the name is of none."""
    rows = "".join(f"{week}{n};Müller;1,{n}0\r\n" for n in range(3))
    return f"id;customer;amount\r\n{rows}Summe;;4,50\r\n".encode("cp1252")


@dataclass
class Week:
    """Who imports, with a first import of such a file that has worked, and a folder of a connection."""

    browser: Client
    user: User
    first: ImportJob
    folder: Path


@pytest.fixture
def week(browser, user, target: Target, tmp_path: Path, settings, monkeypatch) -> Week:
    monkeypatch.setattr("importer.connections.protocols.folder.SETTLED", 0)
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    folder = tmp_path / "in"
    folder.mkdir()
    source = uploaded(user, export(1), "week 1.csv")
    shown = show(browser, source, table="orders")
    for label in ("cp1252 (Windows, western)", "A footer"):
        shown = show(browser, source, **shown_form(shown), answer=buttons(shown)[label])
    assert start(browser, source, **shown_form(shown)).status_code == 200
    return Week(browser, user, run(ImportJob.objects.get()), folder)


def page_of(source: SourceFile, query: str = "") -> str:
    return reverse("new_source", args=[source.key]) + query


def dropped(week: Week) -> str:
    return page_of(uploaded(week.user, export(2), "week 2.csv"))


def several(week: Week) -> str:
    first, *others = [uploaded(week.user, export(n), f"week {n}.csv") for n in (2, 3, 4)]
    return page_of(first, f"?also={','.join(str(each.key) for each in others)}")


def of_a_connection(week: Week) -> str:
    (week.folder / "week 2.csv").write_bytes(export(2))
    place = SourceConnection.objects.create(name="in", kind="folder", base=str(week.folder))
    return week.browser.post(reverse("new_from", args=[place.pk]), {"name": "week 2.csv"}).url


def several_of_a_connection(week: Week) -> str:
    for n in (2, 3):
        (week.folder / f"week {n}.csv").write_bytes(export(n))
    place = SourceConnection.objects.create(name="in", kind="folder", base=str(week.folder))
    return week.browser.post(reverse("new_from", args=[place.pk]), {"name": ["week 2.csv", "week 3.csv"]}).url


def read_as_one(week: Week) -> str:
    """Files on one page, read as one."""
    first, other = (uploaded(week.user, export(n), f"week {n}.csv") for n in (2, 3))
    return week.browser.post(reverse("new_together"), {"first_file": str(first.key), "also": str(other.key)}).url


def of_an_import(week: Week) -> str:
    """The next file, on the page that an import gives for its own that is gone."""
    SourceFile.objects.update(status=SourceFile.Status.REMOVED)
    address = week.browser.get(reverse("job_edit", args=[week.first.pk])).url
    return page_of(uploaded(week.user, export(2), "week 2.csv"), f"?{address.partition('?')[2]}")


# The doors by which a file comes to a page of a new import, each with the number of imports that it starts.
DOORS: dict[str, tuple[Callable[[Week], str], int]] = {
    "dropped": (dropped, 1),
    "several at once": (several, 3),
    "of a connection": (of_a_connection, 1),
    "several of a connection": (several_of_a_connection, 1),
    "read as one": (read_as_one, 1),
    "again": (of_an_import, 1),
}


def last_time(week: Week, address: str) -> Any:
    """The page as it is, or after its one click on what it proposes."""
    shown = week.browser.get(address, headers=HTMX)
    if proposed := re.search(r'id="last-time-[^"]*" href="([^"]*)"', shown.text):
        return week.browser.get(unescape(proposed[1]), headers=HTMX)
    return shown


@pytest.mark.parametrize("door", DOORS)
def test_what_was_answered_is_not_asked_again(week: Week, door: str):
    come, count = DOORS[door]
    address = come(week)
    shown = last_time(week, address)
    form = shown_form(shown)
    assert form["table"] == f"{week.first.schema_name}.orders"
    assert buttons(shown) == {}
    assert "question" not in re.sub("<[^>]*>", " ", shown.text)
    source = SourceFile.objects.get(key=address.rpartition("/new/")[2].partition("/")[0])
    values = form | ({"apply_to_all": "yes"} if count > 1 else {})
    assert start(week.browser, source, **values).status_code == 200
    started = ImportJob.objects.filter(pk__gt=week.first.pk)
    assert started.count() == count
    for job in started:
        assert (job.file_dialect.encoding, job.file_dialect.skip_footer) == ("cp1252", 1)


@pytest.mark.parametrize("after", ["a lab", "a schedule"])
def test_what_begins_with_an_import_asks_nothing_about_its_file(week: Week, after: str):
    """A lab and a schedule of an import have its answers."""
    name = {"a lab": "lab_new", "a schedule": "schedule_new"}[after]
    shown = week.browser.get(f"{reverse(name)}?job={week.first.pk}", follow=True)
    assert shown.status_code == 200
    assert f"{week.first.schema_name}.orders" in shown.text
    assert buttons(shown) == {}
