"""The page of one import in a browser: what it tells without being looked at."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from importer.models import ImportJob
from tests.dashboard.job_data import ROWS, Status, make_job

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_title_and_a_notification_tell_how_far_it_is(opened):
    job = make_job(chunks=4, loaded=1)
    page = opened(f"/jobs/{job.pk}/", permissions=["notifications"])
    expect(page).to_have_title("25 % · nodes-2026-11-20.csv → osm.nodes · Millrace")
    page.evaluate(
        """() => {
            window.told = [];
            const Real = window.Notification;
            window.Notification = class extends Real { constructor(title) { super(title); told.push(title); } };
        }"""
    )
    page.get_by_role("button", name="Notify me when it ends").click()
    expect(page.get_by_role("button", name="You will be notified")).to_be_visible()
    ImportJob.objects.filter(pk=job.pk).update(
        status=Status.SUCCEEDED, finished_at=timezone.now(), loaded_rows=4 * ROWS, balanced=True, version=9
    )
    expect(page).to_have_title("Succeeded · nodes-2026-11-20.csv → osm.nodes · Millrace")
    expect(page.locator("#job-notify")).to_be_hidden()
    assert page.evaluate("told") == ["Succeeded · nodes-2026-11-20.csv → osm.nodes"]
