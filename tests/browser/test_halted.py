"""What stops imports comes and goes on pages that refresh themselves, without a reload."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.worker.hosts import presence
from importer.worker.hosts.installation import queue_names
from tests.dashboard.home.test_page import make_schedule
from tests.dashboard.job_data import make_job

pytestmark = pytest.mark.django_db(transaction=True)
# The part of each page that asks the server again.
PARTS = {"home": "#home", "jobs": "#jobs", "schedules": "#schedule-list", "schedule": "#schedule-live"}


@pytest.mark.parametrize("name", PARTS)
def test_that_imports_wait_comes_and_goes_with_the_workers(opened, redis, name):
    make_job()
    schedule = make_schedule()
    page = opened(reverse(name, args=[schedule.pk] if name == "schedule" else []))
    said, again = page.get_by_text("imports wait"), f"() => htmx.trigger('{PARTS[name]}', 'refresh')"
    expect(said).to_have_count(1)
    for kind in queue_names():
        presence.announce(f"{kind}@here", 4, [kind])
    page.evaluate(again)
    expect(said).to_have_count(0)
    redis.flushdb()
    page.evaluate(again)
    expect(said).to_have_count(1)
    expect(page.locator(PARTS[name])).to_have_count(1)
