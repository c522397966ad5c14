"""Files whose header is not that of the schedule: the difference is shown, accepted or answered."""

from dataclasses import fields, replace
from datetime import date

import pytest

from importer import schedules
from importer.engine.mysql.connection import connect, fetch_all
from importer.engine.schema.table import read_table
from importer.engine.stored import to_json
from importer.models.outcomes import NEEDS_ANSWER
from importer.preparation.prepare import prepare
from importer.preparation.presets import save
from importer.schedules import ScheduleRequest
from importer.sources import uploads
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import outcomes, rows, run_now, to_end

pytestmark = pytest.mark.usefixtures("no_workers")

# Word, day and n of 20 rows; the last day is no date.
DATES_BUT_ONE = "".join(f"w,{number:02}.12.2024,{number}\n" for number in range(1, 20)) + "w,n/k,20\n"


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
        assert "The file has a header, and the file that showed the format has no header" in run.problem["what"]

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
