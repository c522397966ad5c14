"""The new import page in a real browser: files go up in parts, and the preview appears where the upload was."""

import base64
import io
import re
from hashlib import sha256
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Request, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from importer.models import ImportJob, SourceFile
from importer.sources import parts, uploads
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.browser.held import HeldRequest
from tests.people import operator
from tests.stack import announce_workers
from tests.targets import target_with

CITIES = "id,name,population\n" + "".join(f"{number},City {number},{number * 1000}\n" for number in range(1, 3001))

# An answer that asks to wait; in plain text, as the site gives it.
TOO_MANY = {"headers": {"Retry-After": "1"}, "content_type": "text/plain", "body": "4 parts are arriving already."}

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("upload_dir")]


@pytest.fixture
def upload_dir(settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    settings.UPLOAD_PART_BYTES = 20_000  # Several parts even for a small file.
    return settings.UPLOAD_DIR


@pytest.fixture
def target(database):
    return target_with(
        database,
        "CREATE TABLE cities (id INT PRIMARY KEY, name VARCHAR(60), population INT) ENGINE=InnoDB",
        "CREATE TABLE towns LIKE cities",
    )


@pytest.fixture
def page(new_tab, live_server, client):
    """The page, signed in; at the end nothing may have been said in its console."""
    client.force_login(operator("ann"))
    page = new_tab(live_server.url, client)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto("/new/")
    yield page
    # Browser and htmx report every answer that is not a success, and htmx every request that a newer one replaced.
    expected = ("Failed to load resource", "Response Status Error Code", "htmx:")
    assert [text for text in complaints if not text.startswith(expected)] == []


@pytest.fixture
def cities(tmp_path) -> Path:
    path = tmp_path / "cities.csv"
    path.write_text(CITIES)
    return path


def drop(page: Page, *paths: Path, on: str = "#drop") -> None:
    """Files dropped onto the page, as a file manager does it."""
    given = [(path.name, base64.b64encode(path.read_bytes()).decode()) for path in paths]
    transfer = page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, content] of files) {
                transfer.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name));
            }
            return transfer;
        }""",
        given,
    )
    page.dispatch_event(on, "drop", {"dataTransfer": transfer})


class TestDroppedFile:
    def test_it_arrives_in_parts_and_its_rows_appear_without_a_reload(self, page, target, cities):
        page.evaluate("window.notReloaded = true")
        drop(page, cities)
        rows = page.get_by_role("region", name="The first rows of cities.csv")
        expect(rows.get_by_role("cell", name="City 6", exact=True)).to_be_visible()
        expect(rows.locator("tbody tr")).to_have_count(6)
        expect(rows.locator("tbody tr").first.get_by_role("rowheader")).to_have_text("2")
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        expect(page.get_by_role("status").filter(has_text="cities.csv has arrived.")).to_have_count(1)
        assert page.evaluate("window.notReloaded")
        source = SourceFile.objects.get()
        assert source.file.read_text() == CITIES
        assert source.size > 3 * 20_000

    def test_an_emoji_in_its_name_is_no_part_of_the_table(self, page, target, cities):
        drop(page, cities.rename(cities.with_name("cities \N{GRINNING FACE}.csv")))
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()

    def test_start_goes_to_the_page_of_the_job(self, page, target, cities):
        drop(page, cities)
        page.get_by_role("button", name=f"into {target.database}.cities").click()
        page.wait_for_url(re.compile(r"/jobs/\d+/"))
        assert ImportJob.objects.get().table == f"{target.database}.cities"

    def test_another_table_is_planned_and_the_button_says_so(self, page, target, cities):
        drop(page, cities)
        table = page.get_by_label("Table", exact=True)
        expect(table).to_have_value("cities")
        table.fill("towns")
        table.press("Tab")
        expect(page.get_by_role("button", name=f"into {target.database}.towns")).to_be_enabled()
        expect(page.get_by_label("id goes into")).to_be_focused()
        table.fill("nowhere")
        table.press("Tab")
        box = page.get_by_role("alert").filter(has_text="There is no table “nowhere”")
        expect(box.get_by_role("button", name="Create table nowhere")).to_be_visible()
        expect(table).to_be_focused()  # What had the focus is gone, and this is before it.

    def test_the_name_of_a_table_keeps_what_is_typed_while_tables_are_looked_up(self, page, target, cities):
        drop(page, cities)
        table = page.get_by_label("Table", exact=True)
        expect(table).to_have_value("cities")
        looking = HeldRequest(page, re.compile("/new/tables/"))
        table.fill("")
        table.press_sequentially("to")
        looking.sent()
        table.press_sequentially("wns")
        looking.release()
        expect(table).to_have_value("towns")
        expect(table).to_be_focused()

    def test_enter_in_a_field_starts_nothing(self, page, target, cities):
        drop(page, cities)
        page.locator(".speed > summary").click()
        chunks = page.get_by_label("Parallel chunks")
        chunks.fill("3")
        chunks.press("Enter")
        expect(page.locator(".plan-sentence")).to_contain_text("3 in parallel")
        assert not ImportJob.objects.exists()

    def test_a_problem_is_shown_in_place_and_can_be_mended(self, page, target, cities):
        drop(page, cities)
        column = page.get_by_label("name goes into")
        column.select_option("population")
        expect(page.get_by_role("alert").filter(has_text="The column population is given twice")).to_be_visible()
        expect(page.get_by_role("button", name="Import", exact=False).last).to_be_disabled()
        column.select_option("name")
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()

    def test_the_same_file_twice_says_so(self, page, target, cities):
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        drop(page, cities)
        expect(page.get_by_text("The same file has been uploaded before.")).to_be_visible()

    def test_a_long_name_of_the_same_file_fits_a_phone(self, page, target, cities):
        earlier = uploads.begin_upload(f"{'x' * 200}.csv", len(CITIES), User.objects.get())
        parts.append(earlier, 0, io.BytesIO(CITIES.encode()), len(CITIES))
        uploads.finish(earlier)
        page.set_viewport_size({"width": 390, "height": 844})
        drop(page, cities)
        page.get_by_text("The same file has been uploaded before.").click()
        box = page.get_by_role("link", name="xxx").bounding_box()
        assert box["x"] + box["width"] < 390

    def test_it_fits_one_screen(self, target, redis, page, cities):
        announce_workers()
        page.reload()  # without what it says while none is there
        page.set_viewport_size({"width": 1280, "height": 1000})
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollHeight") == 1000

    def test_it_fits_a_phone(self, page, target, cities):
        page.set_viewport_size({"width": 390, "height": 844})
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_visible()
        expect_no_scrolling_sideways(page)


class TestOtherWays:
    def test_cells_of_a_spreadsheet_are_pasted(self, page, target):
        cells = "id\tname\tpopulation\n1\tA\t2\n"
        page.evaluate(
            """cells => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", cells);
                document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
            }""",
            cells,
        )
        expect(page.get_by_text("tab, UTF-8, header row")).to_be_visible()
        page.get_by_text("Paste text").click()
        page.get_by_label("Cells of a spreadsheet").fill("id,name\n7,B\n")
        page.get_by_role("button", name="Use this text").press("Enter")
        expect(page.locator("#paste > summary")).to_be_focused()
        expect(page.get_by_text("other columns: no part of this import")).to_be_visible()
        assert [each.file.read_text() for each in SourceFile.objects.order_by("pk")] == [cells, "id,name\n7,B\n"]


class TestPause:
    def test_paused_and_resumed_it_is_whole(self, page, target, cities):
        held = HeldRequest(page, "**/uploads/*/")
        drop(page, cities)
        # Not before the part that is held is on its way: a pause before it would leave the next one held for ever.
        held.sent()
        page.get_by_role("button", name="Pause the upload of cities.csv").click()
        expect(page.get_by_text("Paused at")).to_be_visible()
        page.get_by_role("button", name="Resume the upload of cities.csv").click()
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        assert SourceFile.objects.get().file.read_text() == CITIES

    def test_removed_it_leaves_nothing(self, page, target, cities, upload_dir):
        page.route("**/uploads/*/", lambda route: route.continue_() if route.request.method == "DELETE" else None)
        # Not before there is something on the server, which is then waited for from before the click on.
        with page.expect_request(lambda request: request.method == "PATCH"):
            drop(page, cities)
        with page.expect_response(lambda response: response.request.method == "DELETE"):
            page.get_by_role("button", name="Remove the upload of cities.csv").click()
        expect(page.locator("[data-upload]")).to_have_count(0)
        assert list(upload_dir.iterdir()) == []


class TestParts:
    """What the server answers to a part, and what the browser makes of it."""

    @pytest.fixture
    def sent(self, page) -> list[Request]:
        """The parts that were sent."""
        requests: list[Request] = []
        page.on("request", lambda request: requests.append(request) if request.method == "PATCH" else None)
        return requests

    def test_each_has_its_checksum(self, page, target, cities, sent):
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        content = CITIES.encode()
        expected = [sha256(content[at : at + 20_000]).digest() for at in range(0, len(content), 20_000)]
        found = [base64.b64decode(each.headers["upload-checksum"].removeprefix("sha256 ")) for each in sent]
        assert found == expected

    def test_a_corrupted_one_is_sent_again(self, page, target, cities, sent):
        def corrupt(route):
            if route.request.method == "PATCH" and len(sent) == 1:
                return route.continue_(post_data=b"?" + CITIES.encode()[1:20_000])
            return route.continue_()

        page.route("**/uploads/*/", corrupt)
        with page.expect_response(lambda response: response.status == 460):
            drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        assert SourceFile.objects.get().file.read_text() == CITIES

    def test_without_a_free_place_it_waits_and_goes_on(self, page, target, cities, sent):
        def refuse(route):
            if route.request.method == "PATCH" and len(sent) == 1:
                return route.fulfill(status=429, **TOO_MANY)
            return route.continue_()

        page.route("**/uploads/*/", refuse)
        drop(page, cities)
        expect(page.get_by_text("4 parts are arriving already.")).to_be_visible()
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        assert SourceFile.objects.get().file.read_text() == CITIES

    def test_paused_while_it_waits_it_stays_paused(self, page, cities, sent):
        page.route("**/uploads/*/", lambda route: route.fulfill(status=429, **TOO_MANY))
        drop(page, cities)
        expect(page.get_by_text("4 parts are arriving already.")).to_be_visible()
        with pytest.raises(PlaywrightTimeout), page.expect_request("**/uploads/*/", timeout=2000):
            page.get_by_role("button", name="Pause the upload of cities.csv").click()
        expect(page.get_by_text("Paused at")).to_be_visible()

    def test_after_one_that_was_too_slow_they_are_smaller(self, page, settings, tmp_path, sent):
        settings.UPLOAD_PART_BYTES = 2**24
        page.reload()
        path = tmp_path / "long.csv"
        path.write_text("a\n" * 150_000)

        def too_slow_twice(route):
            if route.request.method == "PATCH" and len(sent) <= 2:
                return route.fulfill(status=408, body="Resume the upload.")
            return route.continue_()

        page.route("**/uploads/*/", too_slow_twice)
        drop(page, path)
        expect(page.get_by_role("region", name="The first rows of long.csv")).to_be_visible()
        assert [int(each.headers["upload-offset"]) for each in sent][:4] == [0, 0, 0, 2**16]
        assert SourceFile.objects.get().file.read_bytes() == path.read_bytes()


class TestReload:
    def test_the_file_and_its_choices_are_still_there(self, page, target, cities):
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        page.get_by_label("Table", exact=True).fill("towns")
        page.get_by_label("Table", exact=True).press("Tab")
        start = page.get_by_role("button", name=f"into {target.database}.towns")
        expect(start).to_be_enabled()
        page.reload()
        expect(start).to_be_enabled()

    def test_a_removed_file_is_not_looked_for(self, page, target, cities):
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Remove cities.csv").click()
        page.wait_for_url("**/new/")

    def test_the_way_back_from_a_started_import_leads_to_the_empty_page(self, page, target, cities):
        drop(page, cities)
        page.get_by_role("button", name=f"into {target.database}.cities").click()
        page.wait_for_url(re.compile(r"/jobs/\d+/"))
        page.go_back()
        page.wait_for_url("**/new/")


class TestTwoTabs:
    def test_what_was_removed_in_one_is_said_to_be_gone_in_the_other(self, page, target, cities):
        drop(page, cities)
        start = page.get_by_role("button", name=f"into {target.database}.cities")
        expect(start).to_be_enabled()
        uploads.remove(SourceFile.objects.get())  # as the other tab does
        start.click()
        expect(page.get_by_role("alert").filter(has_text="perhaps it was removed in another tab")).to_be_visible()
        assert not ImportJob.objects.exists()


class TestSession:
    def test_when_it_has_ended_the_sign_in_page_comes_instead_of_a_piece_of_it(self, page, target, cities):
        drop(page, cities)
        expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
        page.context.clear_cookies(name="sessionid")
        page.locator(".file-format > summary").click()
        delimiter = page.get_by_label("Delimiter", exact=True)
        delimiter.fill(";")
        delimiter.press("Tab")
        page.wait_for_url(re.compile(rf"/login/\?next=/new/{SourceFile.objects.get().key}/$"))
        expect(page.get_by_role("status")).to_contain_text("what you sent last was not done")
