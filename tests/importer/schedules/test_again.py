"""Runs for moments that are past, and a new header that somebody accepts."""

from datetime import UTC, date, datetime, timedelta

import pytest

from importer import schedules
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, fetch_all
from importer.engine.reading.questions import NeedsAnswer
from importer.models import Schedule, ScheduleRun
from importer.schedules.scheduler import process_due
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import outcomes, run_now, to_end

DATED = {"pattern": "sales-{date:%Y%m%d}.csv", "trigger": "cron", "cron": "30 2 * * *", "zone": "Europe/Vienna"}

# A fixed noon, not the time of the test: no change of the clocks moves the due time of a night across it.
NOON = datetime(2026, 3, 20, 11, tzinfo=UTC)


def missed_for(schedule: Schedule, days: int) -> ScheduleRun:
    """The due times of these days up to NOON, which no tick has seen, as the one run that is skipped for them."""
    Schedule.objects.filter(pk=schedule.pk).update(next_due_at=NOON - timedelta(days))
    schedule.refresh_from_db()
    process_due(schedule, NOON)
    return schedules.missed(schedule).get()


class TestAgain:
    def test_a_failed_run_is_run_again_for_its_own_day(self, make, folder):
        schedule = make(**DATED, no_file="fail")
        failed = run_now(schedule, for_date=date(2026, 3, 30))
        assert failed.status == "failed"
        drop(folder, "sales-20260330.csv")
        drop(folder, "sales-20260331.csv", "2,two\n")
        (again,) = schedules.run_again(failed)
        assert (again.moment, again.cause) == (failed.moment, "by hand")
        assert outcomes(to_end(again)) == {"sales-20260330.csv": "loaded"}

    def test_due_times_that_were_missed_together_are_run_one_by_one(self, make, folder):
        schedule = make(**DATED, misfire="skip")
        missed = missed_for(schedule, days=3)
        assert missed.due_times == 4
        runs = schedules.run_again(missed)
        assert runs[0].moment == missed.due_at
        assert runs[-1].moment == missed.last_due_at
        assert not schedules.missed(schedule).exists()
        assert {to_end(run).note for run in runs} == {"no new file"}

    def test_of_many_the_first_are_run_and_the_others_stay_missed(self, make):
        schedule = make(**DATED, misfire="skip")
        missed = missed_for(schedule, days=149)
        runs = schedules.run_again(missed)
        left = schedules.missed(schedule).get()
        assert (len(runs), left.due_times, left.last_due_at) == (100, 50, missed.last_due_at)
        assert runs[-1].moment < left.due_at == left.moment
        assert [len(schedules.run_again(left)), schedules.missed(schedule).count()] == [50, 0]

    def test_without_a_date_in_the_pattern_one_run_is_enough(self, make):
        schedule = make(trigger="cron", cron="0 * * * *")
        assert len(schedules.backfill(schedule, date(2026, 3, 1), date(2026, 3, 31))) == 1

    def test_past_days_are_run_in_the_order_of_their_due_times(self, make, folder):
        schedule = make(**DATED)
        for day in (28, 29, 30):
            drop(folder, f"sales-202603{day}.csv", f"{day},word\n")
        runs = schedules.backfill(schedule, date(2026, 3, 28), date(2026, 3, 29))
        assert [outcomes(to_end(run)) for run in runs] == [
            {"sales-20260328.csv": "loaded"}, {"sales-20260329.csv": "loaded"},
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("first", "last", "said"),
        [
            (date(2026, 3, 2), date(2026, 3, 1), "is before"),
            (date(2098, 3, 1), date(2098, 3, 2), "Nothing was due"),
            (date(2020, 3, 1), date(2026, 3, 2), "More than 100 runs"),
        ],
    )
    def test_days_that_cannot_be_run(self, make, first, last, said):
        with pytest.raises(Problem, match=said):
            schedules.backfill(make(**DATED), first, last)

    def test_a_run_under_way_is_not_run_again(self, make):
        with pytest.raises(Problem, match="under way"):
            schedules.run_again(schedules.run_now(make()))


class TestNewHeader:
    def test_a_renamed_field_keeps_its_column_and_the_file_is_loaded(self, make, folder, database):
        schedule = make()
        drop(folder, "a.csv", "red,1,one\n", "colour,n,text\n")
        failed = run_now(schedule)
        assert failed.problem["kind"] == "Drifted"
        schedule.refresh_from_db()
        assert schedules.drifted_file(schedule).name == "a.csv"
        change = schedules.header_change(schedule)
        assert [(each.name, each.before, each.column) for each in change.fields] == [
            ("colour", None, ""), ("n", "n", "n"), ("text", None, ""),
        ]  # fmt: skip
        assert (change.gone, change.columns) == ((("word", "word"),), ("n", "word"))
        file = schedules.accept(schedule, ["", "n", "word"])
        (again,) = schedules.run_again(file.run)
        assert outcomes(to_end(again)) == {"a.csv": "loaded"}
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT n, word FROM t") == [(1, "one")]
        assert schedules.drifted_file(schedule) is None
        assert schedule.header == ["colour", "n", "text"]

    def test_a_field_at_the_place_of_a_missing_one_is_offered_its_column(self, make, folder):
        schedule = make()
        drop(folder, "a.csv", "1,one\n", "n,text\n")
        run_now(schedule)
        renamed = schedules.header_change(schedule).fields[1]
        assert (renamed.column, renamed.instead_of, renamed.samples) == ("word", "word", ("one",))

    def test_a_column_that_is_gone_is_asked_for(self, make, folder, database):
        schedule = make()
        run_sql(database, "ALTER TABLE t RENAME COLUMN word TO label")
        drop(folder, "a.csv")
        assert run_now(schedule).problem["kind"] == "Drifted"
        schedule.refresh_from_db()
        change = schedules.header_change(schedule)
        assert change.table_changes == ("word is gone", "label is new")
        assert [(each.name, each.column, each.chosen) for each in change.fields] == [
            ("n", "n", False), ("word", "", True),
        ]  # fmt: skip
        (again,) = schedules.run_again(schedules.accept(schedule, ["n", "label"]).run)
        assert outcomes(to_end(again)) == {"a.csv": "loaded"}

    def test_a_renamed_field_is_read_as_before(self, make, folder, database):
        schedule = make()
        run_sql(database, "ALTER TABLE t ADD COLUMN day DATE")
        schedule.header, schedule.columns_json = ["n", "word", "day"], [*schedule.columns_json, ["day", "date"]]
        schedule.mapping_json = [*schedule.mapping_json, {"column": "day", "datetime_format": "%d/%m/%Y"}]
        schedule.save()
        drop(folder, "a.csv", "1,one,03/04/2024\n", "n,word,date\n")
        run_now(schedule)
        schedule.refresh_from_db()
        (again,) = schedules.run_again(schedules.accept(schedule, ["n", "word", "day"]).run)
        assert outcomes(to_end(again)) == {"a.csv": "loaded"}
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT day FROM t") == [(date(2024, 4, 3),)]

    def test_values_that_can_be_read_in_two_ways_are_asked_about(self, make, folder, database):
        schedule = make()
        run_sql(database, "ALTER TABLE t ADD COLUMN day DATE")
        drop(folder, "a.csv", "1,one,03/04/2024\n", "n,word,day\n")
        run_now(schedule)
        with pytest.raises(NeedsAnswer, match="day"):
            schedules.accept(schedule, ["n", "word", "day"])
        schedule.refresh_from_db()
        assert schedules.accept(schedule, ["n", "word", ""]).name == "a.csv"

    def test_what_cannot_be_is_refused_and_nothing_changes(self, make, folder):
        schedule = make()
        drop(folder, "a.csv", "1,one\n", "n,text\n")
        run_now(schedule)
        for columns in (["n"], ["n", "n"], ["n", "nothing"]):
            with pytest.raises(Problem):
                schedules.accept(schedule, columns)
        schedule.refresh_from_db()
        assert schedule.header == ["n", "word"]
