"""Files that are still written to when a schedule's run finds them."""

from datetime import UTC
from pathlib import Path

import pytest

from importer import schedules
from importer.connections.file_pattern import fill_in_dates
from importer.models import Schedule, ScheduleRun
from importer.models.outcomes.runs import outcome_of_run
from importer.schedules.run.discovery import MOST_LOOKS, MOST_WATCHES
from tests.importer.schedules.conftest import drop, shift_time
from tests.importer.schedules.steps import job_of, now, outcomes, rows, take, to_end, to_import
from tests.importer.schedules.test_schedule_command import told
from tests.importer.steps import run as run_job

pytestmark = pytest.mark.usefixtures("no_workers")

DAILY = {"trigger": "cron", "cron": "30 2 * * *"}


def _while_it_grows(folder: Path, schedule: Schedule, most_looks: int = 1000) -> ScheduleRun:
    """A run while the file that it looks for grows before each step: to its end, or until it has looked so often."""
    run = schedules.run_now(schedule)
    name = fill_in_dates(schedule.pattern, run.moment, UTC).text.replace("*", "a")
    while not now(run).ended and now(run).looks < most_looks:
        with (folder / name).open("a") as file:
            file.write("n,word\n1,one\n")
        if job := job_of(run):
            run_job(job)
        take(run)
    return now(run)


@pytest.mark.parametrize(("place", "hours"), [("folder", -1), ("folder", 0), ("folder", 1), ("ftp", -1)])
def test_one_is_watched_whatever_its_clock_says(make, folder, database, request, place, hours):
    schedule = make(**({"connection": request.getfixturevalue("ftp_connection")} if place == "ftp" else {}))
    path = folder / "a.csv"
    path.write_text("n,word\n1,o")
    shift_time(path, hours)
    run = schedules.run_now(schedule)
    (again,) = take(run)
    assert (again.task, now(run).status) == ("take_run", "finding")
    path.write_text("n,word\n1,one\n2,two\n")
    shift_time(path, hours)
    take(run)
    assert (now(run).status, job_of(run)) == ("finding", None)
    to_end(run)
    assert rows(database) == [1, 2]


def test_one_that_never_settles_is_left_for_a_later_run(make, folder, database, request):
    schedule = make()
    run = _while_it_grows(folder, schedule)
    assert (run.status, outcomes(run), rows(database)) == ("succeeded", {"a.csv": "still written"}, [])
    assert (run.note, outcome_of_run(run)) == ("no complete file: 1 file still written", "no complete file")
    assert not schedules.look_for_files(schedule.pk)
    request.getfixturevalue("settled")
    assert schedules.look_for_files(schedule.pk)


def test_one_that_grows_for_long_is_loaded_by_the_same_run_after_the_others(make, folder, database):
    drop(folder, "b.csv", "2,two\n")
    run = _while_it_grows(folder, make(**DAILY), MOST_LOOKS + 1)
    assert (now(run).note, rows(database)) == ("1 file still written", [2])
    (folder / "a.csv").write_text("n,word\n1,one\n")
    to_end(run)
    assert (now(run).status, now(run).note) == ("succeeded", "")
    assert (outcomes(run), rows(database)) == (dict.fromkeys(("a.csv", "b.csv"), "loaded"), [1, 2])


@pytest.mark.parametrize(
    ("values", "outcome", "looks"),
    [
        ({}, "failed", MOST_LOOKS + MOST_WATCHES),
        ({"cron": "* * * * *", "pattern": "a{date:%d-%H-%M}.csv"}, "failed", MOST_LOOKS + MOST_WATCHES),
        ({"cron": "* * * * *"}, "no complete file", MOST_LOOKS),
    ],
)
def test_one_that_never_settles_is_given_up_unless_a_later_run_follows(make, folder, values, outcome, looks):
    run = _while_it_grows(folder, make(**DAILY | values))
    assert (outcome_of_run(run), run.looks, list(outcomes(run).values())) == (outcome, looks, ["still written"])
    assert [each["event"] for each in run.events] == (["failed"] if outcome == "failed" else [])
    assert run.problem.get("where", "a").startswith("a")
    if outcome != "failed":
        assert f", {outcome}: 1 file still written\n" in told("show", "nightly")


@pytest.mark.parametrize("begun", [False, True])
def test_one_that_is_replaced_before_a_row_of_it_is_in_is_loaded_as_it_is_then(make, folder, database, begun):
    drop(folder, "a.csv")
    path = drop(folder, "b.csv", "2,two\n")
    run = schedules.run_now(make(**DAILY))
    run_job(to_import(run))
    if begun:
        take(run)
    path.write_text("n,word\n3,three\n4,four\n")
    if begun:
        run_job(job_of(run))
    take(run)
    assert (now(run).status, outcomes(run)["b.csv"]) == ("finding", "still written")
    assert to_end(run).status == "succeeded"
    assert (outcomes(run), rows(database)) == (dict.fromkeys(("a.csv", "b.csv"), "loaded"), [1, 3, 4])


def test_one_that_is_replaced_before_it_is_deleted_stays_and_delays_no_other(make, folder, ftp_connection):
    schedule = make(**DAILY, connection=ftp_connection, afterwards="delete")
    path = drop(folder, "a.csv")
    drop(folder, "b.csv", "2,two\n")
    for each in folder.iterdir():
        shift_time(each, -48)
    run = schedules.run_now(schedule)
    run_job(to_import(run))
    path.write_text("n,word\n3,three\n")
    take(run)
    assert (job_of(run).source.name, path.exists()) == ("b.csv", True)
    assert "no longer the one" in run.files.get(name="a.csv").done_problem["what"]
