"""What all pages share, in a real browser: colours, keyboard, phone, policy; and the list's filters."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.models import ImportJob, Lab, Target
from importer.worker.hosts import presence
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.browser.held import HeldRequest
from tests.dashboard.job_data import Status, make_job
from tests.dashboard.lab.reports import reported

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "a-file-name-that-never-ends-" * 6 + ".csv"
FINDINGS = [
    {"name": "local_infile", "status": "fail", "message": "off", "fix": "SET GLOBAL local_infile = ON; and in my.cnf"},
    {"name": "privileges", "status": "fail", "message": "none", "fix": f"GRANT INSERT ON `{'x' * 60}`.* TO `a`@`%`;"},
]


@pytest.fixture
def jobs():
    made = [make_job(Status.SUCCEEDED, chunks=2, file_name=f"nodes-{number}.csv") for number in range(3)]
    made.append(make_job(Status.FAILED, chunks=2, file_name=LONG, table="t" * 64))
    Target.objects.update(findings=FINDINGS, checked_at=made[0].created_at)
    return made


def theme(page):
    return page.locator("html").get_attribute("data-bs-theme")


# The contrast of an element's text with what lies behind it (WCAG 2.2), all backgrounds laid over each other.
CONTRAST = """element => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const lay = (colour) => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
    };
    const brightness = () => [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)]
        .map((value) => value / 255)
        .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const layers = [];
    for (let each = element; each; each = each.parentElement) layers.unshift(getComputedStyle(each).backgroundColor);
    ["white", ...layers].forEach(lay);
    const behind = brightness();
    lay(getComputedStyle(element).color);
    const [low, high] = [behind, brightness()].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
}"""


class TestColours:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_refused_sign_in_can_be_read(self, chromium, live_server, scheme):
        page = chromium.new_page(color_scheme=scheme)
        page.goto(live_server.url)
        page.get_by_label("User name").fill("nobody")
        page.get_by_label("Password", exact=True).fill("wrong")
        page.keyboard.press("Enter")
        assert page.get_by_role("alert").evaluate(CONTRAST) >= 4.5
        page.close()

    def test_a_choice_is_remembered_and_can_be_given_back(self, opened):
        page = opened("/", color_scheme="light")
        for choice, seen in (
            ("Dark", "dark"),
            ("Light", "light"),
            ("Dark", "dark"),
            ("System theme", "light"),
        ):
            page.get_by_label("Menu of ann").click()
            page.get_by_role("button", name=choice).click()
            assert theme(page) == seen
            page.reload()
            assert theme(page) == seen

    def test_those_of_the_system_and_it_is_followed_when_it_changes(self, opened):
        page = opened("/", color_scheme="light")
        assert theme(page) == "light"
        page.emulate_media(color_scheme="dark")
        expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
        page.reload()
        assert theme(page) == "dark"


class TestKeyboard:
    def test_the_first_stop_leads_to_the_content(self, opened):
        page = opened("/")
        page.keyboard.press("Tab")
        expect(page.get_by_text("Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()

    def test_the_menu_opens_and_closes_and_gives_the_focus_back(self, opened):
        page = opened("/")
        menu = page.get_by_label("Menu of ann")
        menu.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
        expect(menu).to_be_focused()

    def test_every_field_has_a_label(self, opened, jobs, live_server):
        page = opened("/")
        for name in ("jobs", "target_new", "new"):
            page.goto(live_server.url + reverse(name))
            fields = page.locator("input:visible, select:visible, textarea:visible")
            assert fields.count()
            bare = "fields => fields.filter(each => !each.labels.length && !each.ariaLabel).map(each => each.outerHTML)"
            assert fields.evaluate_all(bare) == []


def test_a_row_that_is_a_link_looks_like_one(opened, jobs):
    page = opened(reverse("schedule_new"), color_scheme="light")
    row = page.locator("a.list-group-item-action").first
    assert row.evaluate("each => getComputedStyle(each, '::after').content.length") == len('">"')
    link = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--tblr-link-color')")
    assert link == "#0b7285"
    expect(row.locator(".fw-medium")).to_have_css("color", "rgb(11, 114, 133)")


def test_no_page_scrolls_sideways(opened, jobs, live_server):
    page = opened("/")
    pk = {"job": jobs[-1].pk, "target": jobs[-1].target_id}
    for name in ("home", "jobs", "job", "new", "history", "targets", "target", "target_new"):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(live_server.url + reverse(name, args=[pk[name]] if name in pk else []))
        expect_no_scrolling_sideways(page)
        for width in (768, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            expect_no_scrolling_sideways(page)


class TestTheListOfImports:
    def test_filters_and_order_without_a_reload_and_back_again(self, opened, jobs):
        page = opened(reverse("jobs"))
        page.evaluate("window.untouched = true")
        rows = page.locator("#jobs tbody tr")
        expect(rows).to_have_count(4)
        page.get_by_label("File, table or number of an import").press_sequentially("nodes-")
        expect(rows).to_have_count(3)
        page.get_by_role("link", name="File").first.click()
        expect(page.locator("#jobs .name").first).to_have_text("nodes-0.csv")
        page.get_by_label("Status").select_option("failed")
        expect(page.get_by_text("No matching imports")).to_be_visible()
        assert page.evaluate("window.untouched")
        page.wait_for_url(re.compile(r"q=nodes-.*status=failed.*sort=file"))
        page.go_back()
        expect(rows).to_have_count(3)
        page.reload()
        expect(rows).to_have_count(3)
        assert page.get_by_label("File, table or number of an import").input_value() == "nodes-"

    def test_a_heading_clicked_straight_after_typing_is_not_lost(self, opened, jobs):
        page = opened(reverse("jobs"))
        page.get_by_label("File, table or number of an import").fill("nodes-")
        page.get_by_role("link", name="File").first.click()
        page.wait_for_url(re.compile("sort=file"))

    def test_a_heading_clicked_while_the_filter_is_applied_sorts_what_it_finds(self, opened, jobs):
        page = opened(reverse("jobs"))
        held = HeldRequest(page, re.compile(r"/jobs/\?"))
        page.get_by_label("File, table or number of an import").fill("nodes-")
        expect(page.get_by_role("search")).to_have_class(re.compile("htmx-request"))
        page.get_by_role("link", name="File").first.click()
        held.release()
        page.wait_for_url(re.compile("q=nodes-.*sort=file"))
        expect(page.locator("#jobs tbody tr")).to_have_count(3)
        expect(page.locator("#sort-choice")).to_have_value("file")

    def test_without_javascript_it_still_filters(self, opened, jobs):
        page = opened(reverse("jobs"), java_script_enabled=False)
        page.get_by_label("File, table or number of an import").fill("nodes-1")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("#jobs tbody tr")).to_have_count(1)

    def test_on_a_phone_what_stands_beside_a_heading_does_not_touch_it(self, opened, jobs):
        page = opened(reverse("home"), viewport={"width": 390, "height": 844})
        head = page.locator(".card-header", has_text="Last 14 days")
        title, note = (head.locator(f"> {each}").bounding_box() for each in ("h2", "span"))
        assert title["x"] + title["width"] + 8 <= note["x"]

    def test_on_a_phone_the_order_is_a_choice(self, opened, jobs):
        page = opened(reverse("jobs"), viewport={"width": 390, "height": 844})
        page.get_by_label("Order").select_option("file")
        expect(page.locator("#jobs .name").first).to_have_text(LONG)
        page.wait_for_url(re.compile("sort=file"))

    def test_on_a_phone_the_filters_come_with_a_tap_and_stay_while_one_is_chosen(self, opened, jobs):
        page = opened(reverse("jobs"), viewport={"width": 390, "height": 844})
        status = page.get_by_label("Status")
        expect(status).to_be_hidden()
        page.get_by_text("Filters", exact=True).click()
        status.select_option("failed")
        page.wait_for_url(re.compile("status=failed"))
        page.reload()
        expect(status).to_be_visible()

    def test_it_updates_only_what_has_changed_and_the_focus_stays(self, opened, jobs):
        ImportJob.objects.filter(pk=jobs[0].pk).update(status=ImportJob.Status.LOADING)
        page = opened(reverse("jobs"))
        other = page.locator(f"#job-{jobs[1].pk}")
        other.evaluate("row => row.isSame = true")
        other.get_by_role("link").first.focus()
        ImportJob.objects.filter(pk=jobs[0].pk).update(status=ImportJob.Status.PAUSED)
        expect(page.locator(f"#job-{jobs[0].pk} .state")).to_contain_text("Paused", timeout=15_000)
        assert other.evaluate("row => row.isSame")
        expect(other.get_by_role("link").first).to_be_focused()

    def test_a_filter_is_saved_and_all_that_match_are_deleted(self, opened, jobs):
        page = opened(reverse("jobs"))
        page.get_by_label("File, table or number of an import").fill("nodes-")
        page.get_by_text("Save this filter").click()
        page.get_by_label("Name", exact=True).fill("mine")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("navigation", name="Saved filters").get_by_role("link", name="mine")).to_be_visible()
        page.get_by_text("Actions on all 3").click()
        page.get_by_role("link", name="Delete the records of all that match").click()
        page.get_by_role("button", name="Delete the records of 3 imports").click()
        expect(page.get_by_text("3 imports are deleted.")).to_be_visible()
        assert ImportJob.objects.count() == 1


class TestATargetsPage:
    def test_a_fix_is_copied_as_it_stands(self, opened, jobs):
        page = opened(reverse("target", args=[jobs[0].target_id]))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy the fix for local_infile").click()
        expect(page.get_by_text("Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == "SET GLOBAL local_infile = ON;"

    def test_checking_renews_only_the_findings(self, opened, jobs):
        page = opened(reverse("target", args=[jobs[0].target_id]))
        page.get_by_label("Database").fill("typed but not saved")
        page.get_by_role("button", name="Check now").click()
        expect(page.locator("#findings")).to_contain_text("No connection to 127.0.0.1:1")
        assert page.get_by_label("Database").input_value() == "typed but not saved"
        assert Target.objects.get().database == "osm"

    def test_deleting_asks_first(self, opened):
        target = Target.objects.create(name="spare", host="127.0.0.1", port=1, user="u", database="d")
        page = opened(reverse("target", args=[target.pk]))
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="Delete").click()
        assert Target.objects.exists()
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        expect(page.get_by_text("spare is deleted")).to_be_visible()
        assert not Target.objects.exists()


def test_the_list_of_labs_begins_to_update_and_the_focus_stays(opened, jobs):
    first, second = (reported(Target.objects.get(), eight=2000.0) for _ in range(2))
    page = opened(reverse("labs"))
    link = page.get_by_role("link", name=f"Lab {first.pk}")
    link.focus()
    Lab.objects.filter(pk=second.pk).update(status="running")
    page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
    expect(page.locator(f"#lab-{second.pk}")).to_contain_text("running", ignore_case=True)
    expect(link).to_be_focused()
    expect(page.locator("#labs")).to_have_attribute("data-refresh", "5")


def test_the_page_of_workers_updates_itself(opened, redis):
    page = opened(reverse("workers"))
    expect(page.get_by_text("No worker is running")).to_be_visible()
    presence.announce("load@eu-1", 4, ["load"])
    page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
    expect(page.get_by_role("rowheader", name="eu-1")).to_be_visible()
    expect(page.get_by_text("No worker is running")).to_have_count(0)
