"""An import that is started in the browser while its file is still being uploaded."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from importer.models import Examination, ImportJob, SourceFile, Target
from importer.preparation import examine
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.browser.test_reach import AXE, FIND, LOADED
from tests.engine.loads import rows_of
from tests.importer.steps import run
from tests.targets import target_with

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_workers")]

MIB = 2**20
ROWS = 60_000
TEXT = "n,word\n" + "".join(f"{n},{'a word ' * 9}{n}\n" for n in range(ROWS))


@pytest.fixture
def target(database, settings, tmp_path) -> Target:
    settings.UPLOAD_DIR, settings.UPLOAD_PART_BYTES = tmp_path / "uploads", MIB
    return target_with(database, "CREATE TABLE numbers (n INT PRIMARY KEY, word VARCHAR(90))")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.csv"
    path.write_text(TEXT)
    return path


@pytest.fixture
def page(opened, target) -> Page:
    return opened("/new/", viewport={"width": 1280, "height": 900})


def held_after_first_part(page: Page) -> Callable[[], None]:
    """Let the server have the first part; the returned function lets it have the others."""
    free: list[bool] = []
    parts: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PATCH":
            parts.append(route)
        if route.request.method != "PATCH" or len(parts) == 1 or free:
            route.continue_()

    def let_go() -> None:
        free.append(True)
        parts[-1].continue_()

    page.route("**/uploads/*/", hold)
    return let_go


def in_table(target: Target) -> int:
    return int(rows_of(target.address, "SELECT COUNT(*) FROM numbers")[0][0])


def accessible(page: Page) -> None:
    page.wait_for_function(LOADED)
    page.evaluate(AXE)
    assert page.evaluate(FIND, {}) == []


def test_rows_are_in_the_table_before_the_last_byte_has_come(page: Page, target: Target, file: Path):
    let_go = held_after_first_part(page)
    page.set_input_files("#file-choice", file)
    start = page.get_by_role("button", name=f"into {target.database}.numbers while it uploads")
    expect(start).to_be_enabled()
    expect(page.get_by_text("Keep this tab open until the upload ends.")).to_be_visible()
    findings = page.locator(".findings")
    expect(findings).to_contain_text("scanned so far")
    examine.examine(SourceFile.objects.get().pk, lambda _: None, lambda: False)
    scanned = Examination.objects.get().found_json["scanned"]
    expect(findings).to_contain_text(re.compile(rf"\b{scanned:,} rows? scanned so far"))
    accessible(page)
    start.click()
    following = page.locator("[data-follows]")
    expect(following).to_contain_text("Keep this tab open until the upload ends.")
    job = run(ImportJob.objects.get())
    assert 0 < in_table(target) == job.loaded_rows < ROWS
    expect(following).to_contain_text(f"{job.loaded_rows:,} rows loaded")
    accessible(page)
    page.set_viewport_size({"width": 390, "height": 800})
    expect_no_scrolling_sideways(page)
    let_go()
    page.wait_for_url(f"**/jobs/{job.pk}/")
    job = run(job)
    assert (job.status, job.balanced, in_table(target)) == (ImportJob.Status.SUCCEEDED, True, ROWS)


def test_its_page_opens_though_the_answer_to_the_last_part_is_late(page: Page, target: Target, file: Path):
    """The page may have asked in between, and know that the file is complete."""
    late: list[tuple[Route, APIResponse]] = []

    def keep_last_answer(route: Route) -> None:
        answer = route.fetch()
        if int(route.request.headers.get("upload-offset", 0)) + MIB < len(TEXT):
            route.fulfill(response=answer)
        else:
            late.append((route, answer))

    let_go = held_after_first_part(page)
    page.set_input_files("#file-choice", file)
    page.get_by_role("button", name="while it uploads").click()
    expect(page.locator("[data-follows]")).to_be_visible()
    job = run(ImportJob.objects.get())
    page.route("**/uploads/*/", keep_last_answer)
    let_go()
    expect(page.get_by_text(f"goes into {target.database}.numbers")).to_be_visible()
    [(route, answer)] = late
    route.fulfill(response=answer)
    page.wait_for_url(f"**/jobs/{job.pk}/")


def test_what_was_chosen_during_the_upload_is_chosen_after_it(page: Page, target: Target, file: Path):
    let_go = held_after_first_part(page)
    page.set_input_files("#file-choice", file)
    name = f"into {target.database}.numbers"
    expect(page.get_by_role("button", name=name)).to_be_enabled()
    page.locator("[id^=mode-] > summary").click()
    page.get_by_role("radio", name="Replace").check()
    page.wait_for_function(LOADED)
    let_go()
    expect(page.locator("[data-upload]")).to_have_count(0)
    expect(page.get_by_role("button", name=name)).not_to_contain_text("while it uploads")
    expect(page.get_by_role("radio", name="Replace")).to_be_checked()


def test_removed_the_upload_ends_its_import(page: Page, target: Target, file: Path):
    held_after_first_part(page)
    page.set_input_files("#file-choice", file)
    page.get_by_role("button", name="while it uploads").click()
    expect(page.locator("[data-follows]")).to_be_visible()
    job = run(ImportJob.objects.get())
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove the upload of numbers.csv").click()
    expect(page.locator("[data-upload]")).to_have_count(0)
    job = run(job)
    assert job.status == ImportJob.Status.FAILED
    assert job.problem["what"].startswith("The upload ended before the file was complete")
    assert in_table(target) == job.loaded_rows
    assert SourceFile.objects.get().status == SourceFile.Status.REMOVED
