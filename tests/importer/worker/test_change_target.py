"""Keys dropped from an empty table during an import, with the worker's steps taken one by one in this process."""

from collections.abc import Callable
from functools import partial

import pytest
from django.core.management import call_command

from importer import targets
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.schema import indexes
from importer.engine.target import temporary_changes
from importer.jobs import report
from importer.jobs.actions import commands
from importer.jobs.lifecycle import step_failed
from importer.jobs.steps import target_changes
from importer.models import ImportJob, Target
from importer.queue import Message
from importer.worker import change_target, verify
from tests.engine.loads import run_sql
from tests.importer import steps
from tests.importer.steps import now, run, take, until
from tests.targets import on_one_server

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 1200
Status = ImportJob.Status
created = partial(steps.created, indexes="defer")

TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(200), KEY long_one (word(100) DESC) COMMENT 'it''s, `so`',"
    " UNIQUE KEY both_ (word, n), KEY `odd``, (n)` (n, word(3)), FULLTEXT KEY f (word))",
)


def structure(target: Target) -> str:
    with connect(target.address) as connection:
        return indexes.show_create(connection, target.database, "t")


def keys(target: Target) -> set[str]:
    return {each.name for each in indexes.key_definitions(structure(target))}


def written_down(target: Target) -> list[str]:
    with connect(target.address) as connection:
        return [each.job for each in temporary_changes.list_records(connection)]


def raising(error: BaseException) -> Callable:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_keys_are_off_while_rows_come_and_back_at_the_end(target, file):
    before = structure(target)
    job = created(target, file)
    until(job, "load_run")
    assert keys(target) == set()
    assert written_down(target) == [str(job.key)]
    ended = run(job)
    assert (ended.status, ended.balanced, ended.unrestored) == (Status.SUCCEEDED, True, False)
    assert report.report(ended)["seconds"]["index"] > 0
    assert structure(target) == before
    assert written_down(target) == []


@pytest.mark.parametrize("moment", ["arrange", "load_run"])
def test_a_cancel_restores_keys_before_the_job_ends(target, file, moment):
    before = structure(target)
    job = created(target, file)
    until(job, moment)
    commands.cancel(job.pk)
    assert run(job).status == Status.CANCELLED
    assert structure(target) == before
    assert written_down(target) == []


def test_a_failure_restores_keys_before_the_job_ends(target, file):
    before = structure(target)
    file.write_text(file.read_text() + "no number,x\n")
    job = run(created(target, file))
    assert job.status == Status.FAILED
    assert structure(target) == before


def test_a_retry_leaves_the_keys_of_a_table_with_rows_alone(target, file, monkeypatch):
    before = structure(target)
    job = created(target, file)
    monkeypatch.setattr(verify, "lost_chunks", raising(Problem("Verified badly.")))
    assert run(job).status == Status.FAILED
    monkeypatch.undo()
    commands.retry(job.pk)
    assert now(job).plan.temporary_changes is None
    assert run(job).status == Status.SUCCEEDED
    assert structure(target) == before


@pytest.mark.parametrize("after", ["record_written", "arrange"])
def test_a_worker_that_dies_while_dropping_keys(target, file, after, monkeypatch):
    before = structure(target)
    job = created(target, file)
    until(job, "arrange")
    where, name = (
        (temporary_changes, "record") if after == "record_written" else (target_changes, "record_applied_changes")
    )
    monkeypatch.setattr(where, name, raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        change_target.change_target_job(job.pk, lambda *_: None)
    monkeypatch.undo()
    assert now(job).unrestored
    ImportJob.objects.filter(pk=job.pk).update(step_lease=None, step="")
    assert run(job).status == Status.SUCCEEDED
    assert structure(target) == before


def test_a_worker_that_wakes_after_another_took_its_step_does_not_fail_the_job(target, file, monkeypatch):
    job = created(target, file)
    until(job, "arrange")
    claim = target_changes.claim_target_change

    def claim_and_sleep(job_id: int) -> ImportJob | None:
        """Claim the step, and wake after its lease has expired and another worker has done it."""
        mine = claim(job_id)
        monkeypatch.undo()
        ImportJob.objects.filter(pk=job_id).update(step_lease="2000-01-01T00:00Z")
        until(job, "load_run")
        return mine

    monkeypatch.setattr(target_changes, "claim_target_change", claim_and_sleep)
    change_target.change_target_job(job.pk, lambda *_: None)
    assert (now(job).status, now(job).problem) == (Status.LOADING, {})
    assert run(job).status == Status.SUCCEEDED


def test_a_failure_of_a_step_that_another_worker_has_taken_is_of_no_account(target, file):
    job = created(target, file)
    until(job, "arrange")
    stale = target_changes.claim_target_change(job.pk)
    assert stale
    ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
    until(job, "load_run")
    assert step_failed(stale, Problem("It is late.")) == []
    assert (now(job).status, now(job).problem) == (Status.LOADING, {})


def test_rows_that_came_meanwhile_keep_the_keys_on(target, file):
    before = structure(target)
    job = created(target, file)
    run_sql(target.address, "INSERT INTO t VALUES (-1, 'somebody')")
    until(job, "load_run")
    assert structure(target) == before
    assert "rows have come" in now(job).plan.reasons[-1].why
    assert run(job).status == Status.SUCCEEDED


def test_a_locked_table_keeps_its_keys(target, file, monkeypatch):
    monkeypatch.setattr(temporary_changes, "LOCK_WAIT", 1)
    before = structure(target)
    job = created(target, file)
    with connect(target.address) as holder:
        execute(holder, "START TRANSACTION")
        fetch_all(holder, "SELECT * FROM t")
        until(job, "load_run")
        assert "Lock wait timeout" in now(job).plan.reasons[-1].why
        execute(holder, "COMMIT")
    assert run(job).status == Status.SUCCEEDED
    assert structure(target) == before


def test_restoring_is_retried_until_it_succeeds(target, file, monkeypatch):
    monkeypatch.setattr(temporary_changes, "RESTORE_LOCK_WAIT", 1)
    before = structure(target)
    job = created(target, file)
    until(job, "restore")
    with connect(target.address) as holder:
        execute(holder, "START TRANSACTION")
        fetch_all(holder, "SELECT * FROM t LIMIT 1")
        for _ in range(2):
            change_target.restore_job(job.pk, lambda *_: None)
            assert now(job).status == Status.INDEXING
            assert "lock" in now(job).obstacle["what"]
        execute(holder, "COMMIT")
    ImportJob.objects.filter(pk=job.pk).update(step_lease=None, step="")
    ended = run(job)
    assert (ended.status, ended.obstacle) == (Status.SUCCEEDED, {})
    assert structure(target) == before


@on_one_server
@pytest.mark.parametrize(("task", "end"), [("arrange", Status.FAILED), ("restore", Status.SUCCEEDED)])
def test_a_stored_password_that_cannot_be_read_is_a_problem_of_the_step(target, file, task, end):
    before = structure(target)
    job = created(target, file)
    until(job, task)
    Target.objects.update(password_ciphertext="of another installation")
    take(Message(task, job.pk))
    failed = now(job)
    assert "The stored password cannot be read" in (failed.obstacle or failed.problem)["what"]
    target.save()
    ImportJob.objects.filter(pk=job.pk).update(step_lease=None, step="")
    assert run(job).status == end
    assert structure(target) == before


def test_a_table_that_is_gone_keeps_no_job_from_ending(target, file):
    job = created(target, file)
    until(job, "load_run")
    run_sql(target.address, "DROP TABLE t")
    assert run(job).status == Status.FAILED
    assert written_down(target) == []


def test_target_restore_brings_back_keys_of_an_unknown_import(target, file, capsys):
    before = structure(target)
    job = created(target, file)
    until(job, "load_run")
    call_command("target", "restore", target.name)
    assert "has not ended" in capsys.readouterr().out
    assert keys(target) == set()
    job.delete()
    findings = {each["name"]: each for each in targets.check(target)}["arrangements"]
    assert (findings["status"], "ADD KEY `long_one`" in findings["fix"]) == ("warn", True)
    call_command("target", "restore", target.name)
    assert "2 indexes put back" in capsys.readouterr().out
    assert structure(target) == before
    assert {each["name"]: each for each in targets.check(target)}["arrangements"]["status"] == "ok"


def test_the_new_table_of_mode_replace_has_the_keys_that_the_old_one_has_at_the_end(target, file):
    job = created(target, file, mode="replace")
    until(job, "load_run")
    with connect(target.address) as connection:
        staged = indexes.show_create(connection, target.database, job.plan.table)
        execute(connection, "ALTER TABLE t ADD KEY since (word(5))")
    assert indexes.key_definitions(staged) == ()
    before = structure(target)
    ended = run(job)
    assert (ended.status, ended.index_seconds > 0) == (Status.SUCCEEDED, True)
    assert structure(target) == before


def test_mode_replace_fails_rather_than_lose_a_key_that_refuses_rows(target, file):
    job = created(target, file, mode="replace")
    until(job, "finish")
    run_sql(target.address, "ALTER TABLE t ADD UNIQUE KEY since (word(5), n)")
    before = structure(target)
    ended = run(job)
    assert (ended.status, ended.leftover) == (Status.FAILED, False)
    assert "has changed since the import was planned" in ended.problem["what"]
    assert structure(target) == before
    commands.retry(job.pk)
    assert run(job).status == Status.SUCCEEDED
    assert structure(target) == before


def test_rows_that_violate_a_foreign_key_fail_the_import_until_corrected(target, file):
    run_sql(
        target.address,
        "CREATE TABLE parent (n INT PRIMARY KEY)",
        f"INSERT INTO parent SELECT * FROM ({numbers(ROWS - 2)}) known",
        "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (n) REFERENCES parent (n)",
    )
    before = structure(target)
    job = run(created(target, file, foreign_keys="defer"))
    assert (job.status, job.problem["bad_rows"]) == (Status.FAILED, 2)
    assert f"({ROWS - 2}), ({ROWS - 1})" in job.problem["what"]
    assert structure(target) == before
    commands.retry(job.pk)
    assert run(job).status == Status.FAILED
    run_sql(target.address, f"INSERT INTO parent VALUES ({ROWS - 2}), ({ROWS - 1})")
    commands.retry(job.pk)
    assert run(job).status == Status.SUCCEEDED


def test_target_restore_names_rows_that_violate_a_foreign_key(target, file, capsys):
    run_sql(
        target.address,
        "CREATE TABLE parent (n INT PRIMARY KEY)",
        "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (n) REFERENCES parent (n)",
    )
    before = structure(target)
    job = created(target, file, foreign_keys="defer")
    until(job, "restore")
    job.delete()
    call_command("target", "restore", target.name)
    said = capsys.readouterr().out
    assert "1 foreign key put back" in said
    assert f"{ROWS:,} rows have a n that `parent` does not have" in said
    assert (structure(target), written_down(target)) == (before, [])


def numbers(count: int) -> str:
    """A query that returns the numbers from 0 on."""
    digits = " UNION ALL ".join(f"SELECT {n} d" for n in range(1, 10))
    places = " JOIN ".join(f"(SELECT 0 d UNION ALL {digits}) p{n}" for n in range(4))
    return f"SELECT p0.d + 10 * p1.d + 100 * p2.d + 1000 * p3.d n FROM {places} HAVING n < {count}"


def test_auto_leaves_the_keys_of_a_small_import_on_and_says_why(target, file):
    before = structure(target)
    job = created(target, file, indexes="auto")
    assert "small" in next(each.why for each in job.plan.reasons if each.option == "indexes")
    until(job, "load_run")
    assert structure(target) == before
    run(job)
