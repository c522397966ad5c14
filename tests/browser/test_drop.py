"""Files that are dropped on other pages than that of a new import, which then takes the place of the page."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Dialog, Page, expect

from importer.models import SourceFile
from tests.browser.test_upload_page import CITIES, cities, drop, page, target, upload_dir

__all__ = ["cities", "page", "target", "upload_dir"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("upload_dir")]


@pytest.fixture
def account(page: Page, live_server) -> Page:
    """Another page, with a form that nobody has edited."""
    page.goto(live_server.url + reverse("account_own"))
    return page


def test_a_new_import_begins_and_the_way_back_leads_to_the_page(account: Page, target, cities: Path):
    drop(account, cities, on="main")
    account.wait_for_url("**/new/")
    expect(account.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
    assert SourceFile.objects.get().file.read_text() == CITIES
    account.evaluate("window.notReloaded = true")
    account.get_by_text("Skip to the content").press("Enter")
    expect(account.locator("main")).to_be_focused()
    account.go_back()
    assert account.evaluate("window.notReloaded")
    account.go_back()
    expect(account).to_have_title(re.compile("Your account"))
    expect(account.locator(".source")).to_have_count(0)


def test_what_was_entered_in_a_form_is_not_replaced_without_a_question(account: Page, cities: Path):
    answers = ["dismiss", "accept"]
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        getattr(dialog, answers.pop(0))()

    account.on("dialog", answer)
    zone = account.get_by_label("Time zone")
    zone.fill("Europe/Vienna")
    drop(account, cities, on="main")
    expect(zone).to_have_value("Europe/Vienna")
    drop(account, cities, on="main")
    account.wait_for_url("**/new/")
    assert len(asked) == 2
    assert "what you have entered here is lost" in asked[0]


def test_without_a_connection_the_page_says_so_and_stays(account: Page, cities: Path):
    said: list[str] = []

    def read(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.accept()

    account.on("dialog", read)
    account.context.set_offline(True)
    with account.expect_event("dialog"):
        drop(account, cities, on="main")
    expect(account.get_by_label("Time zone")).to_be_visible()
    assert said == ["Millrace does not answer, so the files were not taken. Drop or paste them again when it does."]
