"""A finishing step that the server completes while its import, whose worker lost the connection, is cleaned up."""

from pathlib import Path

import pytest

from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.finish import FinishingStep, finish
from importer.engine.mysql.connection import Connection, execute
from importer.engine.plan.options import Options
from importer.engine.schema.table import existing_tables
from importer.engine.target import staging
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.preparation.request import NewTableRequest
from importer.sources import uploads
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, now, run, until
from tests.importer.word_file import word_file

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 500
Status = ImportJob.Status

TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20))",
    "INSERT INTO t VALUES (-1, '')",
)


def before_finishing(target: Target, folder: Path, mode: str) -> ImportJob:
    """An import of which all rows are staged."""
    source = uploads.register(word_file(folder / "words.csv", range(ROWS)))
    options, new = Options(mode=mode), NewTableRequest() if mode == "create" else None
    table = "made" if mode == "create" else "t"
    job = import_of(source, target, table, options=options, new_table=new)
    until(job, "finish")
    return now(job)


def count(target: Target, table: str) -> int:
    return int(rows_of(target.address, f"SELECT COUNT(*) FROM {table}")[0][0])


@pytest.mark.parametrize("mode", ["replace", "create", "atomic"])
def test_of_a_cancelled_import_is_recorded(target: Target, tmp_path: Path, mode: str, monkeypatch):
    job = before_finishing(target, tmp_path, mode)
    commands.cancel(job.pk)
    drop = staging.drop

    def drop_a_moment_later(connection: Connection, schema: str, key: str) -> bool:
        if mode == "atomic":
            finish(FinishingStep(str(job.key), 1, target.address, job.plan, ROWS), LoadCallbacks())
        elif existing_tables(connection, schema, [staging.staging_name(key)]):
            execute(connection, job.plan.staged.finish)
        return drop(connection, schema, key)

    monkeypatch.setattr(staging, "drop", drop_a_moment_later)
    job = run(job)
    assert (job.status, job.problem, job.balanced, job.leftover) == (Status.SUCCEEDED, {}, True, False)
    assert (job.loaded_rows, count(target, job.table_name)) == (ROWS, ROWS + (mode == "atomic"))
    assert bool(job.kept_table) == (mode == "replace")


def test_a_table_that_somebody_else_made_alike_is_not_taken_for_that_of_a_cancelled_import(
    target: Target, tmp_path: Path
):
    job = before_finishing(target, tmp_path, "create")
    run_sql(target.address, f"CREATE TABLE made LIKE {staging.staging_name(str(job.key))}")
    commands.cancel(job.pk)
    job = run(job)
    assert (job.status, job.loaded_rows, count(target, "made")) == (Status.CANCELLED, 0, 0)
