"""A browser puts files straight into a real store of another origin, and through the site where it cannot."""

from pathlib import Path

import pytest
from csp.constants import SELF
from playwright.sync_api import Page, Request, Route, expect

from importer.models import SourceFile
from importer.sources.store import multipart
from tests.file_servers.s3 import S3Files
from tests.people import operator
from tests.stack import wait_until
from tests.targets import target_with

pytestmark = pytest.mark.django_db(transaction=True)

PART = 5 * 2**20  # the least that the parts but the last may have (S3 API)
LINE = "{},a word of row {} in the file of many\n"
CSV = "n,word\n" + "".join(LINE.format(n, n) for n in range(1, 290_001))
PARTS = -(-len(CSV) // PART)


@pytest.fixture
def s3(s3_server: S3Files, store) -> S3Files:
    """The store of the installation."""
    return s3_server


@pytest.fixture
def sent() -> list[str]:
    """The method and the origin of each request with a part."""
    return []


@pytest.fixture
def page(new_tab, live_server, client, settings, s3, tmp_path, monkeypatch, database, sent) -> Page:
    monkeypatch.setattr(multipart, "PART_BYTES", PART)
    settings.UPLOAD_DIR, settings.VAR_DIR = tmp_path / "uploads", tmp_path / "var"
    settings.FILE_STORE_BROWSER_URL = s3.url
    directives = {**settings.CONTENT_SECURITY_POLICY["DIRECTIVES"], "connect-src": [SELF, s3.url]}
    settings.CONTENT_SECURITY_POLICY = {"DIRECTIVES": directives}
    target_with(database, "CREATE TABLE numbers (n INT PRIMARY KEY, word VARCHAR(90))")
    client.force_login(operator("ann"))
    page = new_tab(live_server.url, client)

    def note(request: Request) -> None:
        if request.method in ("PUT", "PATCH"):
            sent.append(f"{request.method} {'store' if request.url.startswith(s3.url) else 'site'}")

    page.on("request", note)
    page.goto("/new/")
    return page


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.csv"
    path.write_text(CSV)
    return path


def allow(s3: S3Files, *origins: str) -> None:
    """Let pages of these origins put objects into the bucket, as docs/hosts.md says."""
    rule = {"AllowedOrigins": list(origins), "AllowedMethods": ["PUT"], "AllowedHeaders": ["x-amz-checksum-sha256"]}
    s3.client.put_bucket_cors(Bucket="files", CORSConfiguration={"CORSRules": [{**rule, "MaxAgeSeconds": 3000}]})


def expect_preview(page: Page) -> None:
    expect(page.get_by_role("region", name="The first rows of numbers.csv")).to_be_visible()


def content(s3: S3Files, source: SourceFile) -> str:
    key = source.path.removeprefix("s3://files/")
    return str(s3.client.get_object(Bucket="files", Key=key)["Body"].read().decode())


def uploads_under_way(s3: S3Files, settings) -> list[object]:
    prefix = settings.FILE_STORE.removeprefix("s3://files/")
    return s3.client.list_multipart_uploads(Bucket="files", Prefix=prefix).get("Uploads", [])


def test_parts_go_into_the_store_and_on_after_a_reload(page: Page, live_server, s3, sent, numbers, settings):
    allow(s3, live_server.url)

    def hold_all_but_the_first(route: Route) -> None:
        if "partNumber=1&" in route.request.url:
            route.continue_()

    page.route(f"{s3.url}/**", hold_all_but_the_first)
    page.locator("#file-choice").set_input_files(numbers)
    expect(page.locator("progress.upload-progress")).to_have_js_property("value", PART)
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.unroute_all(behavior="ignoreErrors")
    sent.clear()
    page.locator("#file-choice").set_input_files(numbers)
    expect_preview(page)
    assert sent == ["PUT store"] * (PARTS - 1)
    source = SourceFile.objects.get()
    assert (source.status, source.received) == ("ready", len(CSV))
    assert content(s3, source) == CSV
    assert uploads_under_way(s3, settings) == []
    assert not list(settings.UPLOAD_DIR.glob("*"))


def test_what_fails_for_a_moment_is_tried_again(page: Page, live_server, s3, sent, numbers):
    """A part that arrives changed is refused by the store; the site does not answer when it is first to join them."""
    allow(s3, live_server.url)
    changed: list[str] = []
    unanswered: list[str] = []

    def change_one(route: Route) -> None:
        if "partNumber=2&" in route.request.url and not changed:
            changed.append(route.request.url)
            body = bytearray(route.request.post_data_buffer or b"")
            route.continue_(post_data=bytes(body[:-1]) + b"?")
        else:
            route.continue_()

    def answer_later(route: Route) -> None:
        if route.request.method == "POST" and "/parts/" not in route.request.url and not unanswered:
            unanswered.append(route.request.url)
            route.fulfill(status=503, body="The store for files does not answer.")
        else:
            route.continue_()

    page.route(f"{s3.url}/**", change_one)
    page.route("**/uploads/direct/*/", answer_later)
    page.locator("#file-choice").set_input_files(numbers)
    expect_preview(page)
    assert changed
    assert unanswered
    assert content(s3, SourceFile.objects.get()) == CSV
    assert "PATCH site" not in sent


def test_where_the_store_does_not_let_the_page_in_the_file_goes_through_the_site(
    page: Page, s3, sent, numbers, settings
):
    allow(s3, "https://another.example.org")
    page.locator("#file-choice").set_input_files(numbers)
    wait_until(lambda: SourceFile.objects.filter(status="ready").exists(), what="the upload's end")
    expect_preview(page)
    assert "PATCH site" in sent
    source = SourceFile.objects.get()
    assert source.store_upload == ""
    assert content(s3, source) == CSV
    assert uploads_under_way(s3, settings) == []
