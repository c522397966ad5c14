"""The page about the API: its filter shows what has the words, and its parts stay in sight."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_filter_shows_only_what_has_all_its_words(opened, width):
    page = opened(reverse("api_docs"), viewport={"width": width, "height": 844})
    page.get_by_role("heading", name="Codes of problems").scroll_into_view_if_needed()
    page.get_by_role("searchbox").fill("imports Retry")
    operations = page.locator(".api-operation:visible")
    expect(operations).to_have_count(1)
    expect(operations).to_contain_text("/api/v1/imports/{job}/retry")
    expect(page.get_by_role("heading", name="Targets")).to_be_hidden()
    page.get_by_role("searchbox").fill("1200 table")
    expect(page.locator(".api-problems tbody tr:visible").first).to_contain_text("1200")
    expect(operations).to_have_count(0)
    page.get_by_role("searchbox").fill("nothing has this")
    expect(page.get_by_text("Nothing here has these words.")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(page.get_by_role("heading", name="Targets")).to_be_visible()
