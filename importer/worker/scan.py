"""Scans a job's file into chunks, from where the last scan stopped."""

import time
from collections.abc import Iterable, Iterator

from importer import jobs
from importer.connections.source_location import location_of_job
from importer.engine import failpoints
from importer.engine.errors import SourceChanged
from importer.engine.source.byte_source import Readable, open_source, read_at, size_of
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines, lines_after, lines_before
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.lines import line_ends
from importer.models import Chunk, ImportJob
from importer.queue import FollowUp
from importer.worker import shutdown, working_copies
from importer.worker.errors import as_problem

# Chunks are recorded in groups, since a scan finds small chunks faster than a database records single ones.
MOST_PER_GROUP = 256
LONGEST_WAIT = 0.5  # seconds
FIRST_ALONE = 8  # recorded one by one, so that loading begins at once


def scan_job(job_id: int, then: FollowUp) -> None:
    """Find the chunks of a job, from where the last scan stopped. Loading begins with the first chunk.

    A worker that is shutting down leaves the rest to another one.
    """
    job = jobs.claim_scan(job_id)
    if not job:
        return
    try:
        if not working_copies.make_copy(job):
            return
        with open_source(location_of_job(job)) as fd:
            for chunks in _grouped(_remaining_chunks(fd, job)):
                if not jobs.add_chunks(job, chunks) or shutdown.requested():
                    return
                failpoints.reach("scan.recorded")
                then(job_id, ())
            _check_size(fd, job)
            before, after = lines_before(fd, job.dialect, job.data_offset), _lines_after(fd, job)
        working_copies.require_all_rows(job)
        jobs.finish_scan(job, job.read_size, before, after)
    except Exception as error:
        jobs.fail(job_id, as_problem(error, str(job), job))
    finally:
        jobs.release_step(job)
        then(job_id, ())


def _remaining_chunks(fd: Readable, job: ImportJob) -> Iterator[ChunkRange]:
    """The job's chunks after the last recorded one."""
    _check_size(fd, job)
    last = job.chunks.order_by("-number").first()
    return scan(
        fd,
        job.dialect,
        job.plan.chunk_sizes,
        _after(fd, last, job.dialect) if last else Position(job.data_offset, job.data_line),
        end=job.read_size,
        policy=ScanPolicy(tolerate=job.options.on_error == "reject", exactness=job.plan.exactness),
    )


def _lines_after(fd: Readable, job: ImportJob) -> SkippedLines:
    """The blank lines behind the last chunk, or behind the header if there is none."""
    last = job.chunks.order_by("-number").first()
    if (last.offset + last.length if last else job.data_offset) >= job.read_size:
        return NO_LINES
    end = _after(fd, last, job.dialect) if last else Position(job.data_offset, job.data_line)
    return lines_after(fd, job.dialect, end.offset, end.line, job.read_size)


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


def _grouped(found: Iterable[ChunkRange]) -> Iterator[list[ChunkRange]]:
    """The first chunks one by one, so that all parallel loads can begin; later ones in groups of LONGEST_TOGETHER."""
    group: list[ChunkRange] = []
    since = time.monotonic()
    for number, each in enumerate(found):
        group.append(each)
        late = time.monotonic() - since > LONGEST_WAIT
        if number < FIRST_ALONE or late or len(group) == MOST_PER_GROUP:
            yield group
            group, since = [], time.monotonic()
    if group:
        yield group
