"""The banner that imports wait appears and disappears without a reload."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.dashboard.home.test_page import make_schedule
from tests.dashboard.job_data import make_job
from tests.stack import announce_workers

pytestmark = pytest.mark.django_db(transaction=True)
# The part of each page that asks the server again.
PARTS = {
    "home": "#home",
    "jobs": "#jobs",
    "job": "#job-live",
    "schedules": "#schedule-list",
    "schedule": "#schedule-live",
}


@pytest.mark.parametrize("name", PARTS)
def test_that_imports_wait_comes_and_goes_with_the_workers(opened, redis, name):
    shown = {"job": make_job(), "schedule": make_schedule()}.get(name)
    page = opened(reverse(name, args=[shown.pk] if shown else []))
    event = "poll" if name == "job" else "refresh"
    said, again = page.get_by_text("imports wait"), f"() => htmx.trigger('{PARTS[name]}', '{event}')"
    expect(said).to_have_count(1)
    announce_workers()
    page.evaluate(again)
    expect(said).to_have_count(0)
    redis.flushdb()
    page.evaluate(again)
    expect(said).to_have_count(1)
    expect(page.locator(PARTS[name])).to_have_count(1)
