"""Several files on the page of a new import, in a real browser: none of them vanishes."""
# ruff: noqa: F811 - the fixtures of another file

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard.new_import import batch
from importer.models import ImportJob
from tests.browser.held import HeldRequest
from tests.browser.test_upload_page import cities, drop, page, target, upload_dir  # noqa: F401

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("upload_dir")]
PREVIEWS = re.compile(r"/new/[0-9a-f]+-")  # the form of the first file, and the preview of each


@pytest.fixture
def towns(tmp_path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text("id,name,population\n1,A,2\n")
    return path


def test_the_next_one_follows_when_one_is_started(page, target, cities, towns):
    drop(page, cities)
    expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
    drop(page, towns)
    expect(page.get_by_text("same format and columns")).to_be_visible()
    # No broker runs here: it is given up after some seconds, and the sweeper would start the job.
    page.get_by_role("button", name=f"Import 1 of 2 files into {target.database}.cities").click()
    expect(page.get_by_text(f"into {target.database}.cities started.")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("button", name=f"into {target.database}.towns")).to_be_enabled()
    assert ImportJob.objects.get().table == f"{target.database}.cities"


def test_the_settings_of_one_are_applied_to_all_like_it(page, target, cities, towns, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    drop(page, cities)
    expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
    drop(page, towns, other)
    expect(page.get_by_text("other columns: no part of this import")).to_be_visible()
    page.get_by_label("Apply to all: 1 more file").check()
    page.get_by_role("button", name=f"Import 2 files into {target.database}.cities").click()
    expect(page.get_by_text(f"into {target.database}.cities started.")).to_be_visible(timeout=30_000)
    found = ImportJob.objects.order_by("pk").values_list("source__name", "table_name")
    assert list(found) == [("cities.csv", "cities"), ("towns.csv", "cities")]
    expect(page.locator(".file-line").first).to_contain_text("other.csv")


def test_all_are_still_there_after_a_reload(page, target, cities, towns):
    drop(page, cities, towns)
    # Either may arrive first. The row of an upload has the name, too: a reload would break the upload off.
    for name in ("cities.csv", "towns.csv"):
        expect(page.locator(".file-line", has_text=name)).to_be_visible()
    page.reload()
    for name in ("cities.csv", "towns.csv"):
        expect(page.get_by_role("main").get_by_text(name, exact=True).first).to_be_visible()


def test_an_empty_one_says_so_and_does_not_stop_the_next(page, target, cities, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.touch()
    drop(page, empty, cities)
    expect(page.get_by_role("alert").filter(has_text="The file is empty.")).to_be_visible()
    expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()


def first_shown(page: Page, cities: Path) -> None:
    drop(page, cities)
    expect(page.get_by_label("Table", exact=True)).to_have_value("cities")
    expect(page.locator("#files .htmx-request")).to_have_count(0)


def test_more_than_one_page_takes_are_refused_by_name(page, target, cities, towns, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "MOST", 1)
    villages = tmp_path / "villages.csv"
    villages.write_text("id,name,population\n1,A,2\n")
    first_shown(page, cities)
    drop(page, towns)
    expect(page.locator(".other-files .file-line")).to_contain_text("towns.csv")
    drop(page, villages)
    row = page.locator("[data-upload]")
    expect(row).to_contain_text("one page takes 1 other file. Import it first, or open it on its own")
    expect(row).to_contain_text("villages.csv")
    expect(page.locator(".other-files .file-line")).to_have_count(1)
    page.get_by_role("link", name="open it on its own", exact=True).click()
    expect(page.get_by_role("region", name="The first rows of villages.csv")).to_be_visible()


@pytest.mark.parametrize("failure", ["error", "no answer"])
def test_one_that_cannot_be_added_says_so(page, target, cities, towns, failure):
    first_shown(page, cities)
    page.route(PREVIEWS, lambda route: route.fulfill(status=503) if failure == "error" else route.abort())
    drop(page, towns)
    row = page.locator("[data-upload]")
    expect(row).to_contain_text("It has arrived, but cannot be shown now. Open New import again")
    expect(row).to_contain_text("towns.csv")


@pytest.mark.parametrize("failure", ["error", "no answer"])
def test_a_failure_for_a_moment_loses_none(page, target, cities, towns, failure):
    first_shown(page, cities)
    failures: list[Route] = []

    def fail_once(route: Route) -> None:
        if failures:
            return route.continue_()
        failures.append(route)
        return route.fulfill(status=503) if failure == "error" else route.abort()

    page.route(PREVIEWS, fail_once)
    drop(page, towns)
    expect(page.locator(".other-files .file-line")).to_contain_text("towns.csv")
    expect(page.locator("[data-upload]")).to_have_count(0)


def test_a_choice_while_one_is_added_loses_neither(page, target, cities, towns):
    first_shown(page, cities)
    HeldRequest(page, PREVIEWS)
    drop(page, towns)
    expect(page.locator("#files .htmx-request")).to_have_count(1)
    table = page.get_by_label("Table", exact=True)
    table.fill("towns")
    table.press("Tab")
    expect(page.locator(".other-files .file-line")).to_contain_text("towns.csv")
    expect(table).to_have_value("towns")
    expect(page.locator("[data-upload]")).to_have_count(0)
