"""Keys off an empty table for the time of an import, with the worker's steps taken one by one in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from importer import arranging, jobs, sources, work
from importer.engine import arrangement, indexes
from importer.engine.connection import connect, execute, fetch_all
from importer.engine.errors import Problem
from importer.engine.options import Options
from importer.models import ImportJob, Target
from importer.preparation import prepare
from tests.importer.steps import run, take
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 2000
Status = ImportJob.Status


@pytest.fixture
def target(database, transactional_db) -> Target:
    with connect(database) as connection:
        execute(
            connection,
            "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(200), KEY long_one (word(100) DESC) COMMENT 'it''s, `so`',"
            " UNIQUE KEY both_ (word, n), KEY `odd``, (n)` (n, word(3)), FULLTEXT KEY f (word))",
        )
    return saved_target(database, "t")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "words.csv"
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    return path


def created(target: Target, file: Path, **options) -> ImportJob:
    options = Options(**{"chunk_bytes": 8000, "parallelism": 2, "indexes": "defer", **options})
    return jobs.create(prepare(sources.register(file), target, "t", options=options))


def structure(target: Target) -> str:
    with connect(target.address) as connection:
        return indexes.show_create(connection, target.database, "t")


def keys(target: Target) -> set[str]:
    return {each.name for each in indexes.definitions(structure(target))}


def written_down(target: Target) -> list[str]:
    with connect(target.address) as connection:
        return [each.job for each in arrangement.written_down(connection)]


def until(job: ImportJob, task: str) -> None:
    """Take steps until the job is about to take that one."""
    while not (steps := jobs.advance(job.pk)) or steps[0].task != task:
        assert steps
        for step in steps:
            take(step)


def raising(error: BaseException) -> Callable:
    def fail(*_: object) -> None:
        raise error

    return fail


def now(job: ImportJob) -> ImportJob:
    return ImportJob.objects.get(pk=job.pk)


def test_keys_are_off_while_rows_come_and_back_at_the_end(target, file):
    before = structure(target)
    job = created(target, file)
    until(job, "load_run")
    assert keys(target) == set()
    assert written_down(target) == [str(job.key)]
    ended = run(job)
    assert (ended.status, ended.balanced, ended.unrestored) == (Status.SUCCEEDED, True, False)
    assert jobs.report(ended)["seconds"]["index"] > 0
    assert structure(target) == before
    assert written_down(target) == []


@pytest.mark.parametrize("moment", ["arrange", "load_run"])
def test_a_cancel_puts_them_back_before_the_job_ends(target, file, moment):
    before = structure(target)
    job = created(target, file)
    until(job, moment)
    jobs.cancel(job.pk)
    assert run(job).status == Status.CANCELLED
    assert structure(target) == before
    assert written_down(target) == []


def test_a_failure_puts_them_back_before_the_job_ends(target, file):
    before = structure(target)
    file.write_text(file.read_text() + "no number,x\n")
    job = run(created(target, file))
    assert job.status == Status.FAILED
    assert structure(target) == before


def test_a_retry_leaves_the_keys_of_a_table_with_rows_alone(target, file, monkeypatch):
    before = structure(target)
    job = created(target, file)
    monkeypatch.setattr(work, "_missing", raising(Problem("Verified badly.")))
    assert run(job).status == Status.FAILED
    monkeypatch.undo()
    jobs.retry(job.pk)
    assert now(job).plan.arrangement is None
    assert run(job).status == Status.SUCCEEDED
    assert structure(target) == before


@pytest.mark.parametrize("after", ["record_written", "arrange"])
def test_a_worker_that_dies_while_it_takes_them_off(target, file, after, monkeypatch):
    before = structure(target)
    job = created(target, file)
    until(job, "arrange")
    where, name = (arrangement, "write_down") if after == "record_written" else (jobs, "record_arranged")
    monkeypatch.setattr(where, name, raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        arranging.arrange_job(job.pk, lambda *_: None)
    monkeypatch.undo()
    assert now(job).unrestored
    ImportJob.objects.filter(pk=job.pk).update(step_lease=None, step="")
    assert run(job).status == Status.SUCCEEDED
    assert structure(target) == before


def test_rows_that_came_meanwhile_keep_the_keys_on(target, file):
    before = structure(target)
    job = created(target, file)
    with connect(target.address) as connection:
        execute(connection, "INSERT INTO t VALUES (-1, 'somebody')")
    until(job, "load_run")
    assert structure(target) == before
    assert "rows have come" in now(job).plan.reasons[-1].why
    assert run(job).status == Status.SUCCEEDED


def test_a_table_that_somebody_holds_keeps_its_keys(target, file, monkeypatch):
    monkeypatch.setattr(arrangement, "LOCK_WAIT", 1)
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


def test_what_cannot_be_put_back_now_is_tried_until_it_can(target, file, monkeypatch):
    monkeypatch.setattr(arrangement, "LOCK_WAIT_TO_PUT_BACK", 1)
    before = structure(target)
    job = created(target, file)
    until(job, "restore")
    with connect(target.address) as holder:
        execute(holder, "START TRANSACTION")
        fetch_all(holder, "SELECT * FROM t LIMIT 1")
        for _ in range(2):
            arranging.restore_job(job.pk, lambda *_: None)
            assert now(job).status == Status.INDEXING
            assert "lock" in now(job).obstacle["what"]
        execute(holder, "COMMIT")
    ImportJob.objects.filter(pk=job.pk).update(step_lease=None, step="")
    ended = run(job)
    assert (ended.status, ended.obstacle) == (Status.SUCCEEDED, {})
    assert structure(target) == before


def test_a_table_that_is_gone_keeps_no_job_from_ending(target, file):
    job = created(target, file)
    until(job, "load_run")
    with connect(target.address) as connection:
        execute(connection, "DROP TABLE t")
    assert run(job).status == Status.FAILED
    assert written_down(target) == []
