"""Somebody is added by an admin, sets a password by the link in another browser, and sees only what is granted."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.models import Grant, Target
from tests.browser.conftest import PHONE, expect_no_scrolling_sideways
from tests.people import admin

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "mill-race-9"


@pytest.fixture
def phone(new_tab, live_server):
    """Opens a tab of another phone; the test fails if the policy stopped anything."""
    complaints = []

    def open_page(client=None):
        page = new_tab(live_server.url, client, viewport=PHONE)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: dialog.accept())
        return page

    yield open_page
    # A person's first look at what is not theirs is answered 404, which the browser reports.
    assert [text for text in complaints if "404" not in text] == []


def expect_a_good_page(page):
    """It fits a phone, and each field has a label."""
    expect_no_scrolling_sideways(page)
    fields = page.locator("input:visible, select:visible, textarea:visible")
    bare = "fields => fields.filter(each => !each.labels.length && !each.ariaLabel).map(each => each.outerHTML)"
    assert fields.evaluate_all(bare) == []


def test_invited_with_a_grant_sees_the_granted_target_only(phone, client):
    for name in ("warehouse", "payroll"):
        Target.objects.create(name=name, host="127.0.0.1", port=1, user="u", database="d")
    client.force_login(admin("ann"))
    page = phone(client)
    page.goto(reverse("jobs"))
    page.get_by_text("Manage", exact=True).click()
    page.get_by_role("link", name="People").click()
    expect_a_good_page(page)
    page.get_by_role("link", name="Add a person").click()
    expect_a_good_page(page)
    page.get_by_label("Name").fill("bob")
    page.get_by_label("Operator: imports where a grant says so").check()
    page.get_by_role("button", name="Add and create a link").click()
    link = page.locator("#link").inner_text()
    expect_a_good_page(page)
    page.get_by_role("link", name="Continue to groups and grants").click()
    page.get_by_label("On", exact=True).select_option("target warehouse")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Granted: bob may load target warehouse.")).to_be_visible()
    expect_a_good_page(page)

    bob = phone()
    bob.goto(link)
    assert link.rstrip("/").rpartition("/")[2] not in bob.url
    expect_a_good_page(bob)
    for label in ("Password", "Password again"):
        bob.get_by_label(label, exact=True).fill(PASSWORD)
    bob.get_by_role("button", name="Set the password").click()
    expect(bob.get_by_text("The password of bob is set")).to_be_visible()
    bob.get_by_label("User name").fill("bob")
    bob.get_by_label("Password", exact=True).fill(PASSWORD)
    bob.get_by_role("button", name="Sign in", exact=True).click()
    expect(bob.get_by_label("Menu of bob")).to_be_visible()
    bob.goto(reverse("targets"))
    expect(bob.get_by_role("link", name="warehouse")).to_be_visible()
    expect(bob.get_by_text("payroll")).to_have_count(0)
    bob.goto(reverse("target", args=[Target.objects.get(name="payroll").pk]))
    expect(bob.get_by_text("There is no such page")).to_be_visible()

    again = phone()
    again.goto(link)
    expect(again.get_by_text("This link works no more")).to_be_visible()
    page.get_by_role("button", name="Revoke: bob may load target warehouse").click()
    expect(page.get_by_text("Revoked: bob may load target warehouse.")).to_be_visible()
    assert not Grant.objects.exists()
    bob.goto(reverse("targets"))
    expect(bob.get_by_text("warehouse")).to_have_count(0)
