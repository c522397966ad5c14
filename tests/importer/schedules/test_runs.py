"""A run from start to end: the files that it loads, moves or deletes, and its problems."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from importer import schedules
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, fetch_all
from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.history.read import column
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import ImportJob, Schedule, ScheduleRun, SourceFile, Target
from importer.queue import Message
from importer.schedules.transitions import change_held, claim
from importer.sources import uploads
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import job_of, now, outcomes, rows, run_now, take, to_end, to_import
from tests.importer.steps import import_of
from tests.importer.steps import run as run_job

pytestmark = pytest.mark.usefixtures("no_workers")


class Died(BaseException):
    """Ends a step like a kill of its worker: the run does not handle it."""


def _die(*_: object) -> None:
    raise Died


def test_a_failed_import_wakes_its_run_at_once(make, folder):
    drop(folder, "a.csv")
    run = schedules.run_now(make())
    job = to_import(run)
    lifecycle.fail(job.pk, Problem("Somebody pulled a plug."))
    assert lifecycle.advance(job.pk) == [Message("take_run", run.pk)]


class TestFiles:
    def test_several_go_in_by_name_one_import_after_another_and_are_moved(self, make, folder, database):
        schedule = make(afterwards="move", move_to="loaded")
        for number in (2, 1, 3):
            drop(folder, f"{number}.csv", f"{number},x\n")
        run = to_end(schedules.run_now(schedule))
        assert (run.status, run.problem, outcomes(run)) == (
            "succeeded",
            {},
            dict.fromkeys(("1.csv", "2.csv", "3.csv"), "loaded"),
        )
        assert list(run.files.values_list("job__source__name", flat=True)) == ["1.csv", "2.csv", "3.csv"]
        assert (rows(database), sorted(path.name for path in folder.rglob("*.csv"))) == (
            [1, 2, 3],
            ["1.csv", "2.csv", "3.csv"],
        )
        assert list(folder.glob("*.csv")) == []
        assert not ImportJob.objects.exclude(balanced=True).exists()
        assert set(column("schedule").values()) == {"nightly"}

    @pytest.mark.parametrize("known_by", ["content", "stat"])
    def test_each_goes_in_once(self, make, folder, database, known_by):
        schedule = make(known_by=known_by)
        drop(folder, "a.csv")
        run_now(schedule)
        drop(folder, "b.csv", "2,two\n")
        again = run_now(schedule)
        assert (outcomes(again), again.known_files) == ({"a.csv": "already loaded", "b.csv": "loaded"}, 1)
        drop(folder, "same.csv")
        copied = run_now(schedule)
        assert outcomes(copied)["same.csv"] == {"content": "already loaded", "stat": "loaded"}[known_by]
        assert rows(database) == {"content": [1, 2], "stat": [1, 1, 2]}[known_by]

    def test_one_that_somebody_else_has_loaded_is_moved_and_not_loaded_once_more(self, make, folder, database):
        schedule = make(known_by="stat", afterwards="move", move_to="loaded")
        Schedule.objects.update(options_json=to_json(Options(once=True)))
        file = uploads.register(drop(folder.parent, "by-hand.csv"))
        by_hand = run_job(import_of(file, schedule.target))
        assert by_hand.status == ImportJob.Status.SUCCEEDED
        drop(folder, "same.csv")
        drop(folder, "other.csv", "2,two\n")
        run = run_now(schedule)
        assert outcomes(run) == {"same.csv": "already loaded", "other.csv": "loaded"}
        assert (rows(database), list(folder.glob("*.csv"))) == ([1, 2], [])

    def test_an_unmoved_file_and_a_second_copy_are_moved_by_the_next_run(self, make, folder, database):
        schedule = make(afterwards="move", move_to="loaded")
        drop(folder, "a.csv")
        in_the_way = drop(folder, "loaded/a.csv", "9,other\n")
        run = run_now(schedule)
        assert (run.status, outcomes(run), run.note) == (
            "succeeded",
            {"a.csv": "loaded"},
            "1 loaded file could not be moved",
        )
        in_the_way.unlink()
        drop(folder, "copy.csv")
        run = run_now(schedule)
        assert outcomes(run) == dict.fromkeys(("a.csv", "copy.csv"), "already loaded")
        assert (rows(database), sorted(folder.glob("*.csv"))) == ([1], [])
        assert sorted(path.name for path in folder.glob("loaded/*")) == ["a.csv", "copy.csv"]

    @pytest.mark.parametrize(
        ("bad", "kind"), [("n,word\nnot a number,x\n", "RowsRefused"), ("%PDF-1.7\n1,x\n", "NoCSV")]
    )
    def test_a_bad_file_does_not_stop_later_files(self, make, folder, database, bad, kind):
        schedule = make()
        drop(folder, "a.csv", bad, header="")
        drop(folder, "b.csv")
        run = run_now(schedule)
        assert (run.status, outcomes(run)) == ("failed", {"a.csv": "failed", "b.csv": "loaded"})
        assert run.problem["kind"] == kind
        assert [each["event"] for each in run.events] == ["failed"]
        drop(folder, "a.csv", "3,x\n")
        recovered = run_now(schedule)
        assert (recovered.status, [each["event"] for each in recovered.events]) == ("succeeded", ["recovered"])
        assert rows(database) == [1, 3]

    @pytest.mark.usefixtures("settled")
    def test_a_name_that_is_longer_than_is_stored_fails_alone_and_once(self, make, folder, database):
        schedule = make(subfolders=True, trigger="arrival")
        drop(folder, "/".join(["f" * 250] * 5) + "/a.csv")
        drop(folder, "b.csv")
        run = to_end(schedules.look_for_files(schedule.pk))
        assert (run.status, sorted(outcomes(run).values()), rows(database)) == ("failed", ["failed", "loaded"], [1])
        assert "has 1,260 characters, and at most 1,024 are stored" in run.problem["what"]
        assert not schedules.look_for_files(schedule.pk)

    @pytest.mark.parametrize(
        ("no_file", "status", "events"),
        [("fine", "succeeded", []), ("warn", "succeeded", ["no_file"]), ("fail", "failed", ["failed"])],
    )
    def test_none_is_what_the_schedule_says(self, make, folder, no_file, status, events):
        schedule = make(no_file=no_file, known_by="stat")
        drop(folder, "a.csv")
        run_now(schedule)
        run = run_now(schedule)
        assert (run.status, run.note, [each["event"] for each in run.events]) == (status, "no new file", events)

    def test_of_a_past_day(self, make, folder, database):
        schedule = make(
            pattern="sales-{date-1d:%Y%m%d}.csv",
            zone="Pacific/Auckland",
            trigger="cron",
            cron="0 1 * * *",
            afterwards="move",
            move_to="loaded/{date:%Y/%m}",
        )
        drop(folder, "sales-20240229.csv")
        run = run_now(schedule, for_date=date(2024, 3, 1))
        assert outcomes(run) == {"sales-20240229.csv": "loaded"}
        assert (folder / "loaded/2024/03/sales-20240229.csv").exists()


class TestFaults:
    @pytest.mark.usefixtures("settled")
    def test_a_retryable_problem_is_retried_at_most_as_often_as_set(self, make, folder):
        schedule = make(most_attempts=3, backoff_seconds=100)
        drop(folder, "a.csv")
        Target.objects.update(port=1)
        run = schedules.run_now(schedule)
        pauses = []
        while not now(run).ended:
            take(run)
            if retry_at := now(run).retry_at:
                pauses.append(round((retry_at - timezone.now()).total_seconds() / 100))
        assert (now(run).status, pauses, outcomes(run)) == ("failed", [1, 2], {"a.csv": "failed"})

    @pytest.mark.parametrize("name", ["a.csv", "b.csv"])
    def test_a_file_that_is_in_in_part_goes_on_with_the_same_import_under_any_name(self, make, folder, database, name):
        schedule = make()
        job = _half_loaded(schedule, folder)
        (folder / "a.csv").rename(folder / name)
        run_sql(database, "ALTER TABLE t MODIFY n VARCHAR(10)")
        run = run_now(schedule)
        assert run.problem == {}
        assert (outcomes(run), run.files.get().job_id) == ({name: "loaded"}, job.pk)
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT COUNT(*), COUNT(DISTINCT n) FROM t") == [(3001, 3001)]

    def test_it_goes_on_if_somebody_retries_that_import_at_the_same_moment(self, make, folder, database, monkeypatch):
        schedule = make()
        job = _half_loaded(schedule, folder)
        run_sql(database, "ALTER TABLE t MODIFY n VARCHAR(10)")
        retry = commands.retry

        def after_a_press(job_id: int, **options: Any) -> None:
            retry(job_id)
            retry(job_id, **options)

        monkeypatch.setattr(commands, "retry", after_a_press)
        run = run_now(schedule)
        assert (run.status, outcomes(run), run.files.get().job_id) == ("succeeded", {"a.csv": "loaded"}, job.pk)

    def test_and_is_not_loaded_in_another_version(self, make, folder, database):
        schedule = make()
        job = _half_loaded(schedule, folder)
        before = rows(database)
        drop(folder, "a.csv")
        drop(folder, "b.csv", "9000,x\n")
        run = run_now(schedule)
        assert (run.problem["where"], f"Retry import {job.pk}" in run.problem["advice"]) == ("a.csv", True)
        assert (outcomes(run), run.note) == ({"a.csv": "failed", "b.csv": "loaded"}, "1 of 2 files failed")
        assert rows(database) == [*before, 9000]
        assert schedules.forget(schedule, "a.csv") == 1
        assert run_now(schedule).status == "succeeded"

    def test_of_a_schedule_that_has_another_table_now_is_loaded_there(self, make, folder, database):
        schedule = make()
        _half_loaded(schedule, folder)
        before = rows(database)
        run_sql(database, "CREATE TABLE other LIKE t", "ALTER TABLE other MODIFY n VARCHAR(10)")
        schedule.table_name, schedule.columns_json = "other", [["n", "varchar(10)"], *schedule.columns_json[1:]]
        schedule.save()
        assert outcomes(run_now(schedule)) == {"a.csv": "loaded"}
        assert rows(database) == before

    def test_and_is_forgotten_under_its_other_name_too(self, make, folder):
        schedule = make()
        _half_loaded(schedule, folder)
        (folder / "a.csv").rename(folder / "b.csv")
        assert outcomes(run_now(schedule)) == {"b.csv": "failed"}
        assert schedules.forget(schedule, "b.csv") == 1
        assert not schedule.files.exclude(job=None).exists()

    @pytest.mark.usefixtures("settled")
    def test_a_new_version_waits_for_an_import_of_the_earlier_one(self, make, folder, database):
        schedule = make(afterwards="delete")
        earlier = _half_loaded(schedule, folder)
        run_sql(database, "ALTER TABLE t MODIFY n VARCHAR(10)")
        copy = (folder / "a.csv").rename(folder / "a.copy")  # as one that a server has sent
        SourceFile.objects.update(path=str(copy), found_etag="", connection=None)
        commands.retry(earlier.pk)
        path = drop(folder, "a.csv", "5000,x\n")
        run = schedules.run_now(schedule)
        take(run)
        assert (job_of(run), path.exists()) == (None, True)
        assert f"Import {earlier.pk} of an earlier version" in now(run).problem["what"]
        run_job(earlier)
        run_sql(database, "DELETE FROM t WHERE n = 'last'", "ALTER TABLE t MODIFY n INT")
        assert (outcomes(to_end(run)), path.exists()) == ({"a.csv": "loaded"}, False)
        assert rows(database) == [*range(3000), 5000]

    def test_one_that_a_person_has_retried_is_in(self, make, folder, database):
        schedule = make()
        drop(folder, "a.csv", "none,x\n")
        run = run_now(schedule)
        run_sql(database, "ALTER TABLE t MODIFY n VARCHAR(10)")
        commands.retry(run.files.get().job_id)
        run_job(run.files.get().job)
        run_sql(database, "DELETE FROM t", "ALTER TABLE t MODIFY n INT NULL")
        assert outcomes(run_now(schedule)) == {"a.csv": "already loaded"}

    @pytest.mark.usefixtures("settled")
    def test_a_worker_that_dies_before_the_import_starts_changes_nothing(self, make, folder, database, monkeypatch):
        schedule = make()
        drop(folder, "a.csv")
        run = schedules.run_now(schedule)
        with monkeypatch.context() as patch:
            patch.setattr(commands, "start", _die)
            with pytest.raises(Died):
                take(run)
        ScheduleRun.objects.filter(pk=run.pk).update(lease=timezone.now())
        assert (to_end(run).status, rows(database)) == ("succeeded", [1])

    def test_the_deadline_ends_the_run_and_its_import(self, make, folder, database):
        schedule = make(deadline_minutes=5)
        drop(folder, "a.csv")
        drop(folder, "b.csv", "2,two\n")
        run = schedules.run_now(schedule)
        job = to_import(run)
        ScheduleRun.objects.filter(pk=run.pk).update(deadline_at=timezone.now())
        take(run)
        assert run_job(job).status == "cancelled"
        ended = now(run)
        assert (ended.status, ended.schedule_claim, outcomes(run)) == (
            "failed",
            None,
            {"a.csv": "failed", "b.csv": "left"},
        )
        assert "5 minutes" in ended.problem["what"]

    def test_only_one_worker_at_a_time_takes_a_run(self, make, folder):
        run = schedules.run_now(make())
        first = claim(run.pk)
        assert first
        assert claim(run.pk) is None
        ScheduleRun.objects.filter(pk=run.pk).update(lease=timezone.now())
        assert claim(run.pk)
        assert not change_held(first, note="too late")


def _half_loaded(schedule: Schedule, folder: Path) -> ImportJob:
    """An import that failed at its last row, with the earlier rows in the table."""
    Schedule.objects.filter(pk=schedule.pk).update(options_json={"chunk_bytes": 4096, "parallelism": 1})
    schedule.refresh_from_db()
    drop(folder, "a.csv", "".join(f"{n},x\n" for n in range(3000)) + "last,x\n")
    run = run_now(schedule)
    assert (run.status, run.problem["kind"]) == ("failed", "RowsRefused")
    job = run.files.get().job
    assert job.loaded_rows
    return job
