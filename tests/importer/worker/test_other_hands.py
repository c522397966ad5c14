"""Other sessions that empty, exchange or change the target's table while it loads, on both servers."""

from pathlib import Path

import pytest

from importer.engine import failpoints
from importer.engine.load import ledger
from importer.jobs.actions.commands import retry
from importer.jobs.report import report
from importer.management.terminal.report_text import problem_and_ways_out
from importer.models import ImportJob, Target
from importer.worker import load_chunks
from tests.engine.loads import run_sql
from tests.importer.steps import created, queued, run, until
from tests.targets import count_rows

pytestmark = [pytest.mark.usefixtures("no_workers"), pytest.mark.both_servers]

ROWS = 3000
Status = ImportJob.Status
TABLES = ("CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20), KEY (word))",)
EMPTIED = {
    "truncated": ["TRUNCATE TABLE t"],
    "exchanged": ["CREATE TABLE u LIKE t", "RENAME TABLE t TO old, u TO t"],
    "created again": ["CREATE TABLE u LIKE t", "DROP TABLE t", "RENAME TABLE u TO t"],
}


def with_one_run_loaded(job: ImportJob) -> None:
    until(job, "load_run")
    load_chunks.load(queued(job)[0].id, lambda _job, _later: None)


MOMENTS = {
    "after a run of chunks": with_one_run_loaded,
    "before the keys are built": lambda job: until(job, "restore"),
    "before the verification": lambda job: until(job, "verify"),
}


@pytest.mark.one_of("hands")
@pytest.mark.parametrize("hands", EMPTIED)
@pytest.mark.parametrize(
    ("moment", "indexes", "rows_before", "mode"),
    [
        ("after a run of chunks", "defer", 0, "append"),
        ("after a run of chunks", "keep", 1, "append"),
        ("before the keys are built", "defer", 0, "append"),
        ("before the verification", "keep", 0, "append"),
        ("before the verification", "keep", 1, "append"),
        ("before the verification", "keep", 1, "upsert"),
    ],
)
def test_an_import_fails_if_its_table_lost_its_rows(
    target: Target, file: Path, hands: str, moment: str, indexes: str, rows_before: int, mode: str
):
    """A retry fails, too."""
    if rows_before:
        run_sql(target.address, "INSERT INTO t VALUES (-1, 'old')")
    job = created(target, file, indexes=indexes, mode=mode)
    MOMENTS[moment](job)
    run_sql(target.address, *EMPTIED[hands])
    left = count_rows(target)
    for _ in range(2):
        job = run(job)
        assert (job.status, job.balanced) == (Status.FAILED, False), job.outside_changes_json
        assert f"t was emptied, exchanged or created again during the import: it has {left} rows" in job.problem["what"]
        assert count_rows(target) == left
        said = " ".join(problem_and_ways_out(report(job), "millrace"))
        recorded = f"{job.loaded_rows:,} rows were recorded as loaded. How many of them are in the table now"
        assert (recorded in said) == (mode == "append")
        assert "of other chunks" not in said
        retry(job.pk)


@pytest.mark.parametrize("hands", ["OPTIMIZE TABLE t", "ALTER TABLE t COMMENT 'x'", "CREATE INDEX more ON t (n, word)"])
def test_an_import_survives_a_table_that_keeps_its_rows(target: Target, file: Path, hands: str):
    job = created(target, file, indexes="keep")
    with_one_run_loaded(job)
    run_sql(target.address, hands)
    job = run(job)
    assert (job.status, job.loaded_rows, job.outside_changes_json) == (Status.SUCCEEDED, ROWS, [])


@pytest.mark.parametrize(("hands", "more"), [("DELETE FROM t WHERE n < 2", -2), ("INSERT INTO t VALUES (-1, 'x')", 1)])
def test_rows_of_others_are_told(target: Target, file: Path, hands: str, more: int):
    job = created(target, file)
    until(job, "verify")
    run_sql(target.address, hands)
    job = run(job)
    assert (job.status, job.balanced) == (Status.SUCCEEDED, True)
    (change,) = report(job)["outside_changes"]
    assert (change["of"], change["name"], change["kind"], change["rows"]) == ("table", "t", "rows", more)


@pytest.mark.parametrize("hands", EMPTIED)
def test_a_replacement_fails_if_the_new_table_lost_its_rows(target: Target, file: Path, hands: str):
    """A retry fails, too."""
    run_sql(target.address, "INSERT INTO t VALUES (-1, 'old')")
    job = created(target, file, mode="replace")
    until(job, "verify")
    run_sql(target.address, *EMPTIED[hands])
    for _ in range(2):
        job = run(job)
        assert (job.status, count_rows(target)) == (Status.FAILED, 0)
        assert f"it has 0 rows, and {ROWS:,} were committed" in job.problem["what"]
        retry(job.pk)


def test_rows_that_others_delete_from_a_new_table_are_told(target: Target, file: Path):
    job = created(target, file, mode="replace")
    until(job, "verify")
    run_sql(target.address, "DELETE FROM t WHERE n < 2")
    job = run(job)
    assert (job.status, job.balanced) == (Status.SUCCEEDED, True)
    assert [(each["name"], each["kind"], each["rows"]) for each in job.outside_changes_json] == [("t", "rows", -2)]


def test_a_replacement_is_recorded_although_the_ledger_was_dropped(
    target: Target, file: Path, monkeypatch: pytest.MonkeyPatch
):
    """The tables prove it. Otherwise the import would not end."""
    job = created(target, file, mode="replace")
    until(job, "finish")
    monkeypatch.setattr(
        failpoints,
        "reach",
        lambda point: point == "swap.renamed" and run_sql(target.address, f"DROP TABLE {ledger.TABLE}"),
    )
    job = run(job)
    assert (job.status, job.outside_changes_json, count_rows(target)) == (Status.SUCCEEDED, [], ROWS)
