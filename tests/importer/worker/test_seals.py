"""Chunks that a worker has committed and not recorded before it was killed, and whose ledger rows somebody deletes."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from importer.engine.load import verify
from importer.engine.load.ledger import FIRST_SEAL, TABLE
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.steps import chunk_leases, lease_recovery
from importer.models import Chunk, ImportJob, Target
from importer.preparation.prepare import replan
from importer.worker import load_chunks
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, run, take

pytestmark = [pytest.mark.usefixtures("no_workers"), pytest.mark.both_servers]

Status = ImportJob.Status

TABLES = ("CREATE TABLE t (n INT, word VARCHAR(20))",)
ROWS = [(1,), (2,), (3,)]


@pytest.fixture
def job(request: pytest.FixtureRequest, target: Target, tmp_path: Path) -> ImportJob:
    """An import of three chunks, each committed by itself, into a table that may have rows."""
    run_sql(target.address, *getattr(request, "param", ()))
    path = tmp_path / "t.csv"
    path.write_text("n,word\n" + "".join(f"{n},word\n" for (n,) in ROWS))
    return import_of(path, target, options=Options(parallelism=1, commit_rows=1))


def killed_before_the_record(job: ImportJob) -> int:
    """All chunks are committed, none is recorded, and the leases have expired. The seal that counts them."""
    [scan] = lifecycle.advance(job.pk)
    take(scan)
    [first] = lifecycle.advance(job.pk)
    with pytest.MonkeyPatch.context() as killed:
        killed.setattr(chunk_leases, "record_loaded", lambda *_: None)
        take(first)
    job.chunks.update(lease=datetime(2000, 1, 1, tzinfo=UTC))
    for each in lease_recovery.expired_runs():
        lease_recovery.expire_run(each)
    assert set(job.chunks.values_list("status", flat=True)) == {Chunk.Status.PENDING}
    [(seal,)] = rows_of(job.target.address, f"SELECT DISTINCT seal FROM {TABLE}")
    return int(seal)


def another_begins(job: ImportJob) -> None:
    """Another worker takes over the chunks, and is killed once its own seal is recorded."""
    [first] = lifecycle.advance(job.pk)
    with pytest.MonkeyPatch.context() as killed:
        killed.setattr(load_chunks.RunLoader, "_start_bookkeeping", lambda *_: False)
        killed.setattr(load_chunks, "TASK_SECONDS", 0.0)  # It takes up no run after the first one.
        take(first)
    assert rows_of(job.target.address, f"SELECT COUNT(*) FROM {TABLE} WHERE chunk >= {FIRST_SEAL}") == [(2,)]


def delete(target: Target, seal: int) -> None:
    """Delete the older rows of the ledger: a seal, and all that it counts."""
    run_sql(target.address, f"DELETE FROM {TABLE} WHERE seal = {seal}")


def stored(target: Target) -> list[tuple[int]]:
    return rows_of(target.address, "SELECT n FROM t WHERE n > 0 ORDER BY n")


def failed(job: ImportJob) -> None:
    job = run(job)
    assert (job.status, job.problem.get("retryable")) == (Status.FAILED, False)
    assert "Somebody has changed the table millrace_ledger" in job.problem["what"]


@pytest.mark.parametrize("job", [(), ("INSERT INTO t VALUES (0, 'before')",)], ids=["empty", "filled"], indirect=True)
def test_they_do_not_load_again_although_another_connection_has_taken_them_over(
    job: ImportJob, target: Target, monkeypatch: pytest.MonkeyPatch
):
    # As if the server had been running for a minute before the import.
    monkeypatch.setattr(verify, "UPTIME_MARGIN", -60)
    seal = killed_before_the_record(job)
    another_begins(job)
    delete(target, seal)
    failed(job)
    assert stored(target) == ROWS
    commands.retry(job.pk)
    failed(job)
    assert stored(target) == ROWS


def test_the_verification_finds_it_where_it_comes_after_the_other_connection_has_looked(
    job: ImportJob, target: Target, monkeypatch: pytest.MonkeyPatch
):
    def then_delete(*given: object) -> bool:
        held = record_seal(*given)
        delete(target, seal)
        return held

    seal, record_seal = killed_before_the_record(job), chunk_leases.record_seal
    monkeypatch.setattr(chunk_leases, "record_seal", then_delete)
    failed(job)
    assert stored(target) == sorted(2 * ROWS)


def test_without_other_hands_they_are_found(job: ImportJob, target: Target):
    killed_before_the_record(job)
    another_begins(job)
    assert run(job).status == Status.SUCCEEDED
    assert stored(target) == ROWS


def test_a_plan_for_the_rest_keeps_the_identity_of_the_first_server(job: ImportJob):
    """Else a retry on the server that took its place would take what a fail-over has lost for the work of hands."""
    vars(job).update(plan_json={**job.plan_json, "server": "the first one"})
    assert replan(job, uuid4()).server == "the first one"
