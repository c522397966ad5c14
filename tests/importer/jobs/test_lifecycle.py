"""The life of a job, on real servers, with the worker's steps taken one by one in this process."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from importer.engine.errors import Problem
from importer.engine.load import ledger, verify
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.engine.source.chunks.scanner import ChunkRange
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.steps.chunk_leases import claim_run
from importer.jobs.steps.scanning import add_chunks, claim_scan
from importer.models import Chunk, ImportJob, Target
from importer.queue import Message
from importer.worker import heartbeat, scan, shutdown, sweep
from tests.fail_over import forget
from tests.importer.steps import import_of, run, take, until
from tests.stack import wait_until
from tests.targets import count_rows, on_one_server

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 3000
Status = ImportJob.Status
TABLES = ("CREATE TABLE t (n INT, word VARCHAR(20))",)


def created(target: Target, file: Path, chunk_bytes: int = 8000, parallelism: int = 2, **more) -> ImportJob:
    options = Options(chunk_bytes=chunk_bytes, parallelism=parallelism, **more)
    return import_of(file, target, options=options)


def test_a_job_runs_to_its_end_and_balances(target: Target, file: Path):
    job = run(created(target, file))
    assert (job.status, job.balanced, job.loaded_rows) == (Status.SUCCEEDED, True, ROWS)
    assert job.chunks.count() > 3
    assert job.committed_bytes + job.data_offset == file.stat().st_size
    assert job.table_claim is None
    assert count_rows(target) == ROWS


@on_one_server
def test_second_job_waits_for_the_table(target: Target, file: Path):
    first, second = created(target, file), created(target, file)
    lifecycle.advance(first.pk)
    assert lifecycle.advance(second.pk) == []
    assert ImportJob.objects.get(pk=second.pk).status == Status.WAITING
    commands.cancel(first.pk)
    lifecycle.advance(first.pk)
    assert run(second).status == Status.SUCCEEDED


@on_one_server
def test_window_is_the_parallelism_and_the_targets_ceiling(target: Target, file: Path):
    job = created(target, file, chunk_bytes=2000, parallelism=4)
    [scan] = lifecycle.advance(job.pk)
    take(scan)
    assert len(lifecycle.advance(job.pk)) == 4
    assert lifecycle.advance(job.pk) == []
    commands.set_parallelism(job.pk, 6)
    assert job.chunks.filter(status=Chunk.Status.QUEUED).count() == 6
    Target.objects.filter(pk=target.pk).update(ceiling=7)
    commands.set_parallelism(job.pk, 60)
    assert job.chunks.filter(status=Chunk.Status.QUEUED).count() == 7


@on_one_server
def test_a_doubled_message_finds_nothing_to_do(target: Target, file: Path):
    job = created(target, file)
    take(lifecycle.advance(job.pk)[0])
    step = lifecycle.advance(job.pk)[0]
    take(step)
    take(step)
    take(Message("scan", job.pk))
    take(Message("verify", job.pk))
    assert run(job).loaded_rows == count_rows(target) == ROWS


def test_failed_job_keeps_other_chunks_and_retry_loads_the_rest(target: Target, file: Path):
    file.write_text(file.read_text().replace("word 2000\n", "a word that is much too long\n"))
    job = run(created(target, file))
    assert job.status == Status.FAILED
    assert job.problem["rows"][0]["line"] == 2002
    assert 0 < job.loaded_rows < ROWS
    assert count_rows(target) == job.loaded_rows
    with connect(target.address) as connection:
        execute(connection, "ALTER TABLE t MODIFY word VARCHAR(40)")
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert count_rows(target) == ROWS


@pytest.mark.parametrize("mode", ["append", "atomic"])
@pytest.mark.parametrize(
    ("stricter", "row"),
    [("n INT", "2500.5,word 2500"), ("n FLOAT", "250012345,word 2500"), ("word CHAR(40)", "2500,x ")],
)
def test_a_retry_checks_each_value_for_the_types_that_the_table_has_now(
    target: Target, file: Path, mode: str, stricter: str, row: str
):
    """The server would change the value silently. The scan of the first attempt found nothing wrong with it."""
    with connect(target.address) as connection:
        execute(connection, "ALTER TABLE t MODIFY n DECIMAL(12, 1)")
    file.write_text(file.read_text().replace("2500,word 2500\n", f"{row}\n"))
    job = created(target, file, parallelism=1, mode=mode, rounding="reject")
    until(job, "load_run")
    commands.cancel(job.pk)
    assert run(job).status == Status.CANCELLED
    assert not job.chunks.filter(suspect=True).exists()
    with connect(target.address) as connection:
        execute(connection, f"ALTER TABLE t MODIFY {stricter}")
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.problem["rows"][0]["line"]) == (Status.FAILED, 2502)
    assert (count_rows(target) == 0) == (mode == "atomic")


def test_chunk_that_a_fail_over_lost_is_loaded_again(target: Target, file: Path):
    job = created(target, file)
    until(job, "verify")
    lost = job.chunks.get(number=1)
    with connect(target.address) as connection:
        forget(connection, str(job.key), "chunk = 1")
        first = lost.first_line - 2
        execute(connection, "DELETE FROM t WHERE n >= %s AND n < %s", (first, first + lost.rows))
    assert count_rows(target) == ROWS - lost.rows
    take(Message("verify", job.pk))
    assert ImportJob.objects.get(pk=job.pk).status == Status.LOADING
    assert run(job).status == Status.SUCCEEDED
    assert count_rows(target) == ROWS


def loaded(target: Target, file: Path, rows_before: int) -> ImportJob:
    """A job whose chunks are all committed, in a table that had rows before."""
    with connect(target.address) as connection:
        execute(connection, "INSERT INTO t SELECT seq, 'old' FROM (SELECT 1 AS seq) AS one LIMIT %s", (rows_before,))
        execute(connection, "COMMIT")
    job = created(target, file)
    until(job, "verify")
    return job


@pytest.mark.parametrize("rows_before", [0, 1])
@pytest.mark.parametrize("hands", ["chunk % 3 = 1", "chunk > 1", "chunk <> 2"])
def test_chunks_whose_ledger_rows_somebody_deleted_are_not_loaded_again(
    target: Target, file: Path, rows_before: int, hands: str, monkeypatch
):
    """Also not by a retry. The server has run for longer than the import took, as servers do."""
    monkeypatch.setattr(verify, "UPTIME_MARGIN", 0)
    job = loaded(target, file, rows_before)
    with connect(target.address) as connection:
        execute(connection, f"DELETE FROM {ledger.TABLE} WHERE {hands}")
        execute(connection, "COMMIT")
    for _ in range(2):
        job = run(job)
        assert job.status == Status.FAILED
        assert "Somebody has changed the table millrace_ledger during the import" in job.problem["what"]
        assert count_rows(target) == ROWS + rows_before
        commands.retry(job.pk)


def test_a_chunk_that_is_missing_on_another_server_is_loaded_again(target: Target, file: Path):
    """A replica that has taken over has another identity, and may lack the last commits, rows and ledger rows."""
    job = loaded(target, file, 1)
    lost = job.chunks.order_by("-number")[0]
    with connect(target.address) as connection:
        forget(connection, str(job.key), f"chunk = {lost.number}")
        execute(connection, "DELETE FROM t WHERE n >= %s", (lost.first_row - 1,))
        execute(connection, "COMMIT")
    ImportJob.objects.filter(pk=job.pk).update(plan_json={**job.plan_json, "server": "the one before"})
    assert run(job).status == Status.SUCCEEDED
    assert count_rows(target) == ROWS + 1


@on_one_server
@pytest.mark.parametrize("change", [{"step_attempt": 9}, {"status": Status.CANCELLING}])
def test_chunks_are_not_reopened_by_a_worker_that_has_lost_the_step(target: Target, file: Path, change: dict):
    job = created(target, file)
    until(job, "verify")
    claimed = lifecycle.claim_verify(job.pk)
    assert claimed
    ImportJob.objects.filter(pk=job.pk).update(**change)
    lifecycle.reopen(claimed, {1})
    assert set(job.chunks.values_list("status", flat=True)) == {Chunk.Status.LOADED}
    assert ImportJob.objects.get(pk=job.pk).loaded_rows == ROWS


@on_one_server
def test_a_chunk_that_kills_its_workers_fails_the_job(target: Target, file: Path, settings):
    settings.LEASE_SECONDS = 0  # the worker is dead as soon as it has the chunk
    job = created(target, file, parallelism=1)
    take(lifecycle.advance(job.pk)[0])
    for _ in range(settings.MAX_DEATHS):
        [step] = [step for step in lifecycle.advance(job.pk) if step.task == "load_run"]
        assert claim_run(step.id)
        assert job.chunks.get(pk=step.id).worker.startswith(f"{os.getpid()}@")
        sweep.sweep_jobs(lambda _job_id, _later: None)
    job = run(job)
    assert job.status == Status.FAILED
    assert "worker that loaded it died" in job.problem["what"]
    assert count_rows(target) == 0


@on_one_server
@pytest.mark.parametrize("way", ["shorter", "written again", "replaced"])
def test_a_file_that_changed_since_the_plan_fails_the_job(target: Target, file: Path, way: str):
    job, text, seen = created(target, file), file.read_text(), file.stat()
    if way == "replaced":
        file.rename(file.with_name("before"))
    file.write_text(text[:1000] if way == "shorter" else text.replace("word", "w0rd"))
    if way == "replaced":
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    job = run(job)
    assert job.status == Status.FAILED
    assert job.problem["kind"] == "SourceChanged"
    assert count_rows(target) == 0


@on_one_server
def test_a_file_that_is_put_back_as_it_was_is_loaded(target: Target, file: Path):
    job, content = created(target, file), file.read_bytes()
    file.rename(file.with_name("before"))
    file.write_bytes(content)
    assert run(job).status == Status.SUCCEEDED
    assert count_rows(target) == ROWS


@on_one_server
def test_unbalanced_quote_in_the_middle_stops_the_job_and_names_its_line(target: Target, file: Path):
    file.write_text(file.read_text().replace("2500,word", '2500,"word'))
    job = run(created(target, file))
    assert job.status == Status.FAILED
    assert "2,502" in job.problem["where"] or "2502" in job.problem["where"]
    assert count_rows(target) == job.loaded_rows


@on_one_server
@pytest.mark.parametrize("action", [commands.pause, commands.resume, commands.cancel])
def test_an_action_that_the_state_forbids_is_a_problem_and_changes_nothing(target: Target, file: Path, action):
    job = run(created(target, file))
    with pytest.raises(Problem, match="has succeeded and cannot be"):
        action(job.pk)
    assert ImportJob.objects.get(pk=job.pk).status == Status.SUCCEEDED


@on_one_server
def test_retry_of_a_good_job_is_a_problem(target: Target, file: Path):
    job = run(created(target, file))
    with pytest.raises(Problem, match="cannot be retried"):
        commands.retry(job.pk)


@on_one_server
def test_a_scan_continues_where_a_worker_was_shut_down(target: Target, file: Path, monkeypatch):
    job = created(target, file)
    [message] = lifecycle.advance(job.pk)
    monkeypatch.setattr(shutdown, "requested", lambda: True)
    monkeypatch.setattr(scan, "FIRST_BYTES", 1)
    take(message)
    monkeypatch.undo()
    job.refresh_from_db()
    assert (job.scan_finished, job.step, job.chunks.count()) == (False, ImportJob.Step.NONE, 1)
    job = run(job)
    assert (job.status, job.scanned_rows) == (Status.SUCCEEDED, ROWS)
    assert count_rows(target) == ROWS


@on_one_server
def test_the_lease_of_a_scan_is_renewed_while_it_reads_a_chunk(target: Target, file: Path, settings, monkeypatch):
    settings.HEARTBEAT_SECONDS = 0
    monkeypatch.setattr(heartbeat, "CHECK_SECONDS", 0.01)
    job = created(target, file)
    [message] = lifecycle.advance(job.pk)
    lease = ImportJob.objects.filter(pk=job.pk).values_list("step_lease", flat=True)
    find_chunks = scan.scan

    def find_chunks_in_a_large_file(*given: Any, **more: Any) -> Iterator[ChunkRange]:
        begun = lease.get()
        wait_until(lambda: lease.get() > begun, what="a lease that is renewed")
        yield from find_chunks(*given, **more)

    monkeypatch.setattr(scan, "scan", find_chunks_in_a_large_file)
    take(message)
    job.refresh_from_db()
    assert (job.scan_finished, job.scanned_rows, job.step_lease) == (True, ROWS, None)


@on_one_server
def test_scan_goes_on_where_a_dead_one_stopped(target: Target, file: Path):
    job = created(target, file)
    lifecycle.advance(job.pk)
    claimed = claim_scan(job.pk)
    assert claimed
    from importer.engine.source.byte_source import open_source

    with open_source(file) as fd:
        chunks = list(scan._remaining_chunks(fd, claimed))
    assert add_chunks(claimed, chunks[:2])
    ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
    job = run(job)
    assert (job.status, job.scanned_rows) == (Status.SUCCEEDED, ROWS)
    assert [each.range for each in job.chunks.all()] == chunks
    assert count_rows(target) == ROWS
