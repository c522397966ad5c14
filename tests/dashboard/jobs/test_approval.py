"""The page of an import that waits for another person's approval, and the two buttons on it."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from importer.jobs.approval import digest_of
from importer.models import AuditEvent, ImportJob, Level, Target
from tests.importer.jobs import test_approval as of_import
from tests.importer.jobs.test_approval import created, now
from tests.importer.steps import run
from tests.people import admin, operator, viewer

pytestmark = pytest.mark.usefixtures("no_workers")
Status = ImportJob.Status
database, target, ann, bob, file = (
    getattr(of_import, fixture) for fixture in ("database", "target", "ann", "bob", "file")
)


@pytest.fixture
def waiting(target: Target, ann: User, file: Path) -> ImportJob:
    """An import of Ann's whose plan is complete."""
    return run(created(target, ann, file))


def page_of(job: ImportJob, user: User) -> str:
    browser = Client()
    browser.force_login(user)
    return browser.get(reverse("job", args=[job.pk])).content.decode()


def post(name: str, job: ImportJob, user: User, **values: str) -> int:
    browser = Client()
    browser.force_login(user)
    return browser.post(reverse(name, args=[job.pk]), values).status_code


def test_it_shows_what_is_approved_and_a_button_to_another_person(waiting, target, bob):
    html = page_of(waiting, bob)
    assert "Waits for approval" in html
    assert f"{of_import.ROWS:,} rows of words.csv are added to {target.database}.t on t." in html
    assert digest_of(waiting) in html
    assert 'id="approval-sql"' in html
    assert 'id="approve"' in html
    assert 'id="refuse"' in html


@pytest.mark.parametrize("role", [admin, operator])
def test_its_owner_has_no_button_and_reads_who_may(role, target, file):
    owner = role("owner")
    job = run(created(target, owner, file))
    assert "Nobody else may load into this table. An admin can grant it" in page_of(job, owner)
    operator("cleo", Level.LOAD)
    html = page_of(job, owner)
    assert 'id="approve"' not in html
    assert "another person has to approve it. Ask cleo." in html
    assert post("job_approve", job, owner, digest=digest_of(job)) == 403
    assert post("job_refuse", job, owner, reason="no") == 403
    assert now(job).status == Status.UNAPPROVED


def test_who_may_only_look_sees_the_plan_and_no_button(waiting):
    vic = viewer("vic")
    html = page_of(waiting, vic)
    assert digest_of(waiting) in html
    assert 'id="approve"' not in html
    assert post("job_approve", waiting, vic, digest=digest_of(waiting)) == 403


def test_the_approved_import_loads_and_its_page_and_the_audit_log_say_by_whom(waiting, bob):
    digest = digest_of(waiting)
    assert post("job_approve", waiting, bob, digest=digest) == 302
    job = run(waiting)
    assert (job.status, job.balanced) == (Status.SUCCEEDED, True)
    assert "Approved by bob" in page_of(job, bob)
    event = AuditEvent.objects.get(action="job_approve")
    assert (event.actor_name, event.outcome, event.details["approved"]) == ("bob", "done", digest)


def test_a_page_that_shows_an_older_plan_approves_nothing(waiting, bob):
    assert post("job_approve", waiting, bob, digest="0" * 64) == 302
    assert now(waiting).status == Status.UNAPPROVED
    event = AuditEvent.objects.get(action="job_approve")
    assert (event.outcome, "not what you have seen" in event.details["reason"]) == ("failed", True)


def test_a_refusal_tells_its_reason_to_the_owner_and_to_the_audit_log(waiting, ann, bob):
    assert post("job_refuse", waiting, bob, reason="wrong  month <b>") == 302
    job = run(waiting)
    html = page_of(job, ann)
    assert "bob refused this import: wrong month &lt;b&gt;" in html
    assert "Refused" in html
    assert AuditEvent.objects.get(action="job_refuse").details["why"] == "wrong month <b>"


def test_it_can_be_cancelled_by_its_owner(waiting, ann):
    assert 'id="job-cancel"' in page_of(waiting, ann)
    assert post("job_cancel", waiting, ann) == 302
    assert run(waiting).status == Status.CANCELLED


class TestTheMark:
    def form_of(self, target: Target) -> dict[str, str]:
        names = ("name", "host", "port", "user", "database", "tls", "ceiling")
        return {name: str(getattr(target, name)) for name in names}

    def test_who_administers_the_target_sets_and_removes_it(self, waiting, target, ann):
        browser = Client()
        browser.force_login(ann)
        address = reverse("target", args=[target.pk])
        assert 'name="needs_approval"' in browser.get(address).content.decode()
        assert browser.post(address, self.form_of(target)).status_code == 302
        assert run(waiting).status == Status.SUCCEEDED
        removed = AuditEvent.objects.get(action="target")
        assert removed.details["needs_approval"] == {"old": True, "new": False}
        assert AuditEvent.objects.filter(action="approval_released", object_id=str(waiting.pk)).exists()
        browser.post(address, self.form_of(target) | {"needs_approval": "on"})
        target.refresh_from_db()
        assert target.needs_approval

    def test_who_may_only_load_does_not(self, target, bob):
        browser = Client()
        browser.force_login(bob)
        assert browser.post(reverse("target", args=[target.pk]), self.form_of(target)).status_code == 403
        target.refresh_from_db()
        assert target.needs_approval
