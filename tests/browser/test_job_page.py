"""The page of one import in a browser: what it tells without being looked at."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from importer.models import ImportJob
from tests.browser.held import HeldRequest
from tests.dashboard.job_data import ROWS, Status, make_job

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_title_and_a_notification_tell_how_far_it_is(opened):
    job = make_job(chunks=4, loaded=1)
    page = opened(f"/jobs/{job.pk}/")
    expect(page).to_have_title("25 % · nodes-2026-11-20.csv → osm.nodes · Millrace")
    # A browser without windows shows no notifications, and refuses them all.
    page.add_init_script(
        """window.told = [];
        window.Notification = class extends EventTarget {
            static permission = "default";
            static async requestPermission() { return (this.permission = "granted"); }
            constructor(title) { super(); told.push(title); }
        };"""
    )
    page.reload()
    page.get_by_role("button", name="Notify me when it ends").click()
    expect(page.get_by_role("button", name="You will be notified")).to_be_visible()
    ImportJob.objects.filter(pk=job.pk).update(
        status=Status.SUCCEEDED, finished_at=timezone.now(), loaded_rows=4 * ROWS, balanced=True, version=9
    )
    expect(page).to_have_title("Succeeded · nodes-2026-11-20.csv → osm.nodes · Millrace")
    expect(page.locator("#job-notify")).to_be_hidden()
    assert page.evaluate("told") == ["Succeeded · nodes-2026-11-20.csv → osm.nodes"]


def test_an_ended_import_is_looked_at_again_when_its_page_is_shown_again(opened):
    """It has been retried elsewhere since: by its way back, the browser shows the page that it has kept."""
    job = make_job(Status.FAILED, chunks=4, loaded=1)
    page = opened(f"/jobs/{job.pk}/")
    expect(page).to_have_title(re.compile("^Failed"))
    page.evaluate("() => { window.ends = 0; document.addEventListener('millrace:ended', () => ends++); }")
    shown_again = {
        Status.CANCELLED: "document.dispatchEvent(new Event('visibilitychange'))",
        Status.LOADING: "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))",
    }
    for version, (status, event) in enumerate(shown_again.items(), start=8):
        ImportJob.objects.filter(pk=job.pk).update(status=status, version=version)
        page.evaluate(event)
        expect(page).to_have_title(re.compile("^25 %" if status == Status.LOADING else "^Cancelled"))
    assert page.evaluate("ends") == 0
    # It is followed again, to its next end.
    ImportJob.objects.filter(pk=job.pk).update(status=Status.FAILED, version=10)
    expect(page).to_have_title(re.compile("^Failed"))
    assert page.evaluate("ends") == 1


def test_no_curve_is_waited_for_after_the_load(opened):
    """Without points there is no curve."""
    page = opened(f"/jobs/{make_job(Status.INDEXING, chunks=1, loaded=0).pk}/")
    expect(page.locator("#job-throughput")).to_be_hidden()
    page = opened(f"/jobs/{make_job(chunks=3, loaded=0).pk}/")
    expect(page.locator("#job-chart-empty")).to_be_visible()


def test_clocks_have_the_time_of_the_server(opened):
    """The clock of the browser's computer is five minutes ahead."""
    job = make_job(chunks=4, loaded=1)
    page = opened("/")
    page.clock.install(time=timezone.now() + timedelta(minutes=5))
    page.route(f"**/jobs/{job.pk}/live/*", lambda _route: None)  # no answer sets the clock
    page.goto(f"{page.url}jobs/{job.pk}/")
    clock = page.locator("#job-headline [data-since]")
    from_the_server = clock.text_content()
    page.clock.run_for(1500)
    expect(clock).not_to_have_text(from_the_server)
    expect(clock).to_have_text(re.compile(r"^\d+ s$"))


def test_the_chunk_map_is_one_stop_of_the_tab_key_and_shows_details_on_enter(opened):
    job = make_job(chunks=10_000, loaded=6000, parallelism=8)
    page = opened(f"/jobs/{job.pk}/", viewport={"width": 1280, "height": 900})
    cells = page.locator("#job-map button")
    assert cells.count() <= 240
    assert page.locator("#job-map button[tabindex='0']").count() == 1
    widths = page.evaluate(
        "[...document.querySelectorAll('.job-map-line')].map((line) => line.lastChild.getBoundingClientRect().right)"
    )
    assert max(widths) - min(widths) < 20
    cells.first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    details = page.locator("#job-chunk-details")
    expect(details).to_contain_text("Chunks 9954 to 9995")
    details.get_by_role("link", name="9960", exact=True).click()
    expect(details).to_contain_text("SQL of this chunk")
    # The page continues without taking the focus away.
    cells.nth(5).focus()
    job.chunks.filter(number=6000).update(status="failed")
    ImportJob.objects.filter(pk=job.pk).update(version=9, committed_bytes=job.committed_bytes + 1)
    expect(page.locator("#job-map button.failed")).to_have_count(1)
    expect(cells.nth(5)).to_be_focused()


def test_the_focus_stays_on_its_chunk_while_the_file_is_scanned(opened):
    job = make_job(chunks=60, loaded=40)
    page = opened(f"/jobs/{job.pk}/", viewport={"width": 390, "height": 844})
    cells = page.locator("#job-map button")
    cells.first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    focused = page.locator("#job-map button:focus")
    chunk = focused.get_attribute("aria-label").split(":")[0]
    cells_before = cells.count()
    job.chunks.filter(number=59).delete()
    ImportJob.objects.filter(pk=job.pk).update(version=9)
    expect(cells).not_to_have_count(cells_before)
    expect(focused).to_have_attribute("aria-label", re.compile(f"^{chunk}:"))
    expect(page.locator("#job-map button[tabindex='0']:focus")).to_have_count(1)
    # Its chunk is loaded: the Tab key still reaches the map.
    job.chunks.update(status="failed")
    ImportJob.objects.filter(pk=job.pk).update(version=10)
    expect(page.locator("#job-map button[tabindex='0'].failed:focus")).to_have_count(1)


def test_a_second_press_before_the_answer_counts_too(opened):
    job = make_job(chunks=4, parallelism=2)
    page = opened(f"/jobs/{job.pk}/")
    held = HeldRequest(page, "**/parallelism/")
    more = page.get_by_role("button", name="One chunk more at a time")
    more.click()
    held.sent()
    more.click()
    held.release()
    expect(page.locator(".job-parallel output")).to_have_text("4")
    job.refresh_from_db()
    assert job.parallelism == 4
