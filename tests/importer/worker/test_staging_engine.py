"""Imports that replace a MyISAM table, with the worker's steps taken one by one."""

from pathlib import Path

import pytest

from importer.engine.mysql.connection import connect
from importer.engine.plan.options import Options
from importer.engine.schema.table import read_table
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, queued, run, take

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20), KEY (word)) ENGINE=MyISAM",
    "INSERT INTO t VALUES (1, 'old')",
)


def created(target: Target, folder: Path, text: str) -> ImportJob:
    path = folder / "file.csv"
    path.write_text(text)
    options = Options(mode="replace", chunk_bytes=50)
    return import_of(path, target, options=options)


def tables(target: Target) -> set[str]:
    return {row[0] for row in rows_of(target.address, "SHOW TABLES")} - {"millrace_ledger"}


GOOD = "id,word\n" + "".join(f"{n},w{n}\n" for n in range(40))


def test_rows_arrive_and_the_engine_stays(target, tmp_path):
    job = run(created(target, tmp_path, GOOD))
    assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
    assert job.chunks.count() > 3
    assert rows_of(target.address, "SELECT COUNT(*), MAX(id) FROM t") == [(40, 39)]
    with connect(target.address) as connection:
        assert read_table(connection, target.database, "t").engine == "MyISAM"


def test_a_bad_row_late_in_the_file_drops_what_is_staged(target, tmp_path):
    job = run(created(target, tmp_path, GOOD + "7,twice\n"))
    assert job.status == Status.FAILED
    assert "Duplicate" in str(job.problem) or "key" in str(job.problem)
    assert (rows_of(target.address), tables(target)) == ([(1, "old")], {"t"})


def test_a_worker_killed_in_a_chunk_fails_the_import_and_a_retry_starts_over(target, tmp_path):
    job = created(target, tmp_path, GOOD)
    lifecycle.advance(job.pk)
    while not (loading := [step for step in queued(job) if step.task == "load_run"]):
        for step in queued(job):
            take(step)
        lifecycle.advance(job.pk)
    job.refresh_from_db()
    run_sql(target.address, f"INSERT INTO {job.plan.table} VALUES (1, 'w1')")
    assert len(loading) == 1
    job = run(job)
    assert (job.status, "cannot roll back" in job.problem["what"]) == (Status.FAILED, True)
    assert (rows_of(target.address), tables(target)) == ([(1, "old")], {"t"})
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 40)
    assert rows_of(target.address, "SELECT COUNT(*) FROM t") == [(40,)]


def test_chunks_of_a_nontransactional_staging_table_load_one_at_a_time(target, tmp_path):
    job = created(target, tmp_path, GOOD)
    with pytest.raises(Exception, match="Only one session"):
        commands.set_parallelism(job.pk, 2)
