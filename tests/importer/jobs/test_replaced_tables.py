"""Imports into a table that another import replaces in between: their retries, and the restore of the old table."""

from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.steps.table_backup import imports_since_restore, restore_backup
from importer.models import ImportJob, Target
from tests.importer.steps import import_of, now, run
from tests.importer.word_file import word_file
from tests.targets import count_rows, on_one_server

pytestmark = [pytest.mark.usefixtures("no_workers"), on_one_server]

ROWS = 2000
Status = ImportJob.Status
GONE = "went away with the old one"
SINCE = "has worked on the table since"
TABLES = ("CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20))",)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A file of which one row near the end is too long for the table."""
    path = word_file(tmp_path / "bad.csv", range(ROWS))
    path.write_text(path.read_text().replace("word 1900\n", "a word that is much too long\n"))
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return word_file(tmp_path / "good.csv", range(ROWS, ROWS + 100))


def created(target: Target, file: Path, mode: str) -> ImportJob:
    options = Options(mode=mode, chunk_bytes=8000, parallelism=1)
    return import_of(file, target, options=options)


def failed(target: Target, file: Path, mode: str) -> ImportJob:
    job = run(created(target, file, mode))
    assert job.status == Status.FAILED
    assert (0 < count_rows(target) < ROWS) == (mode == "append")
    return job


def test_an_append_whose_rows_went_with_the_table_is_not_continued(target: Target, bad: Path, good: Path):
    job = failed(target, bad, "append")
    replacing = run(created(target, good, "replace"))
    with pytest.raises(Problem, match=f"Import {replacing.pk} has put .* {GONE}"):
        commands.retry(job.pk, leave_out=True)
    assert (now(job).status, count_rows(target)) == (Status.FAILED, 100)
    restore_backup(replacing.pk)
    commands.retry(job.pk, leave_out=True)
    assert run(job).status == Status.SUCCEEDED
    assert count_rows(target) == ROWS - 1


def test_a_retry_that_waits_while_the_table_is_replaced_fails(target: Target, bad: Path, good: Path):
    job, replacing = failed(target, bad, "append"), created(target, good, "replace")
    lifecycle.advance(replacing.pk)
    commands.retry(job.pk, leave_out=True)
    assert now(job).status == Status.WAITING
    assert run(replacing).status == Status.SUCCEEDED
    job = run(job)
    assert (job.status, job.table_claim) == (Status.FAILED, None)
    assert GONE in job.problem["what"]
    assert count_rows(target) == 100


def test_a_retry_of_what_began_after_the_replacement_continues(target: Target, bad: Path, good: Path):
    job = created(target, bad, "append")
    lifecycle.advance(job.pk)
    commands.cancel(job.pk)
    assert run(job).status == Status.CANCELLED
    assert run(created(target, good, "replace")).status == Status.SUCCEEDED
    commands.retry(job.pk)
    assert run(job).status == Status.FAILED
    commands.retry(job.pk, leave_out=True)
    assert run(job).status == Status.SUCCEEDED
    assert count_rows(target) == 100 + ROWS - 1


def test_a_replacement_that_was_undone_is_not_verified_again(target: Target, good: Path):
    job = created(target, good, "replace")
    run(job)
    with connect(target.address) as connection:
        execute(connection, f"DELETE FROM {ledger.TABLE} WHERE job = %s", (str(job.key),))
    ImportJob.objects.filter(pk=job.pk).update(status=Status.VERIFYING)
    assert run(job).status == Status.FAILED
    restore_backup(job.pk)
    with pytest.raises(Problem, match="its rows are no longer in"):
        commands.retry(job.pk)
    assert now(job).status == Status.FAILED


@pytest.mark.parametrize("mode", ["append", "atomic"])
def test_a_replacement_is_not_undone_after_a_retry_of_an_earlier_import(
    target: Target, bad: Path, good: Path, mode: str
):
    job = created(target, bad, mode)
    lifecycle.advance(job.pk)
    commands.cancel(job.pk)
    run(job)
    replacing = run(created(target, good, "replace"))
    commands.retry(job.pk)
    assert run(job).status == Status.FAILED
    with pytest.raises(Problem, match=f"Import {job.pk} {SINCE}"):
        restore_backup(replacing.pk)
    # Also when another retry has not got the table yet.
    other = created(target, good, "append")
    lifecycle.advance(other.pk)
    commands.retry(job.pk, leave_out=True)
    for each in (job, other):
        commands.cancel(each.pk)
        run(each)
    ImportJob.objects.filter(pk=other.pk).delete()
    with pytest.raises(Problem, match=f"Import {job.pk} {SINCE}"):
        restore_backup(replacing.pk)


def test_a_replacement_is_not_undone_after_a_retry_that_only_verified_it(target: Target, good: Path, tmp_path: Path):
    replacing = run(created(target, good, "replace"))
    later = run(created(target, word_file(tmp_path / "later.csv", range(10)), "append"))
    ImportJob.objects.filter(pk=replacing.pk).update(status=Status.FAILED)
    commands.retry(replacing.pk)
    assert run(replacing).status == Status.SUCCEEDED
    with pytest.raises(Problem, match=f"Import {later.pk} {SINCE}"):
        restore_backup(replacing.pk)
    assert count_rows(target) == 110


def test_a_retry_after_the_restore_is_named_as_one_since_then(target: Target, bad: Path, good: Path):
    job = failed(target, bad, "atomic")
    replacing = run(created(target, good, "replace"))
    restore_backup(replacing.pk)
    commands.retry(job.pk, leave_out=True)
    assert run(job).status == Status.SUCCEEDED
    assert imports_since_restore(now(replacing)) == [job.pk]
