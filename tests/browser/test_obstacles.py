"""An import whose keys cannot be built, in a real browser at a phone's width: why, and the way out."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.engine.errors import TargetProblem
from importer.engine.schema.indexes import KeyDefinition
from importer.engine.stored import to_json
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.models import ImportJob
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.dashboard.job_data import Status, make_job

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_workers")]

FULL = TargetProblem(
    "The server's disk is full. (error 1021)", advice="Make room on the server, then retry the import."
)
CHANGES = TemporaryChanges("osm", "nodes", (KeyDefinition("by_place", "KEY `by_place` (`lat`,`lon`)"),))


def test_the_obstacle_is_said_and_the_import_ended_without_the_key(opened):
    job = make_job(
        Status.INDEXING, chunks=4, changes="made", arrangement_json=to_json(CHANGES),
        obstacle=FULL.as_json(),
    )  # fmt: skip
    page = opened(reverse("job", args=[job.pk]), viewport={"width": 390, "height": 844})
    obstacle = page.get_by_role("alert").filter(has_text="The server's disk is full")
    expect(obstacle).to_contain_text("Retry as soon as that is fixed.")
    expect(obstacle.get_by_role("button", name="Retry now")).to_be_visible()
    expect_no_scrolling_sideways(page)
    page.on("dialog", lambda dialog: dialog.accept())
    obstacle.get_by_role("button", name="End without these keys").click()
    expect(page.locator("#job-restore-sql")).to_contain_text("ADD KEY `by_place` (`lat`,`lon`)")
    expect(page.get_by_role("button", name="Retry the missing chunks")).to_be_visible()
    expect_no_scrolling_sideways(page)
    ended = ImportJob.objects.get(pk=job.pk)
    assert (ended.status, ended.left_changed) == (Status.FAILED, True)
