"""A schedule runs on behalf of its owner: without the owner's grants its runs fail, and the files stay."""

import pytest

from importer import schedules
from importer.access import people
from importer.access.acting import acting_as
from importer.jobs.actions import commands
from importer.models import Grant, ImportJob, Level, Schedule
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import outcomes, run_now, to_end, to_import
from tests.importer.steps import run as run_job
from tests.people import admin, grant_all, operator

pytestmark = pytest.mark.usefixtures("no_workers")


@pytest.fixture
def owner(transactional_db):
    admin("root")
    return operator("ann")


@pytest.fixture
def schedule(make, owner) -> Schedule:
    made = make(afterwards="delete")
    Schedule.objects.filter(pk=made.pk).update(created_by=owner)
    return Schedule.objects.get(pk=made.pk)


def failure(schedule: Schedule) -> str:
    """What stopped a run of the schedule, which must not have imported anything."""
    before = ImportJob.objects.count()
    run = run_now(schedule)
    assert run.status == "failed"
    assert ImportJob.objects.count() == before
    return str(run.problem) + str(list(run.files.values_list("problem", flat=True)))


def test_the_owner_s_run_loads_the_file_in_the_owner_s_name(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    assert run_now(schedule).status == "succeeded"
    assert ImportJob.objects.get().created_by == owner
    assert not path.exists()


def test_a_deactivated_owner_s_run_fails_with_the_reason_and_the_file_stays(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    people.deactivate(owner)
    assert "ann is deactivated" in failure(schedule)
    assert path.exists()
    people.activate(owner)
    assert run_now(schedule).status == "succeeded"
    assert not path.exists()


def test_a_run_fails_after_the_grant_on_the_table_has_ended(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    people.grant(owner, "target", Level.LOAD, tables=["other.*"])
    assert "may not load into" in failure(schedule)
    assert path.exists()


def test_a_run_fails_after_the_grant_on_the_connection_has_ended(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    Grant.objects.filter(user=owner, kind="connection").delete()
    assert "may not" in failure(schedule)
    assert path.exists()


def test_an_import_that_was_cut_short_is_not_retried_for_a_deactivated_owner(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    run = schedules.run_now(schedule)
    cut = ImportJob.objects.filter(pk=to_import(run).pk)
    cut.update(status="failed", problem={"what": "cut", "retryable": True})
    people.deactivate(owner)
    assert to_end(run).status == "failed"
    assert cut.get().status == "failed"
    assert path.exists()


def test_a_viewer_s_schedule_loads_nothing(schedule, folder, owner):
    drop(folder, "monday.csv")
    people.set_role(owner, people.Role.VIEWER)
    grant_all(owner, Level.ADMINISTER)
    assert "viewer" in failure(schedule)


def test_a_file_that_somebody_else_s_retry_has_loaded_stays_after_the_owner_s_grant_has_ended(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    run = schedules.run_now(schedule)
    cut = to_import(run)
    ImportJob.objects.filter(pk=cut.pk).update(status="failed", problem={"what": "cut", "retryable": False})
    Grant.objects.filter(user=owner, kind="connection").delete()
    to_end(run)
    with acting_as(operator("bob")):
        commands.retry(cut.pk)
    run_job(cut)
    assert ImportJob.objects.get(pk=cut.pk).status == "succeeded"
    assert "may not use source connection" in failure(schedule)
    assert path.exists()


def test_a_file_is_not_deleted_after_the_grant_has_ended_during_its_import(schedule, folder, owner):
    path = drop(folder, "monday.csv")
    run = schedules.run_now(schedule)
    to_import(run)
    run_job(ImportJob.objects.get())
    Grant.objects.filter(user=owner, kind="connection").delete()
    ended = to_end(run)
    assert ended.status == "failed"
    assert "may not use source connection" in ended.problem["what"]
    assert outcomes(ended) == {"monday.csv": "loaded"}
    assert path.exists()


@pytest.mark.parametrize("trigger", ["cron", "arrival"])
def test_no_file_is_listed_after_the_owner_s_grant_has_ended(make, owner, folder, trigger):
    made = make(trigger=trigger, cron="0 4 * * *")
    Schedule.objects.filter(pk=made.pk).update(created_by=owner)
    drop(folder, "monday.csv")
    Grant.objects.filter(user=owner, kind="connection").delete()
    run = to_end(schedules.look_for_files(made.pk)) if trigger == "arrival" else run_now(made)
    assert not run.files.exists()
    assert "may not use source connection" in run.problem["what"]
