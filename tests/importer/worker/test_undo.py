"""Imports that are taken back, with the worker's steps taken one by one in this process."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from importer.engine import failpoints
from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.jobs import lifecycle
from importer.jobs.actions import applying
from importer.jobs.report import report
from importer.jobs.steps.table_backup import drop_backup, restore_backup, unfinished_undos
from importer.management.terminal.report_text import report_lines
from importer.models import ImportJob
from importer.models.outcomes import UNKNOWN, outcome_words
from importer.retention import ended_jobs, kept_rows
from importer.worker import stage_and_finish
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import created, now, run

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status
ROWS = 200
TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20) NOT NULL, price INT)",
    "INSERT INTO t VALUES " + ", ".join(f"({n}, 'word {n}', {n})" for n in range(ROWS)),
)
CHECKSUM = "CHECKSUM TABLE t"


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    """The rows of the table but for the first 10, of which 20 differ, and 5 new ones."""
    path = tmp_path / "articles.csv"
    words = (f"{n},word {n},{n + (n % 10 == 0)}\n" for n in range(10, ROWS + 5))
    path.write_text("n,word,price\n" + "".join(words))
    return path


def synced(target, path: Path, **options) -> ImportJob:
    job = run(created(target, path, mode="sync", **{"undo": "keep", "stop_if": "deleted>10", **options}))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    return now(job)


def taken_back(job: ImportJob, overwrite: bool = False) -> ImportJob:
    restore_backup(job.pk, overwrite)
    assert stage_and_finish.taken_back_here(job.pk) is None
    return now(job)


def checksum(target) -> object:
    return rows_of(target.address, CHECKSUM)


class TestUndo:
    def test_the_table_is_as_before_and_nothing_is_left(self, target, articles):
        before = checksum(target)
        job = synced(target, articles)
        assert checksum(target) != before
        assert job.kept_table in {name for (name,) in rows_of(target.address, "SHOW TABLES")}
        assert f"To take it back: millrace job undo {job.pk}" in "\n".join(report_lines(report(job), "millrace"))
        job = taken_back(job)
        assert checksum(target) == before
        told = report(job)
        counts = {"changed": 19, "deleted": 10, "new": 5, "by_others": 0, "overwritten": False}
        assert {name: told["undo"][name] for name in counts} == counts
        assert (outcome_words(job), job.table_claim, job.step, job.kept_table) == ("restored", None, "", "")
        assert rows_of(target.address, "SHOW TABLES") == [(ledger.TABLE,), ("t",)]
        with pytest.raises(Problem, match="The old rows were restored already"):
            restore_backup(job.pk)

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_what_others_have_changed_is_named(self, target, articles, overwrite):
        job = synced(target, articles)
        run_sql(target.address, "UPDATE t SET price = 7 WHERE n = 20", "UPDATE t SET word = 'x' WHERE n = 30")
        run_sql(target.address, "INSERT INTO t VALUES (3, 'theirs', 3)")
        job = taken_back(job, overwrite)
        assert (job.undo_json["by_others"], job.undo_json["first"]) == (2, [["3"], ["20"]])
        found = rows_of(target.address, "SELECT n, word, price FROM t WHERE n IN (3, 20, 30) ORDER BY n")
        theirs = [(3, "theirs", 3), (20, "word 20", 7)] if not overwrite else [(3, "word 3", 3), (20, "word 20", 20)]
        assert found == [*theirs, (30, "x", 30)]
        left = "overwritten" if overwrite else "left as they are"
        lines = "\n".join(report_lines(report(job), "millrace"))
        assert f"Changed by others since, and {left}: 2 (n 3; 20)" in lines
        drop_backup(job.pk)
        assert now(job).kept_table == ""

    def test_a_later_import_is_no_obstacle_but_its_rows_are_named(self, target, articles, tmp_path):
        job = synced(target, articles)
        later = tmp_path / "later.csv"
        later.write_text("n,price\n10,99\n11,99\n")
        other = run(created(target, later, mode="update", undo="keep"))
        assert taken_back(job).undo_json["first"] == [["10"]]
        assert taken_back(other).undo_json["by_others"] == 0
        assert rows_of(target.address, "SELECT price FROM t WHERE n IN (10, 11) ORDER BY n") == [(11,), (11,)]

    def test_while_it_is_taken_back_the_table_belongs_to_it(self, target, articles):
        job, other = synced(target, articles), created(target, articles, mode="sync")
        restore_backup(job.pk)
        lifecycle.advance(other.pk)
        assert (now(other).status, unfinished_undos()) == (Status.WAITING, [job.pk])
        for act in (restore_backup, drop_backup):
            with pytest.raises(Problem, match="are being put back"):
                act(job.pk)
        assert stage_and_finish.taken_back_here(job.pk) is None
        lifecycle.advance(other.pk)
        assert (now(other).status, unfinished_undos()) == (Status.LOADING, [])
        with pytest.raises(Problem, match="restored already"):
            restore_backup(job.pk)

    @pytest.mark.parametrize("point", ["undo.changed", "undo.committed"])
    def test_a_worker_that_dies_takes_back_all_or_nothing_and_another_one_the_rest(
        self, target, articles, monkeypatch, point
    ):
        before = checksum(target)
        job = synced(target, articles)
        after = checksum(target)

        def dies(reached: str) -> None:
            if reached == point:
                raise SystemExit

        restore_backup(job.pk)
        monkeypatch.setattr(failpoints, "reach", dies)
        with pytest.raises(SystemExit):
            stage_and_finish.undo_job(job.pk, lambda *_: None)
        monkeypatch.undo()
        assert checksum(target) == (after if point == "undo.changed" else before)
        assert now(job).undo_asked
        ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
        assert stage_and_finish.taken_back_here(job.pk) is None
        assert checksum(target) == before
        assert (now(job).undo_json["changed"], now(job).undo_json["deleted"]) == (19, 10)

    def test_what_is_in_the_way_is_told_and_may_be_tried_again(self, target, articles):
        before = checksum(target)
        job = synced(target, articles)
        run_sql(target.address, "ALTER TABLE t ADD COLUMN more INT")
        restore_backup(job.pk)
        assert "The columns of" in str(stage_and_finish.taken_back_here(job.pk))
        job = now(job)
        assert (job.table_claim, job.step, job.undo_asked, job.restored_at) == (None, "", False, None)
        assert "It was not taken back:" in "\n".join(report_lines(report(job), "millrace"))
        run_sql(target.address, "ALTER TABLE t DROP COLUMN more")
        taken_back(job)
        assert checksum(target) == before


class TestKept:
    def test_an_import_that_keeps_nothing_says_what_to_choose(self, target, articles, tmp_path):
        job = synced(target, articles, undo="none")
        with pytest.raises(Problem, match="Next time choose --undo keep"):
            restore_backup(job.pk)
        more = tmp_path / "more.csv"
        more.write_text("n,word\n1000,x\n")
        with pytest.raises(Problem, match="mode atomic with --undo keep"):
            restore_backup(run(created(target, more, mode="append")).pk)

    def test_an_import_that_a_limit_stops_leaves_no_kept_rows_and_applied_keeps_them(self, target, articles):
        before = checksum(target)
        dropped, applied = (
            run(created(target, articles, mode="sync", undo="keep", stop_if="deleted>0")) for _ in range(2)
        )
        applying.drop(dropped.pk)
        run(dropped)
        applying.apply(applied.pk, all_the_same=True)
        job = run(applied)
        assert (job.status, now(dropped).kept_table) == (Status.SUCCEEDED, "")
        names = {name for (name,) in rows_of(target.address, "SHOW TABLES")}
        assert names == {ledger.TABLE, "t", now(job).kept_table}
        taken_back(now(job))
        assert checksum(target) == before

    def test_retention_drops_them_and_lets_the_import_go(self, target, articles, settings):
        job = synced(target, articles)
        late = timezone.now() + timedelta(days=settings.KEPT_ROWS_DAYS, minutes=1)
        assert kept_rows.remove_kept_rows(timezone.now(), 10) == 0
        with pytest.raises(Problem, match="or old rows, are kept on the server"):
            ended_jobs.remove_by_hand(job.pk)
        assert kept_rows.remove_kept_rows(late, 10) == 1
        assert rows_of(target.address, "SHOW TABLES") == [(ledger.TABLE,), ("t",)]
        with pytest.raises(Problem, match="No old rows are kept"):
            restore_backup(job.pk)


class TestCommand:
    def test_job_undo_and_kept_table_take_it_back_in_their_process(self, target, articles, capsys):
        before = checksum(target)
        call_command("job", "undo", str(synced(target, articles).pk))
        said = capsys.readouterr().out
        assert (
            "Taken back: 19 changed rows have their old values, 10 deleted ones are back, 5 new ones are gone." in said
        )
        assert checksum(target) == before
        job = synced(target, articles)
        run_sql(target.address, "UPDATE t SET price = 7 WHERE n = 20")
        call_command("kept_table", "restore", str(job.pk), "--json")
        told = json.loads(capsys.readouterr().out)
        assert (told["restored"], told["kept"]) == (True, now(job).kept_table)
        assert rows_of(target.address, "SELECT n, price FROM t WHERE price <> n") == [(20, 7)]

    def test_a_refusal_is_told_and_the_exit_code_is_no_success(self, target, articles, capsys):
        job = synced(target, articles)
        run_sql(target.address, "ALTER TABLE t ADD COLUMN more INT")
        with pytest.raises(SystemExit) as ended:
            call_command("job", "undo", str(job.pk), "--json")
        assert ended.value.code == UNKNOWN
        undo = json.loads(capsys.readouterr().out)["undo"]
        assert (undo["problem"]["code"], undo["taken_back_at"], undo["kept_table"]) == (1200, None, job.kept_table)
        with pytest.raises((Problem, CommandError), match="The columns of"):
            call_command("kept_table", "restore", str(job.pk))
