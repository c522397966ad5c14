"""A channel made and tested by somebody in a real browser, at a phone's width, and a message that a worker sends."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.models import Notification
from importer.models.channel import Event
from importer.notifications import outbox
from tests.browser.conftest import PHONE, expect_no_scrolling_sideways
from tests.importer.notifications.receivers import web_catcher
from tests.people import admin
from tests.stack import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(new_tab, live_server, client, stack):
    """Somebody of the staff, on a phone; the test fails if the policy stopped anything."""
    client.force_login(admin("ann"))
    page = new_tab(live_server.url, client, viewport=PHONE)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    assert complaints == []


def test_a_webhook_is_made_and_its_test_answered_in_place(page):
    page.goto(reverse("jobs"))
    page.get_by_text("Manage", exact=True).click()
    page.get_by_role("link", name="Channels").click()
    page.get_by_role("link", name="Add a webhook").click()
    expect(page.get_by_label("URL")).to_be_visible()
    expect_no_scrolling_sideways(page)
    for field in page.locator("input:visible, textarea:visible").all():
        assert field.evaluate("field => field.labels.length"), field.evaluate("field => field.outerHTML")
    with web_catcher() as hook:
        page.get_by_label("Name").fill("ops")
        page.get_by_label("URL").fill(hook.url)
        page.get_by_label("Private addresses allowed").check()
        page.get_by_role("button", name="Save").click()
        expect(page).to_have_url(re.compile(r"/channels/\d+/"))
        page.get_by_role("button", name="Send a test over ops").click()
        expect(page.get_by_text("The test was taken.")).to_be_visible()
        hook.answers = [503]
        page.get_by_role("button", name="Send a test over ops").click()
        expect(page.get_by_text("answered 503 Service Unavailable")).to_be_visible()
        hook.answers = [200]
        outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
        wait_until(lambda: Notification.objects.get().status == Notification.Status.SENT, what="a worker to send it")
        assert len(hook.came) == 3
    page.reload()
    expect(page.get_by_text("It was due at 2 o'clock.")).to_be_visible()
    expect_no_scrolling_sideways(page)
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_text("All sent")).to_be_visible()
    expect_no_scrolling_sideways(page)
