"""What a worker does besides loading (runs.py): scan a job's file, verify a job, sweep. A Celery task for each."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from importer import jobs
from importer.engine.errors import Problem, SourceChanged
from importer.engine.load import ledger, verify
from importer.engine.mysql.connection import Address, connect, kill
from importer.engine.mysql.named_pipes import remove_stale
from importer.engine.source.byte_source import Readable, open_source, read_at, size_of
from importer.engine.source.chunks.scanner import ChunkRange, Position, scan
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.lines import line_ends
from importer.models import Chunk, ImportJob
from importer.queue import Step
from importer.sources import reject_downloads, uploads
from importer.worker import shutdown, working_copies

log = logging.getLogger(__name__)

# What follows a piece of work: the job may go on, and some steps are to come a little later.
Then = Callable[[int, Sequence[Step]], None]

# A scan finds small chunks faster than a database records them one by one.
MOST_TOGETHER = 256
LONGEST_TOGETHER = 0.5  # seconds
FIRST_ALONE = 8


def scan_job(job_id: int, then: Then) -> None:
    """Find the chunks of a job, from where the last scan left off; loading begins with the first of them.

    A worker that is asked to end leaves the rest to another one.
    """
    job = jobs.claim_scan(job_id)
    if not job:
        return
    try:
        if not working_copies.make(job):
            return
        with open_source(job.plain_file) as fd:
            for found in _together(_found(fd, job)):
                if not jobs.add_chunks(job, found) or shutdown.asked():
                    return
                then(job_id, ())
            _check_size(fd, job)
        working_copies.require_all_rows(job)
        jobs.finish_scan(job, job.read_size)
    except Exception as error:
        jobs.fail(job_id, as_problem(error, str(job), job))
    finally:
        jobs.release_step(job)
        then(job_id, ())


def verify_job(job_id: int, then: Then) -> None:
    """Compare the ledger on the target with the scan: end the job, or load again what a fail-over has lost."""
    job = jobs.claim_verify(job_id)
    if not job:
        return
    try:
        missing = _missing(job)
    except Exception as error:
        then(job_id, jobs.step_failed(job, as_problem(error, str(job), job)))
        return
    if missing:
        jobs.reopen(job, missing)
        then(job_id, ())
    else:
        then(job_id, jobs.succeed(job_id))


def _missing(job: ImportJob) -> set[int]:
    """The chunks that the ledger lacks. Of a job that staged them it need only know the finishing step."""
    if job.finished:
        verify.check_finish(job.target.address, str(job.key), jobs.staged_rows(job))
        return set()
    return verify.missing_chunks(job.target.address, str(job.key), jobs.planned_rows(job))


def take_back_expired() -> None:
    """Give free the chunks whose workers have given no sign of life for a lease, and end what these left open."""
    for run in jobs.expired_runs():
        if folder := run.job.plan.files_folder:
            with suppress(OSError):
                # A server that waits for a dead worker's pipe hears no KILL.
                remove_stale(Path(folder))
        end_connection(run.job.target.address, run.chunks[0].connection_id, str(run))
        jobs.take_back(run, _in_hand(run))


def _in_hand(run: jobs.ChunkRun) -> Chunk | None:
    """The chunk over which the run's worker died: the first that is not in. If the server is away, the first of all."""
    try:
        with connect(run.job.target.address) as connection:
            there = ledger.exists(connection)
            loaded = ledger.rows_by_chunk(connection, str(run.job.key)) if there else {}
    except Problem:
        loaded = {}
    return next((chunk for chunk in run.chunks if chunk.number not in loaded), None)


def sweep(then: Then) -> None:
    """Put right what lost messages and dead workers left behind; doing it twice is harmless."""
    take_back_expired()
    for job in jobs.unreleased():
        with suppress(Problem):  # If the server is away, a later sweep does it.
            jobs.release_kept(job)
    for job_id in (*jobs.unended(), *jobs.leftovers()):
        then(job_id, ())
    for job_id in jobs.unrecorded():
        jobs.record(job_id)
    uploads.remove_abandoned_uploads()
    reject_downloads.remove_orphans()
    working_copies.remove_unneeded()


def _found(fd: Readable, job: ImportJob) -> Iterator[ChunkRange]:
    """The job's chunks after those that are recorded already."""
    _check_size(fd, job)
    last = job.chunks.order_by("-number").first()
    return scan(
        fd,
        job.dialect,
        job.plan.chunk_sizes,
        _after(fd, last, job.dialect) if last else Position(job.data_offset, job.data_line),
        end=job.read_size,
        tolerate=job.options.on_error == "reject",
        exactness=job.plan.exactness,
    )


def _after(fd: Readable, chunk: Chunk, dialect: Dialect) -> Position:
    lines = line_ends(read_at(fd, chunk.length, chunk.offset), dialect.line_end)
    offset, row = chunk.offset + chunk.length, chunk.first_row + chunk.rows
    return Position(offset, chunk.first_line + lines, chunk.number + 1, row)


def _check_size(fd: Readable, job: ImportJob) -> None:
    size = size_of(fd)
    if size != job.read_size:
        raise SourceChanged(
            f"The file has {size:,} bytes, it had {job.read_size:,} when the import was planned.",
            where=job.source.name,
            advice="Wait until it is complete, then import it again.",
        )


def _together(found: Iterable[ChunkRange]) -> Iterator[list[ChunkRange]]:
    """The first ones at once, so that every session can begin; later ones in groups of a fraction of a second."""
    group: list[ChunkRange] = []
    since = time.monotonic()
    for number, each in enumerate(found):
        group.append(each)
        late = time.monotonic() - since > LONGEST_TOGETHER
        if number < FIRST_ALONE or late or len(group) == MOST_TOGETHER:
            yield group
            group, since = [], time.monotonic()
    if group:
        yield group


def end_connection(address: Address, connection_id: int | None, of: str) -> None:
    """Kill what a dead worker left open on the target. If the server is away, it has rolled back already."""
    if not connection_id:
        return
    try:
        kill(address, connection_id)
    except Problem as problem:
        log.info("%s: its connection could not be ended: %s", of, problem)


def as_problem(error: Exception, where: str, job: ImportJob) -> Problem:
    """What went wrong, in words; an error that nobody foresaw goes into the log as well."""
    if isinstance(error, Problem):
        return uploads.named(error, job.source)
    log.exception("%s: unexpected error", where, exc_info=error)
    return Problem(
        f"An unexpected error: {type(error).__name__}: {error}.",
        where=where,
        advice="Please report it with the worker's log. Nothing of this part was kept; Retry loads what is not in yet.",
    )
