"""An upload whose requests fail: it continues where it was, or says in words what has happened and what to do."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, Route, expect

from importer.models import SourceFile
from tests.browser.test_upload_page import CITIES, cities, drop, page, target, upload_dir
from tests.stack import wait_until

__all__ = ["cities", "page", "target", "upload_dir"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("upload_dir")]


def is_part(request: Request) -> bool:
    return request.method == "PATCH"


def expect_whole(page: Page, target) -> None:
    """The file has arrived, by one upload."""
    expect(page.get_by_role("button", name=f"into {target.database}.cities")).to_be_enabled()
    assert SourceFile.objects.get().file.read_text() == CITIES


@pytest.mark.parametrize("failing", [("PATCH", "PATCH"), ("PATCH", "HEAD")], ids=lambda methods: methods[-1])
def test_a_server_that_fails_for_a_moment_is_asked_again(page: Page, target, cities: Path, failing):
    to_fail = list(failing)

    def fail(route: Route) -> None:
        if to_fail and route.request.method == to_fail[0]:
            to_fail.pop(0)
            return route.fulfill(status=503)
        return route.continue_()

    page.route("**/uploads/*/", fail)
    drop(page, cities)
    expect_whole(page, target)
    assert not to_fail


@pytest.mark.parametrize("away", ["no connection", "502"])
def test_while_nobody_answers_for_minutes_an_upload_waits_and_continues_by_itself(page: Page, target, cities, away):
    page.clock.install()
    page.reload()
    is_away = [True]

    def answer(route: Route) -> None:
        if not is_away or not is_part(route.request):
            return route.continue_()
        return route.fulfill(status=502) if away == "502" else route.abort("internetdisconnected")

    page.route("**/uploads/*/", answer)
    drop(page, cities)
    said = page.get_by_role("alert").filter(has_text="The upload continues by itself when it")

    def is_said() -> bool:
        page.clock.fast_forward(30_000)
        return said.is_visible()

    wait_until(is_said, what="the end of the first tries")
    expect(page.get_by_role("button", name="Pause the upload of cities.csv")).to_be_visible()
    is_away.clear()
    if away == "502":
        page.clock.fast_forward(30_000)
    else:
        page.evaluate("dispatchEvent(new Event('online'))")
    expect_whole(page, target)


def test_without_a_network_no_rate_is_shown_and_the_upload_goes_on_by_itself(page: Page, target, tmp_path: Path):
    large = tmp_path / "cities.csv"
    large.write_text("id,name,pop\n" + "".join(f"{n},{'n' * 100},{n}\n" for n in range(20_000)))
    parts: list[Route] = []

    def hold(route: Route) -> None:
        if not is_part(route.request):
            return route.continue_()
        parts.append(route)
        # The first part arrives, so that there is a rate; the next one is on its way when the network goes.
        return route.continue_() if len(parts) != 2 else None

    page.route("**/uploads/*/", hold)
    drop(page, large)
    status = page.locator("[data-upload-part=status]")
    wait_until(lambda: page.evaluate("true") and len(parts) == 2, what="the second part")
    page.context.set_offline(True)
    expect(page.get_by_role("alert").filter(has_text="The upload continues by itself when it is back")).to_be_visible()
    expect(status).not_to_have_text(re.compile("/s|left|reload"))
    page.context.set_offline(False)
    wait_until(lambda: page.evaluate("true") and SourceFile.objects.get().status == "ready", 60, "the whole file")
    assert SourceFile.objects.get().file.read_bytes() == large.read_bytes()


@pytest.mark.parametrize(
    ("status", "said"),
    [(404, "perhaps it was removed in another tab"), (413, "A proxy in front of Millrace"), (418, "(status 418)")],
)
def test_a_page_of_html_is_no_message(page: Page, cities: Path, status, said):
    page.route(
        "**/uploads/*/", lambda route: route.fulfill(status=status, content_type="text/html", body="<h1>No</h1>")
    )
    drop(page, cities)
    row = page.get_by_role("alert").filter(has_text="cities.csv")
    expect(row).to_contain_text(said)
    expect(row).not_to_contain_text("<h1>")


def test_without_a_session_an_upload_says_what_to_do(page: Page, cities: Path):
    page.context.clear_cookies(name="sessionid")
    drop(page, cities)
    expect(page.get_by_role("alert").filter(has_text="Sign in again in another tab")).to_be_visible()


def test_it_continues_when_somebody_has_signed_in_again(page: Page, target, cities: Path):
    parts: list[Route] = []

    def hold_two_parts(route: Route) -> None:
        if is_part(route.request) and len(parts) < 2:
            parts.append(route)
        else:
            route.continue_()

    page.route("**/uploads/*/", hold_two_parts)
    with page.expect_request(is_part):
        drop(page, cities)
    page.get_by_role("button", name="Pause the upload of cities.csv").click()
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    resume = page.get_by_role("button", name="Resume the upload of cities.csv")
    resume.click()
    expect(page.get_by_role("alert").filter(has_text="Sign in again in another tab")).to_be_visible()
    page.context.add_cookies(cookies)
    with page.expect_request(is_part):
        resume.click()
    # Nothing of the progress is read out as a problem.
    expect(page.locator("[data-upload]")).not_to_have_attribute("role", "alert")
    parts[1].continue_()
    expect_whole(page, target)
