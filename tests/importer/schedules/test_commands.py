"""The actions that people request for schedules, and the problems of invalid ones."""

from datetime import UTC, timedelta

import pytest
import xxhash
from django.utils import timezone

from importer import schedules
from importer.access.limits import TooMany
from importer.connections import operations
from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import ImportJob, Schedule, ScheduleRun
from importer.schedules import ScheduleRequest
from importer.sources import uploads
from tests.engine.loads import rows_of
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import now, outcomes, request_of, run_now, take, to_end, to_import
from tests.importer.steps import import_of
from tests.importer.steps import run as run_job
from tests.people import operator

pytestmark = pytest.mark.usefixtures("no_workers")

CRON = {"trigger": "cron", "cron": "30 2 * * *"}


WRONG = [
    (CRON | {"cron": "30 26 * * *"}, "cron", "bad hour"),
    (CRON | {"cron": " "}, "cron", "no cron text"),
    (CRON | {"zone": "Berlin"}, "zone", "Perhaps Europe/Berlin"),
    ({"trigger": "every", "every_minutes": 0}, "every_minutes", "Every 0 minutes"),
    ({"pattern": "../*.csv"}, "pattern", "not a path below"),
    ({"pattern": "sales-{day}.csv"}, "pattern", "{day} is not known"),
    ({"afterwards": "move", "move_to": ""}, "move_to", "no folder"),
    ({"afterwards": "move", "move_to": "loaded/{day}"}, "move_to", "{day} is not known"),
    ({"afterwards": "move", "move_to": "in/loaded", "subfolders": True}, "move_to", "would be found again"),
    ({"most_attempts": 0}, "most_attempts", "Choose 1 to 20"),
    ({"name": "a\nb"}, "name", "No control characters"),
    ({"name": "taken"}, "name", "of this name already"),
    ({"name": "x" * 2**20}, "name", "at most 64 characters"),
    ({"pattern": "x" * 2**20}, "pattern", "at most 512 characters"),
    (CRON | {"cron": "1," * 2**19 + "2 * * * *"}, "cron", "at most 200 characters"),
    ({"overlap": "perhaps"}, "overlap", "not a valid choice"),
]


def test_an_invalid_value_is_reported_with_its_field(make):
    make("taken")
    for values, option, said in WRONG:
        with pytest.raises(Problem) as caught:
            make(**values)
        assert (caught.value.option, said in str(caught.value)) == (option, True), caught.value


def test_a_person_has_at_most_so_many_and_another_goes_on(make, settings):
    settings.SCHEDULES_PER_PERSON = 2
    ann, ben = operator("ann"), operator("ben")
    every_minute = {"trigger": "cron", "cron": "* * * * *"}
    first = make("one", user=ann, **every_minute)
    schedules.pause(make("two", user=ann, **every_minute))
    with pytest.raises(TooMany, match=r"ann has as many schedules as each person may have: 2\..*SCHEDULES_PER_PERSON"):
        make("three", user=ann, **every_minute)
    make("of ben", user=ben)
    make("of the system")
    first.delete()
    make("three", user=ann, **every_minute)
    settings.SCHEDULES_PER_PERSON = 0
    make("four", user=ann)


def test_two_on_one_table_are_allowed_and_warned_of(make):
    make("one")
    assert "one loads into" in schedules.warnings(make("two"))[0]


def test_from_a_job_that_worked_and_whose_file_is_gone(make, folder, tmp_path, database):
    target = make("other").target
    source = uploads.register(drop(tmp_path, "made.csv", "1,one\n"))
    options = Options(mode="create")
    job = run_job(import_of(source, target, "made", options=options))
    connection = Schedule.objects.get().connection
    source.file.unlink()
    schedule = schedules.create_from_job(job, ScheduleRequest("again", connection, "*.csv", known_by="stat"))
    drop(folder, "a.csv", "2,two\n")
    assert outcomes(run_now(schedule)) == {"a.csv": "loaded"}
    assert (schedule.table_name, schedule.options.mode) == ("made", "append")


@pytest.mark.parametrize(
    ("place", "loads", "first"), [("in", True, "loaded"), ("elsewhere", True, "loaded"), ("in", False, "loading")]
)
def test_the_file_of_the_import_is_not_loaded_again(make, folder, tmp_path, place, loads, first):
    made = make("other")
    digest = xxhash.xxh3_128_hexdigest(drop(folder, "a.csv").read_bytes())
    if place == "in":
        (listed,) = operations.find(made.connection, "*.csv", timezone.now(), UTC)
        source = operations.fetch(made.connection, listed)
    else:
        source = uploads.register(drop(tmp_path, "upload.csv"))
    job = import_of(source, made.target, made.table_name)
    if loads:
        job = run_job(job)
    schedule = schedules.create_from_job(job, ScheduleRequest("again", made.connection, "*.csv"))
    known = schedule.runs.get()
    assert (known.status, known.files.get().outcome, known.files.get().fingerprint) == ("skipped", first, digest)
    if not loads:
        run_job(job)
        take(known)
        assert known.files.get().outcome == "loaded"
    drop(folder, "b.csv", "2,two\n")
    assert outcomes(run_now(schedule)) == {"a.csv": "already loaded", "b.csv": "loaded"}
    assert rows_of(made.target.address, "SELECT n FROM t ORDER BY n") == [(1,), (2,)]


def test_the_file_of_an_import_that_ended_without_rows_is_loaded(make, folder):
    made = make("other")
    drop(folder, "a.csv")
    (listed,) = operations.find(made.connection, "*.csv", timezone.now(), UTC)
    job = import_of(operations.fetch(made.connection, listed), made.target)
    schedule = schedules.create_from_job(job, ScheduleRequest("again", made.connection, "*.csv"))
    commands.cancel(job.pk)
    take(schedule.runs.get())
    assert outcomes(run_now(schedule)) == {"a.csv": "loaded"}


@pytest.mark.parametrize(
    ("stated", "no_limit", "limit"), [({}, False, 100), ({}, True, None), ({"max_rejects": 7}, False, 7)]
)
def test_a_new_schedule_has_a_limit_of_rejected_rows(make, tmp_path, stated, no_limit, limit):
    first = make("other")
    source = uploads.register(drop(tmp_path, "made.csv", "1,one\n"))
    options = Options(on_error="reject", **(stated or {"max_reject_percent": 100}))
    job = run_job(import_of(source, first.target, first.table_name, options=options))
    assert schedules.lacks_limit(job) is (not stated)
    request = ScheduleRequest("again", first.connection, "*.csv")
    schedule = schedules.create_from_job(job, request, no_limit=no_limit)
    assert schedule.options.most_rejects(1000) == limit
    schedules.update(schedule, request_of(schedule))
    assert Schedule.objects.get(pk=schedule.pk).options.most_rejects(1000) == limit


def test_a_change_counts_from_now_and_not_over_somebody_elses(make):
    schedule = make(**CRON)
    read_too = Schedule.objects.get(pk=schedule.pk)
    schedules.update(
        schedule, ScheduleRequest("hourly", schedule.connection, "*.csv", trigger="every", every_minutes=60)
    )
    assert timedelta(minutes=59) < schedule.next_due_at - timezone.now() <= timedelta(hours=1)
    assert (schedule.cron, schedule.name) == ("", "hourly")
    with pytest.raises(Problem, match="changed since you looked"):
        schedules.update(read_too, request_of(read_too))


def test_the_next_due_times_in_the_schedules_zone(make):
    shown = schedules.next_due_times(make(**CRON, zone="Asia/Tokyo"))
    assert [each.strftime("%H:%M %Z") for each in shown] == ["02:30 JST"] * 5
    assert schedules.next_due_times(make("arriving")) == []


def test_cancelling_a_run_cancels_its_import_and_allows_deleting_the_schedule(make, folder):
    schedule = make()
    drop(folder, "a.csv")
    run = schedules.run_now(schedule)
    job = to_import(run)
    with pytest.raises(Problem, match="under way"):
        schedules.delete(schedule)
    schedules.cancel(run)
    with pytest.raises(Problem, match="has ended"):
        schedules.cancel(run)
    assert run_job(job).status == "cancelled"
    schedules.delete(schedule)
    assert (ScheduleRun.objects.count(), ImportJob.objects.count()) == (0, 1)


@pytest.mark.parametrize(
    ("ends", "events"),
    [
        (["succeeds", "succeeds"], ["rejects"]),
        (["fails"], ["failed"]),
        (["succeeds", "fails"], ["failed", "rejects"]),
        (["succeeds", "is cancelled"], []),
    ],
)
def test_rejects_are_an_event_of_imports_that_succeeded(make, folder, ends, events):
    """The first import rejects more rows than the schedule allows."""
    for name in ("a.csv", "b.csv"):
        drop(folder, name, f"1,{name}\n")
    run = schedules.run_now(make(rejects_limit=5))
    for what, rejected in zip(ends, (9, 0), strict=False):
        job = to_import(run)
        if what == "fails":
            lifecycle.fail(job.pk, Problem("Somebody pulled a plug."))
        elif what == "is cancelled":
            schedules.cancel(now(run))
        run_job(job)
        ImportJob.objects.filter(pk=job.pk).update(rejected_rows=rejected)
        take(run)
    assert [each["event"] for each in to_end(run).events] == events
