"""What was done too often, in a real browser: the page says when it may continue, and stays as it is."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from importer.access import limits
from importer.access.acting import acting_as
from importer.models import ImportJob, Target
from tests.browser.conftest import PHONE, expect_no_scrolling_sideways
from tests.dashboard.job_data import Status, make_job
from tests.people import admin

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(new_tab, live_server, client, settings):
    """A phone's page of somebody who has started an import and had a target checked, once a minute as allowed."""
    settings.STARTS_PER_MINUTE = settings.CHECKS_PER_MINUTE = 1
    ann = admin("ann")
    with acting_as(ann):
        limits.use(limits.STARTS)
        limits.use(limits.CHECKS)
    client.force_login(ann)
    return new_tab(live_server.url, client, viewport=PHONE)


def test_a_retry_stays_on_the_page_of_the_import(page: Page):
    job = make_job(Status.FAILED, chunks=4)
    page.goto(reverse("job", args=[job.pk]))
    page.locator("#job-retry").click()
    expect(page.get_by_role("alert")).to_contain_text("You may start or retry an import 1 time in a minute")
    expect(page.get_by_role("alert")).to_be_in_viewport()
    page.locator("#job-retry").click()
    expect(page.get_by_role("alert")).to_have_count(1)
    expect_no_scrolling_sideways(page)
    assert ImportJob.objects.get().status == Status.FAILED


def test_a_check_leaves_the_form_of_the_target(page: Page):
    target = Target.objects.create(name="t", host="127.0.0.1", port=1, user="u", database="d", tls="off")
    page.goto(reverse("target", args=[target.pk]))
    page.get_by_label("Database").fill("changed")
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("alert")).to_contain_text("Try again in")
    expect(page.get_by_label("Database")).to_have_value("changed")
