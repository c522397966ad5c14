"""From an import's page to the comparison with the one before, and what can be done there."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from bench.workloads.sample_history import seed
from importer.models import ImportJob
from tests.browser.conftest import expect_no_scrolling_sideways

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_imports_then_a_third_then_what_is_the_same(page: Page):
    for _ in seed(3, 12, tables=1):
        pass
    one, two, three = ImportJob.objects.order_by("pk").values_list("pk", flat=True)
    page.goto(reverse("job", args=[three]))
    expect(page.locator("#timings-chart")).to_have_attribute("width", re.compile(r"\d{2,}"))
    page.get_by_text(re.compile(r"The slowest \d+")).click()
    expect(page.get_by_role("region", name="The slowest chunks")).to_contain_text("Send and load")
    page.get_by_role("link", name="Compare with the one before").click()
    cards = page.locator(".compare-verdicts > li")
    expect(cards).to_have_count(2)
    expect(page.get_by_role("region", name="Facts that differ")).to_contain_text("Rows in the file")
    # The chart is drawn; its figures stand in the table.
    expect(page.locator("#compare-chart")).to_have_attribute("width", re.compile(r"\d{2,}"))
    expect(page.get_by_role("region", name="Timings in figures")).to_contain_text("Rows a second")
    page.get_by_text("Its chunks, in figures").click()
    expect(page.get_by_role("region", name="Chunks in figures")).to_contain_text("Send and load")

    page.get_by_label("Add", exact=True).select_option(str(one))
    page.get_by_role("button", name="Add").click()
    expect(cards).to_have_count(3)
    page.get_by_role("link", name="Show equal settings too").click()
    expect(page.get_by_role("region", name="Facts that are the same")).to_contain_text("Rounding")
    cards.nth(2).get_by_role("link", name="Make it the baseline").click()
    expect(cards.first).to_contain_text(f"Import {one}")
    page.get_by_label("or number").fill("nonsense")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("“nonsense” is not the number of an import")
    expect(cards).to_have_count(3)
    assert [int(each) for each in re.findall(r"jobs=(\d+)", page.url)] == [one, two, three]

    page.set_viewport_size({"width": 390, "height": 844})
    expect_no_scrolling_sideways(page)
    # The name of a fact is not cut, and stands above its values.
    name = page.get_by_role("rowheader", name="innodb_buffer_pool_size", exact=True)
    above, below = name.bounding_box(), name.locator("xpath=following-sibling::td[1]").bounding_box()
    assert above["height"] < 30
    assert above["y"] + above["height"] <= below["y"] + 1
