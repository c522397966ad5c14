"""Schedules into a target that needs approvals: each run's import waits, no matter who made the schedule."""

import pytest
from django.contrib.auth.models import User

from importer import schedules
from importer.access import approval
from importer.access.acting import acting_as
from importer.jobs.actions import commands
from importer.jobs.approval import digest_of, is_asked_for
from importer.models import ImportJob, Schedule, ScheduleRun, Target
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import job_of, now, request_of, run_now, take, to_end, to_import
from tests.importer.steps import run as run_job
from tests.people import operator

pytestmark = pytest.mark.usefixtures("no_workers")


@pytest.fixture
def ann(transactional_db) -> User:
    return operator("ann")


@pytest.fixture
def bob(transactional_db) -> User:
    return operator("bob")


@pytest.fixture
def schedule(make, ann) -> Schedule:
    made = make(user=ann)
    Target.objects.update(needs_approval=True)
    return Schedule.objects.get(pk=made.pk)


def waiting(schedule: Schedule, user: User | None = None) -> tuple[ScheduleRun, ImportJob]:
    """A run of the schedule whose import waits for approval."""
    run = schedules.run_now(schedule, user=user)
    job = run_job(to_import(run))
    assert is_asked_for(job)
    return run, job


def approve(job: ImportJob, user: User) -> None:
    with acting_as(user):
        commands.approve(job.pk, digest_of(job))


def test_a_run_waits_for_its_import_until_another_person_approves_it(schedule, folder, bob):
    drop(folder, "monday.csv")
    run, job = waiting(schedule)
    for _ in range(3):
        take(run)
    assert (now(run).status, job_of(run)) == ("loading", job)
    approve(job, bob)
    assert to_end(run).status == "succeeded"
    drop(folder, "tuesday.csv", rows="2,two\n")
    _, job = waiting(schedule)
    assert job.approved_digest == ""


def test_neither_the_owner_nor_who_changed_the_schedule_or_asked_for_the_run_approves(schedule, folder, bob):
    drop(folder, "monday.csv")
    with acting_as(bob):
        schedules.update(schedule, request_of(schedule))
    cleo = operator("cleo")
    _, job = waiting(schedule, cleo)
    assert not list(approval.approvers(job))
    dave = operator("dave")
    assert list(approval.approvers(job)) == [dave]


def test_a_refused_file_fails_its_run_and_the_other_files_go_on(schedule, folder, bob):
    drop(folder, "a.csv")
    drop(folder, "b.csv", rows="2,two\n")
    run, job = waiting(schedule)
    with acting_as(bob):
        commands.refuse(job.pk, "not this one")
    run_job(job)
    take(run)
    other = run_job(to_import(run))
    approve(other, bob)
    ended = to_end(run)
    assert ended.status == "failed"
    assert ended.problem["what"] == "bob refused this import: not this one"
    assert dict(run.files.values_list("name", "outcome")) == {"a.csv": "failed", "b.csv": "loaded"}


def test_a_cancelled_run_cancels_the_import_that_waits(schedule, folder):
    drop(folder, "monday.csv")
    run, job = waiting(schedule)
    schedules.cancel(run)
    assert run_job(job).status == ImportJob.Status.CANCELLED


def test_no_column_is_added_without_an_approval(make, folder, ann):
    schedule = make(drift="add", user=ann)
    Target.objects.update(needs_approval=True)
    drop(folder, "monday.csv", header="n,word,more\n", rows="1,one,1\n")
    run = run_now(Schedule.objects.get(pk=schedule.pk))
    assert run.status == "failed"
    assert "no column is added without another person's approval" in run.problem["what"]
    assert not ImportJob.objects.exists()
