"""Scans a job's file into chunks, from where the last scan stopped."""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

from config.telemetry import traces
from importer.connections.source_location import location_of, location_of_job
from importer.engine import failpoints
from importer.engine.errors import SourceChanged
from importer.engine.reading.end_of_file import check_end, unread_bytes
from importer.engine.source.arriving import ArrivingFile, NotArrived
from importer.engine.source.byte_source import Readable, open_source, size_of
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.scan_files import scan_files
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines, lines_after, lines_before
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, pieces
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.units import MIB
from importer.jobs.steps import scanning
from importer.jobs.transitions import release_step
from importer.models import Chunk, ImportJob
from importer.queue import FollowUp
from importer.sources import in_place
from importer.worker import shutdown, working_copies
from importer.worker.errors import after_failure
from importer.worker.heartbeat import LeaseKeeper
from importer.worker.hosts import placement

# Chunks are recorded in groups, since a scan finds small chunks faster than a database records single ones.
MOST_PER_GROUP = 256
LONGEST_WAIT = 0.5  # seconds
# The first groups have this many bytes at least, so that all sessions can begin at once: each costs a few milliseconds.
FIRST_GROUPS, FIRST_BYTES = 8, MIB


def scan_job(job_id: int, then: FollowUp) -> None:
    """Find the chunks of a job, from where the last scan stopped. Loading begins with the first chunk.

    Of a file that is still being uploaded, find those that have arrived whole, and leave the rest to the next scan. A
    worker that is shutting down leaves the rest to another one.
    """
    job = scanning.claim_scan(job_id)
    if not job:
        return
    try:
        # A chunk may be the whole file, and take longer than the lease.
        with traces.span("scan", job.trace), LeaseKeeper.for_scan(job):
            ended = _scan_arrived(job, then) if job.source.arriving else _scan_to_end(job, then)
    except Exception as error:
        # A store or a connection that is away is asked again; every other problem fails the import.
        then(job_id, after_failure(job, error, given_up=placement.hand_back(job, error, "scan")))
    else:
        if not ended:
            release_step(job)
        if not (ended and scanning.all_sessions_load(job)):
            then(job_id, ())


def _scan_to_end(job: ImportJob, then: FollowUp) -> bool:
    """Scan a file that is there. Whether the scan has ended: it is recorded as finished."""
    if (job.end_unread and not _read_end(job)) or not working_copies.make_copy(job):
        return False
    with open_source(location_of_job(job)) as fd:
        _refuse_changed(fd, job)
        if not _record(_remaining_chunks(fd, job), job, then):
            return False
        _refuse_changed(fd, job)
        before, after = lines_before(fd, job.dialect, job.data_offset), _lines_after(fd, job)
        before = sum((each.lines_before for each in job.joined_files[1:]), before)
    working_copies.require_all_rows(job)
    scanning.finish_scan(job, job.read_size, before, after)
    return True


def _read_end(job: ImportJob) -> bool:
    """Look at the end of a file that has just become complete. False: this scan is no longer wanted."""
    with open_source(location_of(job.source)) as fd:
        check_end(fd, job.source.size, job.file_dialect.plain, job.source.name)
    return scanning.record_end_read(job)


def _scan_arrived(job: ImportJob, then: FollowUp) -> bool:
    """Find the chunks that have arrived whole, and record how many bytes the next scan needs. False: it has not ended.

    No chunk ends in the last bytes of the file: it may have a footer, or blank lines. They are scanned when the file is
    complete.
    """
    source = job.source
    arrived = min(source.received, source.size - unread_bytes(source.size))
    with ArrivingFile(source.file, source.size, arrived).open() as fd:
        if not _record(_until_not_arrived(_remaining_chunks(fd, job, drop_blank_end=False)), job, then):
            return False
    last = _last_chunk(job)
    number, begin = (last.number + 1, last.offset + last.length) if last else (0, job.data_offset)
    needed = begin + job.plan.chunk_sizes.most_bytes(number, source.size - begin) + BLOCK_BYTES
    scanning.await_bytes(job, max(needed, source.received + 1))
    return False


def _until_not_arrived(chunks: Iterator[ChunkRange]) -> Iterator[ChunkRange]:
    with suppress(NotArrived):
        yield from chunks


def _record(found: Iterable[ChunkRange], job: ImportJob, then: FollowUp) -> bool:
    """Record the chunks that are found. False: this scan is no longer wanted, or its worker is shutting down."""
    for chunks in _grouped(found):
        if not scanning.add_chunks(job, chunks) or shutdown.requested():
            return False
        failpoints.reach("scan.recorded")
        if not scanning.all_sessions_load(job):
            then(job.pk, ())
    return True


def _last_chunk(job: ImportJob) -> Chunk | None:
    return job.chunks.order_by("-number").first()


def _remaining_chunks(fd: Readable, job: ImportJob, *, drop_blank_end: bool = True) -> Iterator[ChunkRange]:
    """The job's chunks after the last recorded one."""
    last = _last_chunk(job)
    begin = _after(fd, last, job.dialect) if last else Position(job.data_offset, job.data_line)
    policy = ScanPolicy(drop_blank_end, tolerate=job.options.on_error == "reject", exactness=job.plan.exactness)
    if files := job.joined_files:
        return scan_files(fd, job.dialect, job.plan.chunk_sizes, begin, files, policy)
    return scan(fd, job.dialect, job.plan.chunk_sizes, begin, end=job.read_size, policy=policy)


def _lines_after(fd: Readable, job: ImportJob) -> SkippedLines:
    """The blank lines behind the last chunk, or behind the header if there is none; of each of several files."""
    if files := job.joined_files:
        return sum((_lines_after_file(fd, job, *each) for each in enumerate(files)), NO_LINES)
    return _lines_to(fd, job.dialect, _last_chunk(job), Position(job.data_offset, job.data_line), job.read_size)


def _lines_after_file(fd: Readable, job: ImportJob, number: int, file: JoinedFile) -> SkippedLines:
    last = job.chunks.filter(file=number).order_by("-number").first()
    return _lines_to(fd, job.dialect, last, Position(file.begin, file.line), file.begin + file.length)


def _lines_to(fd: Readable, dialect: Dialect, last: Chunk | None, begin: Position, end: int) -> SkippedLines:
    """The lines behind the chunk, or from `begin` on if there is none, up to the offset `end`."""
    if (last.offset + last.length if last else begin.offset) >= end:
        return NO_LINES
    behind = _after(fd, last, dialect) if last else begin
    return lines_after(fd, dialect, behind.offset, behind.line, end)


def _after(fd: Readable, chunk: Chunk, dialect: Dialect) -> Position:
    lines, before = 0, b""
    # In pieces: a chunk may be a whole file, which the server reads itself.
    for piece in pieces(fd, chunk.offset, chunk.offset + chunk.length):
        lines += line_ends(piece, dialect.line_end, before=before)
        before = piece[-1:]
    offset, row = chunk.offset + chunk.length, chunk.first_row + chunk.rows
    return Position(offset, chunk.first_line + lines, chunk.number + 1, row, chunk.file)


def _refuse_changed(fd: Readable, job: ImportJob) -> None:
    """Raise SourceChanged unless what is read is the file that the import was planned for, or its complete copy."""
    size = size_of(fd)
    if size != job.read_size:
        raise SourceChanged(
            f"The file has {size:,} bytes, it had {job.read_size:,} when the import was planned.",
            where=job.source.name,
            advice="Wait until it is complete, then import it again.",
        )
    for each in () if job.needs_copy else job.source.files:
        in_place.require_same(each, lambda: None)


def _grouped(found: Iterable[ChunkRange]) -> Iterator[list[ChunkRange]]:
    """The first chunks in small groups, so that all sessions can begin; later ones in groups of MOST_PER_GROUP."""
    group: list[ChunkRange] = []
    groups, size, since = 0, 0, time.monotonic()
    for each in found:
        group.append(each)
        size += each.length
        late = time.monotonic() - since > LONGEST_WAIT
        if (groups < FIRST_GROUPS and size >= FIRST_BYTES) or late or len(group) == MOST_PER_GROUP:
            yield group
            group, groups, size, since = [], groups + 1, 0, time.monotonic()
    if group:
        yield group
