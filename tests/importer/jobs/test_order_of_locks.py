"""What a worker does with chunks that it holds locks the job's row first: else two workers end in a deadlock."""

from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from bench.hosts.simulation import make_import
from importer.engine.errors import Problem
from importer.jobs.steps import chunk_leases
from importer.jobs.steps.lease_recovery import expire_run, expired_runs
from importer.models import Chunk, Target
from tests.people import admin

pytestmark = pytest.mark.django_db

ENDS: dict[str, Callable[[chunk_leases.ChunkRun], object]] = {
    "failed": lambda run: chunk_leases.record_failed(run, run.chunks[0], Problem("no")),
    "its worker died": lambda _: [expire_run(run) for run in expired_runs()],
}
CHANGES: dict[str, Callable[[chunk_leases.ChunkRun], object]] = {
    "renew": lambda run: chunk_leases.renew_run(run, 1),
    "release": lambda run: chunk_leases.release_chunks(run, run.chunks),
    "cancelled": lambda run: chunk_leases.record_cancelled(run, run.chunks[0]),
    "failed": lambda run: chunk_leases.record_failed(run, run.chunks[0], Problem("no")),
    "to be tried again": lambda run: chunk_leases.record_failed(run, run.chunks[0], Problem("no", retryable=True)),
    "fetch": lambda run: chunk_leases.extend_run(run, run.chunks[0].number, 1),
}


def claimed() -> chunk_leases.ChunkRun:
    """A run of an import."""
    target = Target.objects.create(name="shop", host="127.0.0.1", user="u", database="s")
    # More chunks than a run takes, so that some are left to fetch.
    job = make_import(target, admin("ann"), "t", chunks=40, parallelism=1)
    Chunk.objects.filter(job=job, number=0).update(status=Chunk.Status.QUEUED)
    run = chunk_leases.claim_run(job.chunks.get(number=0).pk)
    assert run
    return run


@pytest.mark.parametrize("change", CHANGES)
def test_the_job_is_locked_before_its_chunks(change: str):
    run = claimed()
    with CaptureQueriesContext(connection) as captured:
        CHANGES[change](run)
    statements = [each["sql"] for each in captured]
    changed = next(number for number, sql in enumerate(statements) if sql.startswith('UPDATE "importer_chunk"'))
    begun = max(number for number, sql in enumerate(statements[:changed]) if sql.startswith(("BEGIN", "SAVEPOINT")))
    locked = [sql for sql in statements[begun:changed] if 'FROM "importer_importjob"' in sql]
    assert locked, statements


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the trigger is one of SQLite")
@pytest.mark.parametrize("end", ENDS)
def test_no_chunk_fails_without_its_job(end: str, settings):
    """The application's database refuses the change of the job: another attempt fails both."""
    settings.MAX_DEATHS = 1
    run = claimed()
    Chunk.objects.filter(run=run.key).update(lease="2000-01-01T00:00Z")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER disk_is_full BEFORE UPDATE ON importer_importjob WHEN NEW.status = 'failing'"
            " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
    with pytest.raises(DatabaseError, match="the disk is full"):
        ENDS[end](run)
    assert set(Chunk.objects.filter(run=run.key).values_list("status", flat=True)) == {Chunk.Status.LOADING}
