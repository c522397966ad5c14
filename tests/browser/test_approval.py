"""Two people and real workers: one imports, the other approves in a browser, and the rows are in."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.jobs.actions import commands
from importer.jobs.approval import is_asked_for
from importer.models import ImportJob, Target
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.engine.loads import rows_of, run_sql
from tests.importer.jobs.test_approval import created, now
from tests.people import operator
from tests.stack import Stack, wait_until
from tests.targets import saved_target

Status = ImportJob.Status


@pytest.fixture
def waiting(mariadb, stack: Stack, transactional_db, tmp_path: Path) -> ImportJob:
    """An import of Ann's that the workers have scanned."""
    run_sql(mariadb, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20))")
    target = saved_target(mariadb, "t")
    Target.objects.filter(pk=target.pk).update(needs_approval=True)
    path = tmp_path / "words.csv"
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(2000)))
    job = created(Target.objects.get(pk=target.pk), operator("ann"), path)
    commands.start(job.pk)
    wait_until(lambda: is_asked_for(now(job)), what="the wait for approval")
    return job


def test_the_workers_load_it_once_another_person_has_clicked(page, waiting):
    page.goto(reverse("job", args=[waiting.pk]))
    expect(page.locator("#job-approval")).to_contain_text("2,000 rows of words.csv are added to")
    expect_no_scrolling_sideways(page)
    page.get_by_role("button", name="Approve").click()
    wait_until(lambda: now(waiting).ended, what="the end of the import")
    job = now(waiting)
    assert (job.status, job.balanced, job.approved_by.username) == (Status.SUCCEEDED, True, "admin")
    assert rows_of(job.target.address, "SELECT COUNT(*) FROM t") == [(2000,)]


def test_a_refusal_ends_it_and_its_owner_reads_why(page, waiting):
    page.goto(reverse("job", args=[waiting.pk]))
    page.get_by_label("Reason to refuse").fill("wrong month")
    page.get_by_role("button", name="Refuse").click()
    wait_until(lambda: now(waiting).ended, what="the end of the import")
    expect(page.locator("#job-problem")).to_contain_text("admin refused this import: wrong month")
    assert rows_of(now(waiting).target.address, "SELECT COUNT(*) FROM t") == [(0,)]
