"""The way through the history: columns, conditions, order and charts without a reload, all held by the address."""

import re
from datetime import UTC, datetime

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from bench.workloads.sample_history import seed
from importer.models import JobFact
from tests.browser.conftest import expect_no_scrolling_sideways

pytestmark = pytest.mark.django_db(transaction=True)
TABLE = "made_up.t1"
LABEL_PIXELS = 120  # of a day and a time


@pytest.fixture
def told():
    for _ in seed(60, 60, tables=3):
        pass


def drawn(page):
    """Whether the chart of this view has been drawn: it has ink."""
    page.wait_for_function(
        """() => {
            const canvas = document.querySelector(".history-canvas canvas");
            const ink = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return ink?.some((value) => value > 0);
        }"""
    )


def seen(page):
    """What the table shows."""
    return page.locator(".history-imports").inner_text()


def test_a_view_is_put_together_shared_and_gone_back_from(opened, told):
    page = opened(reverse("history"), viewport={"width": 1280, "height": 900})
    page.evaluate("window.untouched = true")
    drawn(page)

    page.locator("#history-table").focus()
    page.locator("#history-table").select_option(TABLE)
    page.wait_for_url(re.compile("table=made_up.t1"))
    expect(page.locator("#history-table")).to_be_focused()

    page.locator("summary", has_text="Columns").click()
    page.get_by_label("Search columns").fill("waiting")
    expect(page.get_by_label("Waiting", exact=True)).to_be_visible()
    expect(page.get_by_label("Release")).to_be_hidden()
    page.get_by_label("Waiting", exact=True).check()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("columnheader", name="Waiting")).to_be_visible()

    page.get_by_label("Only where").select_option("parallelism")
    expect(page.get_by_label("Comparison").locator("option")).to_have_count(6)
    page.get_by_label("Comparison").select_option(">=")
    page.get_by_label("Value of Parallel chunks").fill("2")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Parallel chunks >= 2")).to_be_visible()
    page.get_by_role("link", name="Rows/s").click()
    page.wait_for_url(re.compile("sort=-rows_per_second"))
    page.get_by_role("link", name="Over time").click()
    expect(page.get_by_role("link", name="Over time")).to_have_attribute("aria-current", "true")
    page.get_by_label("Y-axis").select_option("total_seconds")
    page.wait_for_url(re.compile("y=total_seconds"))
    drawn(page)
    assert page.evaluate("window.untouched")

    before = seen(page)
    page.reload()
    drawn(page)
    assert seen(page) == before
    expect(page.get_by_text("Parallel chunks >= 2")).to_be_visible()
    assert page.get_by_label("Y-axis").input_value() == "total_seconds"

    page.go_back()
    expect(page.get_by_label("Y-axis")).to_have_value("rows_per_second")
    page.get_by_label("Remove the condition Parallel chunks >= 2").click()
    expect(page.get_by_text("Parallel chunks >= 2")).to_be_hidden()

    compare = page.get_by_role("button", name="Compare")
    expect(compare).to_be_disabled()
    for box in page.locator("input[name=jobs]").all()[:2]:
        box.check()
    compare.click()
    page.wait_for_url(re.compile(r"compare/\?jobs=\d+&jobs=\d+"))


def test_two_groups_in_order_have_the_first_and_the_last_colour(opened):
    list(seed(20, 1, tables=1))
    JobFact.objects.filter(name="parallelism", number__gt=1).update(number=2)
    page = opened(reverse("history"))
    drawn(page)
    sets = "Chart.getChart(document.querySelector('.history-canvas canvas')).data.datasets"
    colours = f"[...new Set({sets}.map((each) => each.borderColor))]"
    ends = "[1, 6].map((n) => getComputedStyle(document.documentElement).getPropertyValue(`--history-${n}`).trim())"
    assert page.evaluate(colours) == page.evaluate(ends)


def test_imports_are_cards_on_a_phone_that_can_be_sorted(opened, told):
    page = opened(reverse("history"), viewport={"width": 390, "height": 844})
    rate = page.locator(".history-imports td[data-label='Rows/s']:visible").first
    assert rate.bounding_box()["x"] + rate.bounding_box()["width"] <= 390
    # Two values stand side by side: a page of cards is half as long.
    chosen, number = (page.locator(f".history-imports td[data-label='{name}']").first for name in ("Compare", "Import"))
    assert chosen.bounding_box()["y"] == number.bounding_box()["y"]
    assert rate.bounding_box()["height"] < 32  # One line: the name, and the value.
    card = page.locator(".history-imports tr:has(td[data-label='Rows/s']:not(:empty))").first
    named = card.locator("td:visible[data-label]")
    names = ["Compare", "Import", "Ended", "Table", "Rows/s", "Total"]
    assert [each.get_attribute("data-label") for each in named.all()] == names
    expect(page.locator(".history-imports thead")).to_be_hidden()
    page.get_by_label("Sort by").select_option("Rows in the file ↓")
    page.wait_for_url(re.compile("sort=-rows$"))
    expect(page.get_by_label("Sort by")).to_have_value("-rows")
    expect_no_scrolling_sideways(page)


def test_a_single_import_is_seen_over_time(opened):
    list(seed(1, 1, tables=1))
    page = opened(f"{reverse('history')}?chart=time")
    drawn(page)
    x = "Chart.getChart(document.querySelector('.history-canvas canvas')).getDatasetMeta(0).data[0].x"
    assert 0 < page.evaluate(x) < 2000


def test_one_value_of_a_setting_is_drawn_over_time(opened):
    list(seed(6, 12, tables=1))
    JobFact.objects.filter(name="chunk_bytes").update(number=1 << 20)
    page = opened(f"{reverse('history')}?x=chunk_bytes&colour=")
    drawn(page)
    chart = "Chart.getChart(document.querySelector('.history-canvas canvas'))"
    ended = list(JobFact.objects.filter(name="ended").values_list("number", flat=True))
    drawn_at = page.evaluate(f"{chart}.data.datasets[0].data.map((each) => each.x)")
    assert drawn_at
    assert set(drawn_at) <= set(ended)
    # Both ends of the axis say which moment they are, and those between them are as far apart as their labels need.
    ticks = page.evaluate(f"{chart}.scales.x.ticks.map((each) => [each.value, each.label])")
    assert [ticks[0][0], ticks[-1][0]] == [min(drawn_at), max(drawn_at)]
    assert ticks[0][1]
    assert ticks[-1][1]
    left, right = (page.evaluate(f"{chart}.scales.x.{side}") for side in ("left", "right"))
    places = page.evaluate(f"{chart}.scales.x.ticks.map((_, at) => {chart}.scales.x.getPixelForTick(at))")
    assert places == pytest.approx([left + (right - left) * at / (len(places) - 1) for at in range(len(places))])
    assert places[1] - places[0] >= LABEL_PIXELS


def test_without_javascript_all_but_the_chart_is_there(opened, told):
    page = opened(reverse("history"), java_script_enabled=False, viewport={"width": 390, "height": 844})
    page.locator("#history-table").select_option(TABLE)
    page.get_by_label("Value of Secondary indexes").fill("keep")
    page.get_by_role("button", name="Add").click()
    page.wait_for_url(re.compile("table=made_up.t1.*where=indexes"))
    expect_no_scrolling_sideways(page)
    page.get_by_text("The chart in figures").click()
    expect(page.get_by_role("columnheader", name="Middle half")).to_be_visible()
    expect(page.get_by_text("Secondary indexes is keep")).to_be_visible()


def test_the_chart_has_the_time_of_the_zone_that_somebody_has_chosen(opened, told):
    """In any time zone of the browser; around the hour that the clocks skip."""
    page = opened(reverse("account_own"), viewport={"width": 390, "height": 844}, timezone_id="America/New_York")
    page.get_by_label("Time zone").fill("Europe/Vienna")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your time zone is saved.")).to_be_visible()
    expect_no_scrolling_sideways(page)
    page.goto(page.url.replace(reverse("account_own"), reverse("history")))
    drawn(page)
    skipped = datetime(2026, 3, 29, 1, tzinfo=UTC).timestamp()
    form = '{ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }'
    told = [page.evaluate(f"charts.moment({seconds}, {form})") for seconds in (skipped - 60, skipped)]
    assert told == ["29 Mar, 01:59", "29 Mar, 03:00"]
    # That of a schedule is in the schedule's zone.
    assert page.evaluate(f"charts.moment({skipped}, {form}, 'UTC')") == "29 Mar, 01:00"
