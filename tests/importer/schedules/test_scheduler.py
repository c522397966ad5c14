"""The tick: each due time is processed once, also by two ticks, and idle runs are woken."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from bench.schedules import make_due as make_due_at_once
from bench.schedules import tick_until_none_is_due
from importer import schedules
from importer.connections import operations
from importer.connections.listed_files import ListedFile
from importer.lease import longest_lease
from importer.models import Schedule, ScheduleRun, SourceConnection, Target
from importer.queue import Message
from importer.schedules.run import discovery
from importer.schedules.run.deduplication import COMPARE_EVERY
from importer.schedules.scheduler import process_due, tick
from importer.schedules.transitions import LONGEST_PAUSE
from importer.worker.sweep import sweep_jobs
from tests.file_servers.web import MODIFIED, web_files
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import (
    make_due,
    now,
    outcomes,
    request_of,
    run_now,
    runs,
    take,
    taken_up,
    to_end,
    to_import,
)

pytestmark = pytest.mark.usefixtures("no_workers")


def ticked() -> list[Message]:
    steps: list[Message] = []
    tick(steps.extend)
    return steps


def problem_of(schedule: Schedule) -> dict:
    return Schedule.objects.get(pk=schedule.pk).problem


class TestDueTimes:
    def test_two_beats_take_one_up_once(self, make):
        read = make_due(make(trigger="every", every_minutes=60), 0)
        read_too = Schedule.objects.get(pk=read.pk)
        assert len(process_due(read, timezone.now())) == 1
        assert process_due(read_too, timezone.now()) == []
        assert ticked() == []
        (run,) = read.runs.all()
        assert (run.cause, run.due_at, run.status) == ("due", read.next_due_at, "waiting")
        assert Schedule.objects.get(pk=read.pk).next_due_at == read.next_due_at + timedelta(hours=1)

    def test_a_clock_that_was_put_back_runs_nothing_twice(self, make):
        schedule = make_due(make(trigger="every", every_minutes=60), 0)
        assert len(taken_up(schedule)) == 1
        Schedule.objects.filter(pk=schedule.pk).update(next_due_at=schedule.next_due_at)
        assert taken_up(Schedule.objects.get(pk=schedule.pk)) == []
        assert schedule.runs.count() == 1

    def test_a_clock_that_was_put_back_a_day_delays_no_run_that_has_begun(self, make):
        """Its lease, its next attempt and the message that woke it are of before, and a watched folder's next look."""
        ahead = timezone.now() + timedelta(days=1)
        (run,) = taken_up(make_due(make(trigger="every", every_minutes=60), 0))
        watched = make(name="watched", trigger="arrival")
        Schedule.objects.filter(pk=watched.pk).update(next_due_at=ahead)
        ScheduleRun.objects.update(lease=ahead, retry_at=ahead, woken_at=ahead)
        sweep_jobs(lambda _job, _later: None)
        ticked()
        run, limit = now(run), timezone.now() + longest_lease()
        assert max(run.lease, run.woken_at) <= limit
        longest = timezone.now() + timedelta(seconds=LONGEST_PAUSE)
        assert max(run.retry_at, Schedule.objects.get(pk=watched.pk).next_due_at) <= longest

    def test_missed_runs_are_caught_up_in_order_and_skipped_ones_recorded(self, make):
        schedule = make_due(make(trigger="every", every_minutes=60, misfire="all", misfire_most=2, overlap="skip"), 270)
        first, second = taken_up(schedule)
        skipped = schedule.runs.get(status="skipped")
        assert (skipped.due_at, skipped.due_times, skipped.note) == (schedule.next_due_at, 3, "missed")
        assert skipped.last_due_at == schedule.next_due_at + timedelta(hours=2)
        take(second)
        assert now(second).status == "waiting"
        assert to_end(first).cause == "catch-up"
        assert to_end(second).status == "succeeded"

    @pytest.mark.parametrize(("overlap", "status"), [("skip", "skipped"), ("queue", "waiting")])
    def test_one_that_comes_while_a_run_is_under_way(self, make, overlap, status):
        schedule = make(trigger="every", every_minutes=60, overlap=overlap)
        before = schedules.run_now(schedule)
        taken_up(make_due(schedule, 0))
        run = schedule.runs.exclude(pk=before.pk).get()
        assert run.status == status
        if status == "waiting":
            take(run)
            assert now(run).status == "waiting"
            to_end(before)
            assert to_end(run).status == "succeeded"

    def test_an_unknown_zone_is_the_schedules_problem_and_delays_no_other(self, make):
        broken = make_due(make("broken", trigger="every", every_minutes=60), 5)
        Schedule.objects.filter(pk=broken.pk).update(trigger="cron", cron="0 * * * *", zone="Mars/Olympus")
        fine = make_due(make("fine", trigger="every", every_minutes=60), 0)
        assert len(runs(fine, ticked())) == 1
        broken.refresh_from_db()
        assert "Mars/Olympus" in broken.problem["what"]
        assert broken.next_due_at is None

    def test_a_paused_one_is_not_due(self, make):
        schedule = make_due(make(trigger="every", every_minutes=60), 5)
        schedules.pause(schedule)
        assert ticked() == []
        schedules.resume(schedule)
        assert Schedule.objects.get(pk=schedule.pk).next_due_at > timezone.now()

    @pytest.mark.django_db(transaction=True)
    def test_many_that_are_due_in_the_same_minute_are_all_queued_once(self):
        made_due = make_due_at_once(60)
        _took, _cpu, _ticks, steps = tick_until_none_is_due()
        assert len(steps) == len({step.id for step in steps}) == len(made_due)
        assert ScheduleRun.objects.values("schedule").distinct().count() == len(made_due)


@pytest.mark.usefixtures("settled")
class TestArrivals:
    def test_a_file_that_was_never_seen_begins_a_run_and_no_other(self, make, folder):
        schedule = make()
        (look,) = ticked()
        assert look == Message("look_for_files", schedule.pk)
        assert ticked() == []
        assert schedules.look_for_files(schedule.pk) is None
        drop(folder, "a.csv", "not a number,x\n")
        run = schedules.look_for_files(schedule.pk)
        assert schedules.look_for_files(schedule.pk) is None
        assert (run.cause, to_end(run).status) == ("arrival", "failed")
        assert schedules.look_for_files(schedule.pk) is None
        drop(folder, "b.csv")
        second = to_end(schedules.look_for_files(schedule.pk))
        assert (second.status, second.events) == ("succeeded", [])
        assert dict(second.files.values_list("name", "outcome")) == {"a.csv": "failed before", "b.csv": "loaded"}
        drop(folder, "a.csv", "3,three\n")
        recovered = to_end(schedules.look_for_files(schedule.pk))
        assert [each["event"] for each in recovered.events] == ["recovered"]

    def test_a_failed_search_is_the_schedules_problem_and_reported_once_by_a_run(self, make, folder):
        schedule, elsewhere = make(), folder.with_name("elsewhere")
        for _ in range(2):
            folder.rename(elsewhere)
            run = schedules.look_for_files(schedule.pk)
            assert problem_of(schedule)["kind"] == "SourceMissing"
            assert schedules.look_for_files(schedule.pk) is None
            assert [each["event"] for each in to_end(run).events] == ["failed"]
            assert schedules.look_for_files(schedule.pk) is None
            elsewhere.rename(folder)
            assert schedules.look_for_files(schedule.pk) is None
            assert problem_of(schedule) == {}

    def test_each_failed_search_renews_the_moment_of_the_problem_and_nothing_else(self, make, folder):
        schedule = make()
        folder.rename(folder.with_name("elsewhere"))
        to_end(schedules.look_for_files(schedule.pk))
        assert schedules.look_for_files(schedule.pk) is None
        before = Schedule.objects.get(pk=schedule.pk)
        assert timezone.now() - before.problem_at < timedelta(minutes=1)
        long_ago = "2026-11-25T09:38:15+00:00"
        Schedule.objects.update(problem=before.problem | {"at": long_ago})
        assert schedules.look_for_files(schedule.pk) is None
        after = Schedule.objects.get(pk=schedule.pk)
        assert after.problem_at >= before.problem_at
        assert (after.version, after.problem | {"at": ""}) == (before.version, before.problem | {"at": ""})

    def test_nor_does_it_begin_a_run_after_one_that_has_reported_it(self, make, folder):
        schedule = make()
        folder.rename(folder.with_name("elsewhere"))
        assert run_now(schedule).status == "failed"
        assert schedules.look_for_files(schedule.pk) is None
        folder.with_name("elsewhere").rename(folder)
        assert run_now(schedule).note == "no new file"
        assert problem_of(schedule) == {}

    def test_an_unexpected_error_of_a_search_is_reported_too(self, make, monkeypatch):
        schedule = make()
        monkeypatch.setattr(operations, "find", lambda *_: 1 // 0)
        run = schedules.look_for_files(schedule.pk)
        assert "An unexpected error" in problem_of(schedule)["what"]
        assert to_end(run).status == "failed"

    def test_a_place_that_answers_again_ends_the_run_as_one_without_a_new_file(self, make, folder):
        schedule = make()
        folder.rename(folder.with_name("elsewhere"))
        run = schedules.look_for_files(schedule.pk)
        folder.with_name("elsewhere").rename(folder)
        assert (to_end(run).note, problem_of(schedule)) == ("no new file", {})

    def test_a_file_that_looks_new_each_time_is_fetched_now_and_then_and_its_copies_go(self, make, settings, tmp_path):
        settings.UPLOAD_DIR = tmp_path / "uploads"
        with web_files() as web:
            place = SourceConnection.objects.create(name="web", kind="http", base=web.url, private_allowed=True)
            schedule = make(connection=place, pattern="a.csv")
            web.files["/a.csv"], web.etags = b"n,word\n1,one\n", False
            assert outcomes(to_end(schedules.look_for_files(schedule.pk))) == {"a.csv": "loaded"}
            for hour in ("11", "12"):
                web.modified = MODIFIED.replace("10:", f"{hour}:")
                assert outcomes(to_end(schedules.look_for_files(schedule.pk))) == {"a.csv": "already loaded"}
                web.modified = MODIFIED.replace("10:00", f"{hour}:01")
                assert schedules.look_for_files(schedule.pk) is None
                schedule.runs.update(finished_at=timezone.now() - COMPARE_EVERY)
        assert place.files.count() == 1

    @pytest.mark.parametrize("trigger", ["every", "arrival"])
    def test_a_change_during_a_search_is_not_undone_by_its_end(self, make, folder, monkeypatch, trigger):
        schedule = make()
        drop(folder, "a.csv")
        changed = replace(request_of(schedule), trigger=trigger, every_minutes=60)
        find = operations.find

        def find_slowly(*args) -> list[ListedFile]:
            schedules.update(Schedule.objects.get(pk=schedule.pk), changed)
            return find(*args)

        monkeypatch.setattr(operations, "find", find_slowly)
        assert schedules.look_for_files(schedule.pk) is None
        due_at = Schedule.objects.get(pk=schedule.pk).next_due_at - timezone.now()
        assert (due_at > timedelta(minutes=59)) == (trigger == "every")
        assert not schedule.runs.exists()

    @pytest.mark.parametrize("new", ["", "d.csv"])
    def test_files_that_a_failed_run_has_left_are_loaded_with_the_next_one_or_after_a_pause(self, make, folder, new):
        schedule = make(most_attempts=1)
        for name in ("a.csv", "b.csv", "c.csv"):
            drop(folder, name, f"1,{name}\n")
        port = schedule.target.port
        Target.objects.update(port=1)
        failed = to_end(schedules.look_for_files(schedule.pk))
        assert outcomes(failed) == {"a.csv": "failed", "b.csv": "left", "c.csv": "left"}
        Target.objects.update(port=port)
        assert schedules.look_for_files(schedule.pk) is None
        if new:
            drop(folder, new, "1,new\n")
        else:
            ScheduleRun.objects.update(finished_at=timezone.now() - timedelta(minutes=2))
        run = to_end(schedules.look_for_files(schedule.pk))
        loaded = [name for name in ("b.csv", "c.csv", new) if name]
        assert outcomes(run) == {"a.csv": "failed before", **dict.fromkeys(loaded, "loaded")}
        assert schedules.look_for_files(schedule.pk) is None

    def test_those_of_a_cancelled_run_wait_for_the_next_new_file(self, make, folder):
        schedule = make()
        drop(folder, "a.csv")
        drop(folder, "b.csv", "2,two\n")
        run = schedules.look_for_files(schedule.pk)
        to_import(run)
        schedules.cancel(now(run))
        assert outcomes(run)["b.csv"] == "left"
        ScheduleRun.objects.update(finished_at=timezone.now() - timedelta(days=1))
        assert schedules.look_for_files(schedule.pk) is None
        drop(folder, "c.csv", "3,three\n")
        later = outcomes(to_end(schedules.look_for_files(schedule.pk)))
        assert (later["b.csv"], later["c.csv"]) == ("loaded", "loaded")

    def test_a_file_that_was_gone_for_a_moment_is_new_when_it_is_back(self, make, folder):
        schedule, path = make(), folder / "a.csv"
        path.write_text("n,word\n1,one\n")
        run = schedules.look_for_files(schedule.pk)
        take(run)
        path.rename(folder / "a.away")
        assert (to_end(run).status, outcomes(run)) == ("succeeded", {"a.csv": "gone"})
        (folder / "a.away").rename(path)
        assert outcomes(to_end(schedules.look_for_files(schedule.pk))) == {"a.csv": "loaded"}


class TestWaking:
    def test_a_run_whose_message_was_lost_is_woken_once_in_the_time_of_a_lease(self, make):
        run = schedules.run_now(make(trigger="every", every_minutes=60))
        assert ticked() == []
        ScheduleRun.objects.filter(pk=run.pk).update(woken_at=timezone.now() - timedelta(minutes=10))
        assert ticked() == [Message("take_run", run.pk)]
        assert ticked() == []

    def test_a_late_run_is_reported_once(self, make):
        run = schedules.run_now(make(lateness_minutes=10))
        ScheduleRun.objects.filter(pk=run.pk).update(late_at=timezone.now())
        ticked()
        ticked()
        assert [each["event"] for each in now(run).events] == ["late"]

    def test_ten_thousand_files_that_are_in_are_counted_and_a_hundred_listed(self, make, folder, monkeypatch):
        schedule = make(known_by="stat")
        for number in range(3):
            drop(folder, f"{number}.csv", f"{number},x\n")
        run_now(schedule)
        monkeypatch.setattr(discovery, "MOST_KNOWN_LISTED", 2)
        run = run_now(schedule)
        assert (run.found_files, run.known_files, run.files.count()) == (3, 3, 2)
