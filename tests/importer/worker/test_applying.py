"""What an import has staged and compared is applied, compared again or dropped, without its file."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.jobs.actions import applying, commands
from importer.jobs.report import report
from importer.jobs.steps.table_backup import restore_backup
from importer.models import AuditEvent, ImportJob
from importer.models.outcomes import outcome_words
from importer.retention import ended_jobs, storage_use
from importer.worker import stage_and_finish
from tests.dashboard.api.program import Program
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import created, now, run
from tests.people import admin

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status
ROWS = 1000
TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20) NOT NULL, price FLOAT, note VARCHAR(20))",
    "INSERT INTO t (n, word, price) VALUES " + ", ".join(f"({n}, 'word {n}', {n})" for n in range(ROWS)),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The first 950 rows of the table, 19 of them with another price, and 10 new ones."""
    path = tmp_path / "people.csv"
    lines = (f"{n},word {n},{n + (n % 50 == 0) / 2}\n" for n in [*range(950), *range(ROWS, ROWS + 10)])
    path.write_text("n,word,price\n" + "".join(lines))
    return path


@pytest.fixture
def previewed(target, file: Path) -> ImportJob:
    job = run(created(target, file, mode="sync", preview=True))
    file.unlink()
    return job


def state(target) -> list[tuple]:
    return rows_of(target.address, "SELECT COUNT(*), SUM(price <> n), MAX(n) FROM t")


AS_IT_WAS, APPLIED = [(ROWS, 0, ROWS - 1)], [(960, 20, ROWS + 9)]


def tables(target) -> list[tuple]:
    return rows_of(target.address, "SHOW TABLES")


@pytest.mark.both_servers
class TestApply:
    def test_the_table_changes_from_the_staged_rows_and_the_equation_is_exact(self, target, previewed):
        run_sql(target.address, "UPDATE t SET note = 'not in the file'")
        applying.apply(previewed.pk)
        job = run(previewed)
        assert (job.status, job.problem, job.balanced, job.attempts) == (Status.SUCCEEDED, {}, True, 2)
        rows = report(job)["rows"]
        counts = {"source": 960, "loaded": 10, "replaced": 19, "unchanged": 931, "deleted": 50, "rejected": 0}
        assert {name: rows[name] for name in counts} == counts
        assert state(target) == APPLIED
        assert tables(target) == [(ledger.TABLE,), ("t",)]
        assert "The file is not read again" in {each["choice"] for each in report(job)["plan"]["reasons"]}

    @pytest.mark.parametrize(
        ("by_others", "named"),
        [
            ("UPDATE t SET price = price + 0.0001 WHERE n = 50", "n 50, of rows that would be changed"),
            ("UPDATE t SET word = 'x' WHERE n = 51", "of rows that would be changed"),
            ("DELETE FROM t WHERE n = 7", "of rows that would be new"),
            ("DELETE FROM t WHERE n = 960", "n 960, of rows that would be deleted, 1 then and 0 now"),
            ("UPDATE t SET word = 'x' WHERE n = 999", "n 999, of rows that would be deleted, 1 row"),
            ("INSERT INTO t (n, word) VALUES (1000, 'x'), (1003, 'x')", "n 1003, of rows that would be new"),
            ("INSERT INTO t (n, word) VALUES (5000, 'x')", "n 999, of rows that would be deleted, 1 then and 2 now"),
        ],
    )
    def test_a_table_that_has_changed_stays_and_is_compared_again(self, target, previewed, by_others, named):
        run_sql(target.address, by_others)
        before = rows_of(target.address, "SELECT * FROM t ORDER BY n")
        for _ in range(2):
            applying.apply(previewed.pk)
            job = run(previewed)
            assert (job.status, job.problem["kind"]) == (Status.FAILED, "NotAsSeen")
            assert "t has changed since the file was compared with it: " in job.problem["what"]
            assert named in job.problem["what"]
            assert rows_of(target.address, "SELECT * FROM t ORDER BY n") == before
        applying.compare(previewed.pk)
        job = run(previewed)
        assert (outcome_words(job), job.problem, job.loaded_rows) == ("previewed", {}, 0)
        applying.apply(previewed.pk)
        assert run(previewed).status == Status.SUCCEEDED
        assert state(target) == APPLIED

    def test_a_retry_takes_the_staged_rows_with_the_table_as_it_is_now(self, target, previewed):
        run_sql(target.address, "UPDATE t SET price = 4 WHERE n = 50")
        commands.retry(previewed.pk)
        assert run(previewed).status == Status.SUCCEEDED
        assert state(target) == APPLIED

    def test_rows_of_the_staging_table_that_are_gone_come_from_the_file(self, target, file):
        job = run(created(target, file, mode="sync", preview=True))
        applying.drop(job.pk)
        job = run(job)
        assert (outcome_words(job), job.staging, tables(target)) == ("previewed", "", [(ledger.TABLE,), ("t",)])
        applying.apply(job.pk)
        job = run(job)
        assert (job.status, job.balanced, state(target)) == (Status.SUCCEEDED, True, APPLIED)
        assert "The file is loaded again" in {each["choice"] for each in report(job)["plan"]["reasons"]}

    def test_the_file_is_not_applied_either_if_the_table_has_changed(self, target, file):
        job = run(created(target, file, mode="sync", preview=True))
        applying.drop(job.pk)
        run(job)
        run_sql(target.address, "DELETE FROM t WHERE n = 7")
        applying.apply(job.pk)
        assert run(job).problem["kind"] == "NotAsSeen"
        assert state(target) == [(ROWS - 1, 0, ROWS - 1)]

    def test_an_import_that_was_not_compared_has_nothing_to_apply(self, target, file):
        job = created(target, file, mode="sync")
        commands.start(job.pk)
        commands.cancel(job.pk)
        run(job)
        with pytest.raises(Problem, match="Nothing is staged that could be applied"):
            applying.apply(job.pk)


class TestLimits:
    @pytest.fixture
    def stopped(self, target, file: Path) -> ImportJob:
        job = run(created(target, file, mode="sync", stop_if="deleted>49"))
        assert (outcome_words(job), state(target)) == ("waits for a decision", AS_IT_WAS)
        return job

    def test_it_is_applied_all_the_same_by_somebody_who_says_so(self, target, file, stopped):
        file.unlink()
        with pytest.raises(Problem, match=r"50 rows .* would be deleted") as beyond:
            applying.apply(stopped.pk)
        assert "--all-the-same" in beyond.value.advice
        applying.apply(stopped.pk, all_the_same=True)
        job = run(stopped)
        assert (job.status, job.deleted_rows, state(target)) == (Status.SUCCEEDED, 50, APPLIED)

    def test_a_preview_beyond_them_is_applied_so_as_well(self, target, file):
        job = run(created(target, file, mode="sync", stop_if="deleted>49", preview=True))
        with pytest.raises(Problem, match="50 rows"):
            applying.apply(job.pk)
        applying.apply(job.pk, all_the_same=True)
        assert run(job).status == Status.SUCCEEDED

    def test_dropping_it_ends_it_and_leaves_nothing(self, target, stopped):
        applying.drop(stopped.pk)
        job = run(stopped)
        assert (outcome_words(job), job.problem, tables(target)) == ("cancelled", {}, [(ledger.TABLE,), ("t",)])
        assert not applying.can_apply(job)
        with pytest.raises(commands.Reached):
            applying.drop(stopped.pk)

    def test_a_retry_stops_again(self, target, file, stopped):
        file.unlink()
        commands.retry(stopped.pk)
        job = run(stopped)
        assert (outcome_words(job), job.attempts, state(target)) == ("waits for a decision", 2, AS_IT_WAS)


@pytest.mark.both_servers
def test_a_worker_that_dies_before_the_record_has_applied_it_once(target, previewed, monkeypatch):
    applying.apply(previewed.pk)
    monkeypatch.setattr(stage_and_finish.job_staging, "record_finished", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        stage_and_finish.finish_job(previewed.pk, lambda *_: None)
    monkeypatch.undo()
    assert state(target) == APPLIED
    ImportJob.objects.filter(pk=previewed.pk).update(step_lease="2000-01-01T00:00Z")
    job = run(now(previewed))
    assert (job.status, job.loaded_rows, job.deleted_rows, state(target)) == (Status.SUCCEEDED, 10, 50, APPLIED)


class TestDoors:
    def code(self, *words: str) -> int:
        try:
            call_command("job", *words)
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    def test_commands_apply_compare_and_drop_in_their_own_process(self, target, previewed, file, redis, capsys):
        run_sql(target.address, "UPDATE t SET price = 4 WHERE n = 50")
        assert self.code("apply", str(previewed.pk)) == 6
        assert "n 50, of rows that would be changed" in capsys.readouterr().err
        assert self.code("compare", str(previewed.pk)) == 0
        assert f"millrace job apply {previewed.pk}" in capsys.readouterr().out
        assert self.code("apply", str(previewed.pk)) == 0
        assert state(target) == APPLIED

    def test_a_command_drops_what_a_limit_has_stopped(self, target, file, redis, capsys):
        job = run(created(target, file, mode="sync", stop_if="deleted>49"))
        with pytest.raises(CommandError, match="--all-the-same") as refused:
            call_command("job", "apply", str(job.pk))
        assert refused.value.returncode == 4
        assert self.code("show", str(job.pk)) == 0
        said = capsys.readouterr()
        assert f"millrace job drop {job.pk}" in said.out + said.err
        assert "rows were compared, and nothing was changed" in said.out
        assert self.code("drop", str(job.pk)) == 0
        assert (outcome_words(now(job)), tables(target)) == ("cancelled", [(ledger.TABLE,), ("t",)])

    def test_programs_apply_compare_and_drop(self, target, previewed):
        program = Program(admin("ann"))
        assert program.send("POST", f"imports/{previewed.pk}/compare").status_code == 200
        run(previewed)
        assert program.send("POST", f"imports/{previewed.pk}/apply", {"all_the_same": False}).status_code == 200
        assert run(previewed).status == Status.SUCCEEDED
        again = program.send("POST", f"imports/{previewed.pk}/drop")
        assert (again.status_code, "No staged rows" in again.text) == (422, True)

    def test_the_page_applies_all_the_same_with_the_name_in_the_audit_log(self, target, file, client):
        client.force_login(admin("ann"))
        job = run(created(target, file, mode="sync", stop_if="deleted>49"))
        client.post(reverse("job_apply", args=[job.pk]))
        assert now(job).attempts == 1
        client.post(reverse("job_apply", args=[job.pk]), {"all_the_same": "yes"})
        event = AuditEvent.objects.filter(action="job_apply").latest("pk")
        assert (event.actor_name, event.details["all_the_same"]) == ("ann", True)
        assert run(job).status == Status.SUCCEEDED


def test_staged_rows_go_after_some_days_and_are_counted_until_then(target, previewed, settings):
    (counted,) = storage_use.staged()
    assert (counted.count, counted.bytes >= 16384) == (1, True)
    settings.STAGED_DAYS = 7
    assert ended_jobs.drop_staged(timezone.now() + timedelta(days=6), 10) == 0
    assert ended_jobs.drop_staged(timezone.now() + timedelta(days=8), 10) == 1
    assert (outcome_words(run(previewed)), tables(target)) == ("previewed", [(ledger.TABLE,), ("t",)])
    assert storage_use.staged() == []
    assert applying.can_apply(now(previewed))


def test_an_import_about_which_nobody_decides_fails_in_the_end(target, file, settings):
    job = run(created(target, file, mode="sync", stop_if="deleted>49"))
    settings.STAGED_DAYS = 7
    assert ended_jobs.drop_staged(timezone.now() + timedelta(days=8), 10) == 1
    job = run(job)
    assert (outcome_words(job), job.problem["kind"], tables(target)) == (
        "failed",
        "NotDecided",
        [(ledger.TABLE,), ("t",)],
    )


@pytest.mark.both_servers
def test_undo_of_what_was_applied_brings_the_table_back(target, file):
    before = rows_of(target.address, "CHECKSUM TABLE t")
    job = run(created(target, file, mode="sync", stop_if="deleted>49", undo="keep"))
    applying.apply(job.pk, all_the_same=True)
    assert run(job).status == Status.SUCCEEDED
    assert state(target) == APPLIED
    restore_backup(job.pk, False)
    assert stage_and_finish.taken_back_here(job.pk) is None
    assert rows_of(target.address, "CHECKSUM TABLE t") == before
