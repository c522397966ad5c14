"""Imports into a table that has the rows already, with the worker's steps taken one by one in this process."""

from pathlib import Path

import pytest

from config.contracts.report import NO_ROWS
from importer.engine.load import ledger
from importer.engine.load.outcome import Compared
from importer.engine.stored import to_json
from importer.engine.target.staging import staging_name
from importer.jobs.actions import commands
from importer.jobs.report import equation, report
from importer.jobs.steps import staging as job_staging
from importer.management.terminal.report_text import report_lines
from importer.models import ImportJob
from importer.models.channel import Event
from importer.models.outcomes import outcome_words, reported
from importer.notifications.payload import payload_of
from importer.worker import stage_and_finish
from tests.engine.loads import rows_of, run_sql
from tests.importer.history.test_collect import facts_of_record
from tests.importer.steps import created, now, run, until

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status
ROWS = 1000

TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20) NOT NULL, price INT)",
    "INSERT INTO t VALUES " + ", ".join(f"({n}, 'word {n}', {n})" for n in range(ROWS)),
)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """A price for each row, of which 20 differ."""
    path = tmp_path / "prices.csv"
    path.write_text("n,price\n" + "".join(f"{n},{n + (n % 50 == 0)}\n" for n in range(ROWS)))
    return path


def changed(target) -> list[tuple]:
    return rows_of(target.address, "SELECT COUNT(*), SUM(price - n), SUM(word = CONCAT('word ', n)) FROM t")


def people(tmp_path: Path, kept: int) -> Path:
    """The first rows of the table, the first of them with another price, and 10 new ones."""
    path = tmp_path / "people.csv"
    words = (f"{n},word {n},{n + (n == 0)}\n" for n in [*range(kept), *range(ROWS, ROWS + 10)])
    path.write_text("n,word,price\n" + "".join(words))
    return path


def dies_before_its_record(job: ImportJob, monkeypatch) -> None:
    """Take steps until the finishing step has committed, and die."""
    until(job, "finish")
    monkeypatch.setattr(job_staging, "record_finished", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        stage_and_finish.finish_job(job.pk, lambda *_: None)
    monkeypatch.undo()
    ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")


class TestSync:
    def test_the_table_is_that_of_the_file_and_the_equation_has_what_left_it(self, target, tmp_path):
        job = run(created(target, people(tmp_path, 950), mode="sync"))
        assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
        rows = report(job)["rows"]
        counts = {"source": 960, "loaded": 10, "replaced": 1, "unchanged": 949, "deleted": 50}
        assert rows == {**NO_ROWS, **counts, "source_is_final": True}
        assert str(equation(job)).endswith("; deleted from the table: 50")
        assert payload_of(Event.SUCCEEDED, "", job, None, None)["job"]["rows"]["deleted"] == 50
        assert facts_of_record(job)["deleted_rows"] == 50
        assert changed(target) == [(960, 1, 960)]

    def test_a_preview_shows_what_it_would_change(self, target, tmp_path):
        job = run(created(target, people(tmp_path, 800), mode="sync", preview=True))
        told = report(job)
        assert (told["outcome"], told["exit_code"], told["problem"]) == ("previewed", 0, None)
        assert (job.leftover, job.table_claim, job.deleted_rows) == (False, None, 0)
        assert changed(target) == [(ROWS, 0, ROWS)]
        assert rows_of(target.address, f"SELECT COUNT(*) FROM {staging_name(str(job.key))}") == [(13,)]
        first = told["compared"]["first"]
        counts = to_json(Compared(10, 1, 799, 0, 200, 200, {"price": 1}))
        assert {**told["compared"], "first": {}} == counts
        assert first["changed"] == [{"n": ["0"], "price": ["0", "1"]}]
        assert first["new"][0] == {"n": ["1000"], "word": ["word 1000"], "price": ["1000"]}
        assert [len(rows) for rows in first.values()] == [10, 1, 10]
        text = "\n".join(report_lines(report(job), "millrace"))
        assert "10 are new, 1 change a row, and 799 are equal" in text
        assert "changed  n '0', price '0' -> '1'" in text

    @pytest.mark.parametrize("kept", [800, 0])
    def test_a_cut_file_stops_at_the_limit_and_a_wider_one_takes_it(self, target, tmp_path, kept):
        path = people(tmp_path, kept) if kept else tmp_path / "empty.csv"
        if not kept:
            path.write_text("n,word,price\n")
        job = run(created(target, path, mode="sync"))
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "TooManyChanges")
        assert f"{ROWS - kept:,} rows" in job.problem["what"]
        assert (outcome_words(job), reported(job).exit_code) == ("waits for a decision", 11)
        assert (job.deleted_rows, job.table_claim, now(job).compared_json["deleted"]) == (0, None, ROWS - kept)
        assert changed(target) == [(ROWS, 0, ROWS)]
        job = run(created(target, path, mode="sync", stop_if=f"deleted>{ROWS - kept}"))
        assert (job.status, job.deleted_rows) == (Status.SUCCEEDED, ROWS - kept)

    def test_a_worker_that_dies_between_commit_and_record_loses_no_count(self, target, tmp_path, monkeypatch):
        job = created(target, people(tmp_path, 950), mode="sync")
        dies_before_its_record(job, monkeypatch)
        job = run(job)
        assert (job.status, job.loaded_rows, job.deleted_rows) == (Status.SUCCEEDED, 10, 50)
        assert changed(target) == [(960, 1, 960)]


class TestUpdate:
    def test_a_file_of_two_columns_changes_what_differs(self, target, prices):
        job = run(created(target, prices, mode="update"))
        assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
        told = report(job)
        assert told["rows"] == {
            **NO_ROWS,
            "source": ROWS,
            "replaced": 20,
            "unchanged": ROWS - 20,
            "source_is_final": True,
        }
        assert told["compared"] == to_json(Compared(changed=20, unchanged=ROWS - 20, columns={"price": 20}))
        assert told["reading"]["unfilled_columns"] == ["word"]
        assert any("word: as they are" in each.values() for each in told["reading"]["decisions"])
        assert changed(target) == [(ROWS, 20, ROWS)]
        assert rows_of(target.address, "SHOW TABLES") == [(ledger.TABLE,), ("t",)]

    def test_unknown_keys_are_rejected_with_their_lines_and_load_again_in_the_same_mode(self, target, prices):
        with prices.open("a") as file:
            file.write("4711,1\n0,5\n815,x\n")
        job = run(created(target, prices, mode="update", on_error="reject"))
        assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
        assert (job.replaced_rows, job.unchanged_rows, job.skipped_rows, job.rejected_rows) == (20, ROWS - 20, 1, 2)
        reasons = {(each["code"], each["column"]): each["rows"] for each in job.reject_reasons}
        assert reasons["unknown key", "n"] == 1
        assert rows_of(target.address, "SELECT price FROM t WHERE n = 0") == [(5,)]

    def test_an_unknown_key_stops_the_import_and_names_the_way_out(self, target, prices):
        with prices.open("a") as file:
            file.write("4711,1\n")
        job = run(created(target, prices, mode="update"))
        assert job.status == Status.FAILED
        assert job.problem["where"] == f"line {ROWS + 2:,}, column n"
        assert "--on-error reject" in job.problem["advice"]
        assert changed(target) == [(ROWS, 0, ROWS)]
        run_sql(target.address, "INSERT INTO t VALUES (4711, 'word 4711', 0)")
        commands.retry(job.pk)
        assert run(job).status == Status.SUCCEEDED

    def test_a_worker_that_dies_between_commit_and_record_loses_no_count(self, target, prices, monkeypatch):
        job = created(target, prices, mode="update")
        dies_before_its_record(job, monkeypatch)
        job = run(job)
        assert (job.status, job.replaced_rows, now(job).compared_json["columns"]) == (
            Status.SUCCEEDED,
            20,
            {"price": 20},
        )
        assert changed(target) == [(ROWS, 20, ROWS)]
