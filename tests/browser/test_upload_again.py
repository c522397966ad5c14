"""A file that is chosen again on the page of a new import: one upload, which continues; another file is another one."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from importer.models import SourceFile
from tests.browser.held import HeldRequest
from tests.browser.test_upload_page import CITIES, cities, page, target, upload_dir

__all__ = ["cities", "page", "target", "upload_dir"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("upload_dir")]


def choose(page: Page, path: Path) -> None:
    page.locator("#file-choice").set_input_files(path)


def test_the_same_file_is_uploaded_once_and_continues_after_a_pause(page: Page, target, cities: Path):
    held = HeldRequest(page, "**/uploads/*/")
    choose(page, cities)
    held.sent()
    choose(page, cities)
    expect(page.locator("#drop-problem")).to_have_text("cities.csv is on this page already.")
    expect(page.locator("[data-upload]")).to_have_count(1)
    page.get_by_role("button", name="Pause the upload of cities.csv").click()
    expect(page.get_by_text("Paused at")).to_be_visible()
    choose(page, cities)
    expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
    assert SourceFile.objects.get().file.read_text() == CITIES


def test_a_file_that_has_changed_says_so_and_is_chosen_again(page: Page, target, cities: Path):
    parts: list[Route] = []

    def change(route: Route) -> None:
        if route.request.method != "PATCH" or parts:
            return route.continue_()
        parts.append(route)
        cities.write_text("id,name\n1,A\n")
        os.utime(cities, (1, 1))
        return route.fulfill(status=503)

    page.route("**/uploads/*/", change)
    choose(page, cities)
    row = page.locator("[data-upload]")
    expect(row).to_contain_text("The file has changed on your computer or is no longer there. Choose it again.")
    expect(row.get_by_role("button")).to_have_text(["Remove"])
    row.get_by_role("button").click()
    expect(row).to_have_count(0)
    choose(page, cities)
    expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
    assert SourceFile.objects.get().file.read_text() == "id,name\n1,A\n"
