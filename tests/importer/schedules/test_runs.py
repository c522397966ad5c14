"""A run from start to end: the files that it loads, moves or deletes, and its problems."""

from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from importer import jobs, schedules
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, fetch_all
from importer.engine.schema.table import read_table
from importer.engine.stored import to_json
from importer.history.read import column
from importer.models import ImportJob, Schedule, ScheduleRun, SourceFile, Target
from importer.models.outcomes import NEEDS_ANSWER
from importer.preparation.prepare import prepare
from importer.preparation.presets import save
from importer.queue import Message
from importer.schedules import ScheduleRequest
from importer.schedules.transitions import change_held, claim
from importer.sources import uploads
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import job_of, now, outcomes, run_now, take, to_end, to_import
from tests.importer.steps import run as run_job

pytestmark = pytest.mark.usefixtures("no_workers")

# Word, day and n of 20 rows; the last day is no date.
DATES_BUT_ONE = "".join(f"w,{number:02}.12.2024,{number}\n" for number in range(1, 20)) + "w,n/k,20\n"


class Died(BaseException):
    """Ends a step like a kill of its worker: the run does not handle it."""


def _die(*_: object) -> None:
    raise Died


def rows(database) -> list[int]:
    with connect(database) as connection:
        return [row[0] for row in fetch_all(connection, "SELECT n FROM t ORDER BY n")]


def test_a_failed_import_wakes_its_run_at_once(make, folder):
    drop(folder, "a.csv")
    run = schedules.run_now(make())
    job = to_import(run)
    jobs.fail(job.pk, Problem("Somebody pulled a plug."))
    assert jobs.advance(job.pk) == [Message("take_run", run.pk)]


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


class TestDrift:
    def test_another_header_stops_the_run_and_shows_the_difference(self, make, folder, database):
        schedule = make()
        drop(folder, "a.csv", "1,one,2\n", "n,word,colour\n")
        drop(folder, "b.csv")
        run = run_now(schedule)
        assert (run.status, outcomes(run)) == ("failed", {"a.csv": "failed", "b.csv": "left"})
        assert run.problem["what"] == "The header changed: colour new."
        assert rows(database) == []

    def test_new_fields_become_columns_where_that_is_allowed(self, make, folder, database):
        schedule = make(drift="add")
        drop(folder, "a.csv", "one,7,1\n", "word,size,n\n")
        drop(folder, "b.csv", "two,8,2\n", "word,size,n\n")
        assert outcomes(run_now(schedule)) == {"a.csv": "loaded", "b.csv": "loaded"}
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT n, word, size FROM t ORDER BY n") == [(1, "one", 7), (2, "two", 8)]
        drop(folder, "c.csv", "three,3\n", "word,n\n")
        assert run_now(schedule).problem["what"] == "The header changed: size missing."

    def test_a_new_field_with_dates_in_a_known_format_becomes_a_column_of_dates(self, make, folder, database):
        schedule = make(drift="add")
        drop(folder, "a.csv", "one,31.12.2024,1\n", "word,day,n\n")
        drop(folder, "b.csv", "two,,2\n", "word,day,n\n")
        assert outcomes(run_now(schedule)) == {"a.csv": "loaded", "b.csv": "loaded"}
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT n, day FROM t ORDER BY n") == [(1, date(2024, 12, 31)), (2, None)]

    def test_a_new_field_with_an_unclear_type_is_asked_about_and_its_file_is_left(self, make, folder, database):
        schedule = make(drift="add", afterwards="delete")
        asked = drop(folder, "a.csv", DATES_BUT_ONE, "word,day,n\n")
        drop(folder, "b.csv", "30,thirty\n")
        run = run_now(schedule)
        assert (run.status, outcomes(run)) == (NEEDS_ANSWER.words, {"a.csv": NEEDS_ANSWER.words, "b.csv": "loaded"})
        assert (run.problem["kind"], run.note) == ("NeedsAnswer", "1 of 2 files to be asked about")
        assert "day: 'n/k' on line 21 is no date" in run.problem["what"]
        assert [each["field"] for each in run.problem["reading"]["guesses"]] == ["day"]
        assert (asked.exists(), rows(database)) == (True, [30])
        with connect(database) as connection:
            assert list(read_table(connection, schedule.schema_name, "t").column_names) == ["n", "word"]
        assert [each["event"] for each in run.events] == ["failed"]
        assert schedules.needing_attention().get() == schedule

    @pytest.mark.parametrize("rows_", ["1,one\n2,two\nTotal,2\n", "[-],[text]\n1,one\n2,two\n"])
    def test_lines_that_the_first_file_had_not_are_asked_about(self, rows_, make, folder, database):
        schedule = make()
        asked = drop(folder, "a.csv", rows_)
        run = run_now(schedule)
        assert (run.status, outcomes(run)) == (NEEDS_ANSWER.words, {"a.csv": NEEDS_ANSWER.words})
        assert "the file that showed the format" in run.problem["what"]
        assert (asked.exists(), rows(database)) == (True, [])

    def test_a_file_in_utf8_is_not_read_in_the_encoding_of_the_first(self, make, folder, database):
        schedule = make()
        schedule.dialect_json = to_json(replace(schedule.file_dialect, encoding="cp1252"))
        schedule.save()
        drop(folder, "a.csv", "1,Müller\n")
        run = run_now(schedule)
        assert (outcomes(run), rows(database)) == ({"a.csv": NEEDS_ANSWER.words}, [])
        assert "is UTF-8, and the file that showed the format is cp1252" in run.problem["what"]

    def test_a_header_is_no_row_of_files_without_one(self, make, folder, database):
        schedule = make()
        schedule.dialect_json = to_json(replace(schedule.file_dialect, header=False))
        schedule.header = [f"column_{number}" for number in range(1, len(schedule.header) + 1)]
        schedule.save()
        drop(folder, "a.csv", "1,one\n")
        run = run_now(schedule)
        assert (outcomes(run), rows(database)) == ({"a.csv": NEEDS_ANSWER.words}, [])
        assert "The first record has the columns' names" in run.problem["what"]

    @pytest.mark.usefixtures("settled")
    def test_the_answer_in_a_preset_loads_the_file_that_was_asked_about(self, make, folder, database):
        schedule = make(drift="add", trigger="arrival")
        path = drop(folder, "a.csv", DATES_BUT_ONE, "word,day,n\n")
        schedules.look_for_files(schedule.pk)
        assert to_end(schedule.runs.get()).status == NEEDS_ANSWER.words
        assert not schedules.look_for_files(schedule.pk)
        run_sql(database, "ALTER TABLE t ADD COLUMN day VARCHAR(20)")
        preset = save("answered", prepare(uploads.register(path), schedule.target, "t"))
        schedule.refresh_from_db()
        names = [each.name for each in fields(ScheduleRequest)]
        schedules.update(schedule, ScheduleRequest(**{name: getattr(schedule, name) for name in names}), preset)
        schedules.look_for_files(schedule.pk)
        run = to_end(schedule.runs.latest("pk"))
        assert (run.status, [each["event"] for each in run.events]) == ("succeeded", ["recovered"])
        assert rows(database) == list(range(1, 21))

    def test_a_changed_table_stops_the_run(self, make, folder, database):
        schedule = make(drift="add")
        run_sql(database, "ALTER TABLE t MODIFY n BIGINT, ADD COLUMN more INT")
        drop(folder, "a.csv")
        message = run_now(schedule).problem["what"]
        assert "n was int" in message
        assert "more" not in message


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
        retry = jobs.retry

        def after_a_press(job_id: int, **options: Any) -> None:
            retry(job_id)
            retry(job_id, **options)

        monkeypatch.setattr(jobs, "retry", after_a_press)
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
        jobs.retry(earlier.pk)
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
        jobs.retry(run.files.get().job_id)
        run_job(run.files.get().job)
        run_sql(database, "DELETE FROM t", "ALTER TABLE t MODIFY n INT NULL")
        assert outcomes(run_now(schedule)) == {"a.csv": "already loaded"}

    @pytest.mark.usefixtures("settled")
    def test_a_worker_that_dies_before_the_import_starts_changes_nothing(self, make, folder, database, monkeypatch):
        schedule = make()
        drop(folder, "a.csv")
        run = schedules.run_now(schedule)
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "start", _die)
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
