"""An admin looks at Storage on a phone, changes a policy, and deletes a file and an import after the page that asks."""

import pytest
from playwright.sync_api import expect

from importer.models import ImportJob, SourceFile
from importer.retention import policies
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.dashboard.job_data import Status, make_job

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "a-file-name-that-never-ends-" * 6 + ".csv"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_policy_is_changed_and_a_file_and_its_import_are_deleted(opened, width):
    job = make_job(Status.FAILED, chunks=2, file_name=LONG, table="t" * 64)
    page = opened("/", viewport={"width": width, "height": 844})
    page.get_by_text("Manage", exact=True).click()
    page.get_by_role("navigation").get_by_role("link", name="Storage").click()
    expect_no_scrolling_sideways(page)
    save = page.get_by_role("button", name="Save")
    expect(save).to_have_count(0)
    days = page.get_by_label("Chunks", exact=True)
    days.fill("12")
    # The button comes with a change, and stays until it is saved.
    expect(save).to_have_count(1)
    page.get_by_role("heading", name="Retention").click()
    expect(save).to_have_count(1)
    days.focus()
    days.press("Enter")
    expect(page.get_by_text("changed by ann on")).to_be_visible()
    assert policies.in_force("chunks").days == 12

    page.get_by_role("link", name=f"Delete file {LONG}").click()
    expect(page.get_by_text("can then no longer be retried")).to_be_visible()
    expect_no_scrolling_sideways(page)
    page.get_by_role("button", name="Delete the file").click()
    expect(page.get_by_text("No file is kept here.")).to_be_visible()
    assert SourceFile.objects.get().status == SourceFile.Status.REMOVED

    page.goto(page.url.replace("/storage/", f"/jobs/{job.pk}/"))
    expect(page.get_by_text("It can no longer be retried")).to_be_visible()
    expect_no_scrolling_sideways(page)
    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Delete", exact=True).click()
    expect_no_scrolling_sideways(page)
    page.get_by_role("button", name="Delete the import").click()
    expect(page.get_by_text(f"Import {job.pk} of {LONG} is deleted.")).to_be_visible()
    assert not ImportJob.objects.exists()
