"""Examines a whole file for rows that its table would not take, for the page of a new import."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from importer.connections.source_location import location_of, location_of_all
from importer.engine.errors import Problem
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.reading.end_of_file import unread_bytes
from importer.engine.source.arriving import ArrivingFile, NotArrived
from importer.engine.source.byte_source import Readable, open_source, read_at, size_of
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scan_files import scan_files
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.stored import from_json, to_json
from importer.engine.units import MIB
from importer.models import Examination, SourceFile
from importer.preparation.examination import LEASE, Basis, found_so_far
from importer.preparation.row_problems import MOST_KEPT, ProblemRow, RowProblems, chunk_problems, needs_look
from importer.queue import Message
from importer.sources.upload_storage import waits_for_whole_files

# After TASK_SECONDS a task ends and asks for another one, so that scans of imports do not wait for long. What is found
# is recorded every RECORD_SECONDS.
TASK_SECONDS, RECORD_SECONDS = 4.0, 0.5
SIZES = ChunkSizes(2 * MIB)


def examine(source_id: int, send: Callable[[Iterable[Message]], None], is_ending: Callable[[], bool]) -> None:
    """Continue the examination of a file: to its end, to what has arrived, or for TASK_SECONDS.

    `is_ending`: whether the worker is shutting down.
    """
    free = Examination.objects.filter(LEASE.free(), source_id=source_id, done=False)
    if waits_for_whole_files():
        free = free.exclude(source__status=SourceFile.Status.UPLOADING)
    if not LEASE.claim(free):
        return
    made = Examination.objects.select_related("source").get(source_id=source_id)
    examiner = _Examiner(made)
    try:
        goes_on = examiner.examine(is_ending)
    except Problem:  # A record that nobody can read: the scan of the import says where.
        goes_on = False
        examiner.record(done=True)
    finally:
        LEASE.release(made)
    if goes_on:
        send([Message("examine", source_id)])


class _Examiner:
    """One task of an examination: where it is in the file, and what it has found."""

    def __init__(self, made: Examination) -> None:
        self._made, self._basis = made, from_json(Basis, made.basis_json)
        self._position = from_json(Position, made.position_json)
        self._found = found_so_far(made)

    def examine(self, is_ending: Callable[[], bool]) -> bool:
        """Examine the rest of the file. Returns whether another task must continue at once."""
        source = self._made.source
        until, recorded = time.monotonic() + TASK_SECONDS, time.monotonic()
        with _opened(source, self._basis) as fd:
            try:
                for chunk in self._chunks(fd):
                    self._add(fd, chunk)
                    now = time.monotonic()
                    if now - recorded > RECORD_SECONDS:
                        recorded = now
                        if not self.record():
                            return False
                    if now > until or is_ending():
                        return self.record()
            except NotArrived:
                self.record()
                # More may have come since; what comes later wakes the examination itself.
                return _received(source) > source.received
        self.record(done=True, whole=True)
        return False

    def _chunks(self, fd: Readable) -> Iterator[ChunkRange]:
        basis, rules = self._basis, self._basis.rules
        policy = ScanPolicy(not self._made.source.arriving, tolerate=True, exactness=rules)
        if basis.files:
            return scan_files(fd, rules.dialect, SIZES, self._position, basis.files, policy)
        return scan(fd, rules.dialect, SIZES, self._position, end=size_of(fd), policy=policy)

    def _add(self, fd: Readable, chunk: ChunkRange) -> None:
        rules, found = self._basis.rules, self._found
        count, rows = 0, tuple[ProblemRow, ...]()
        if chunk.suspect or needs_look(rules):
            count, rows = chunk_problems(
                ChunkSource(fd, Path(), chunk, rules.dialect), rules, self._basis.columns, MOST_KEPT - len(found.rows)
            )
        if chunk.file:
            rows = tuple(replace(row, file=self._basis.files[chunk.file].name) for row in rows)
        self._found = RowProblems(found.scanned + chunk.rows, False, found.count + count, (*found.rows, *rows))
        lines = line_ends(read_at(fd, chunk.length, chunk.offset), rules.dialect.line_end)
        self._position = Position(
            chunk.end, chunk.first_line + lines, chunk.number + 1, chunk.first_row + chunk.rows, chunk.file
        )

    def record(self, *, done: bool = False, whole: bool = False) -> bool:
        """Record what is found, and renew the lease. False: another mapping is examined now, or none.

        `done`: no task continues. `whole`: the whole file is examined.
        """
        values = {"found_json": to_json(replace(self._found, whole=whole)), "position_json": to_json(self._position)}
        return LEASE.renew(LEASE.held(self._made), done=done, **values)


@contextmanager
def _opened(source: SourceFile, basis: Basis) -> Iterator[Readable]:
    """The file, as far as it can be scanned: its last bytes may be a footer, and are left until it is complete."""
    location = location_of_all(source, basis.files) if basis.files else location_of(source)
    if isinstance(location, ArrivingFile):
        location = replace(location, arrived=min(location.arrived, source.size - unread_bytes(source.size)))
    with open_source(location) as fd:
        yield fd


def _received(source: SourceFile) -> int:
    return int(SourceFile.objects.values_list("received", flat=True).get(pk=source.pk))
