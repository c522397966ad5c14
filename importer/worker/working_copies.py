"""Makes the working copy that a job reads instead of its file: decompressed, in UTF-8, converted, or sorted.

A copy belongs to one job and one attempt to make it (`<job key>.<attempt>` under PLAIN_DIR). It appears under this name
when it is complete, and is removed when its job has ended; a retry makes it again. The original positions of a sorted
or converted copy lie in a file next to it (engine/sorting/original_positions.py).

With a store both are put there under the same names, for the workers of all hosts, and no host keeps them.
"""

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import IO

from django.conf import settings

from config.telemetry import traces
from importer.connections.source_location import copy_of, location_of
from importer.engine import failpoints
from importer.engine.errors import Cancelled, DiskFull, Problem, SourceChanged, full_disk_as
from importer.engine.plan.plan import Reason
from importer.engine.planner.decisions.row_order import DISK_BYTES_PER_BYTE
from importer.engine.sorting.original_positions import SUFFIX, WIDE, OriginalPositions, head, look_through, places_of
from importer.engine.sorting.sort_key import Unsortable
from importer.engine.source.byte_source import Readable, open_source, size_of
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines
from importer.jobs.steps.scanning import record_copy, record_unsorted, renew_copy, scanned_rows
from importer.models import ImportJob
from importer.preparation.plain_file import CopyOut, copy_one, copy_several
from importer.sources import in_place
from importer.sources.room import in_words, is_full, room
from importer.sources.store.file_store import UNKNOWN_KEPT, FileStore, file_store, require_store
from importer.sources.store.stored_file import StoredFile
from importer.worker import shutdown

LOOK_EVERY = 1.0  # seconds between two renewals of the lease
PART = ".part"
SORTED = ".sorted"
COPIES = "copies"  # the store's folder for them


def make_copy(job: ImportJob) -> bool:
    """Make the copy of the job's file, if it needs one and has none. False: this attempt is no longer wanted.

    Raises SourceProblem for a file that cannot be unpacked, decoded or, if sort is `key`, sorted, SourceChanged,
    DiskFull; nothing stays behind.
    """
    if not job.needs_copy or (job.plain_copy and _is_there(job)):
        return True
    settings.PLAIN_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    copy = settings.PLAIN_DIR / f"{job.key}.{job.step_attempt}"
    writer = _CopyWriter(job, _named(copy, PART), _named(copy, SORTED))
    try:
        with traces.span("copy", job.trace, bytes=job.source.size), full_disk_as(writer.disk_full):
            if job.joined_files:
                writer.write_joined()
            else:
                _write_one(writer, job)
            failpoints.reach("copy.written")
            return writer.record(copy)
    except Cancelled:
        return False
    finally:
        writer.remove_parts()


def _is_there(job: ImportJob) -> bool:
    copy = copy_of(job)
    return copy.exists() if isinstance(copy, Path) else require_store(copy.address).has(copy.address)


def _write_one(writer: "_CopyWriter", job: ImportJob) -> None:
    """Write the copy of a single file, which must not change during that."""
    with open_source(location_of(job.source)) as fd:
        writer.refuse_changed(fd, 0)
        if job.needs_plain_copy:
            writer.write_plain(fd)
        if job.is_sorted:
            writer.write_sorted()
        writer.refuse_changed(fd, job.source.size)


@dataclass
class _CopyWriter:
    """Writes one copy: the plain one into `part`, the sorted one into `sorted`, until they are complete."""

    job: ImportJob
    part: Path
    sorted: Path
    verb: str = ""  # what could not be done with the file if the disk is full
    skipped: SkippedLines = NO_LINES  # the lines from the first record on that a sorted copy does not have
    files: tuple[JoinedFile, ...] = ()  # of several files: where their records lie in the copy
    _seen: float = 0.0

    @property
    def share(self) -> float:
        """The plain copy's share of the progress."""
        return 0.5 if self.job.is_sorted else 1.0

    @property
    def _tolerate(self) -> bool:
        """Whether rows that their format cannot read are rejected like others."""
        return self.job.options.on_error == "reject"

    @property
    def _plain_verb(self) -> str:
        if self.job.file_dialect.is_converted:
            return "converted"
        reordered = any(each.order for each in self.job.joined_files)
        return "unpacked" if self.job.packing else "copied" if reordered else "turned into UTF-8"

    def refuse_changed(self, fd: Readable, done: int) -> None:
        """Raise SourceChanged if the file is no longer the one that the import was planned for."""
        source = self.job.source
        if (size := size_of(fd)) != source.size:
            raise SourceChanged(
                f"The file has {size:,} bytes, it had {source.size:,} when the import was planned.",
                where=source.name,
                advice="Wait until it is complete, then import it again.",
            )
        in_place.require_same(source, lambda: self._renew(done))

    def write_plain(self, fd: Readable) -> None:
        job = self.job
        self.verb = self._plain_verb
        with self.part.open("wb") as out, self._places_of_part() as places:

            def on_bytes(done: int) -> None:
                self._keep_alive(int(done * self.share), out, places)

            copy_one(fd, job.packing, job.file_dialect, CopyOut(out, places, self._tolerate), on_bytes)
            _to_disk(out)
            _to_disk(places)
        self._renew(int(job.source.size * self.share))

    @contextmanager
    def _places_of_part(self) -> Iterator[IO[bytes]]:
        """The file for the positions of a converted file's rows; of another file nothing is written, and none stays."""
        path = places_of(self.part)
        with path.open("wb") as places:
            places.write(head(WIDE))
            yield places
        if not self.job.file_dialect.is_converted:
            path.unlink()

    def write_joined(self) -> None:
        """Write the plain bytes of several files as one file (engine/source/joined.py)."""
        job = self.job
        self.verb = self._plain_verb
        with self.part.open("wb") as out, self._places_of_part() as places:

            def on_bytes(done: int) -> None:
                self._keep_alive(done, out, places)

            copy = CopyOut(out, places, self._tolerate)
            self.files = copy_several(job.source, job.joined_files, job.file_dialect, job.data_line, copy, on_bytes)
            _to_disk(out)
            _to_disk(places)
        self._renew(job.source.size)

    def write_sorted(self) -> None:
        """Sort the file, or its plain copy. If that fails and sort is not `key`, the file's order is kept."""
        job = self.job
        self.verb = "sorted"
        try:
            with open_source(self.part if job.needs_plain_copy else location_of(job.source)) as plain:
                self._sort(plain)
        except (Unsortable, DiskFull) as problem:
            # Existing chunks are those of a sorted copy, so the order cannot change any more.
            if job.options.sort == "key" or job.chunks.exists():
                raise
            self.sorted.unlink(missing_ok=True)
            self._keep_order(problem)
        self._renew(job.source.size)

    def _sort(self, plain: Readable) -> None:
        from importer.engine.sorting.external_sort import SortInput, sort_records

        job, key = self.job, self.job.plan.sorted_by
        assert key
        size, done = size_of(plain), job.source.size * (1 - self.share)
        if room(settings.PLAIN_DIR) < DISK_BYTES_PER_BYTE * size:
            raise self.disk_full()
        source = SortInput(
            plain, job.file_dialect.plain, job.data_offset, job.data_line, size, job.options.on_error == "reject"
        )
        with self.sorted.open("wb") as out, places_of(self.sorted).open("wb") as places:

            def on_progress(share: float) -> None:
                self._keep_alive(int(done + (job.source.size - done) * share), out, places)

            with full_disk_as(self.disk_full):
                _, self.skipped = sort_records(source, key, out, places, settings.PLAIN_DIR, on_progress)
                _to_disk(out)
                _to_disk(places)
        if job.file_dialect.is_converted:
            with full_disk_as(self.disk_full):
                look_through(OriginalPositions.next_to(self.sorted), OriginalPositions.next_to(self.part))

    def _keep_order(self, why: Problem) -> None:
        job, plan = self.job, self.job.plan
        reason = Reason("Rows are loaded in the file's order after all", str(why), holds_back=True, option="sort")
        if not record_unsorted(job, replace(plan, sorted_by=None, reasons=(*plan.reasons, reason))):
            raise Cancelled("The copy is no longer wanted.")

    def record(self, copy: Path) -> bool:
        """Put the finished file where the copy is kept, and record it. False: this attempt is no longer wanted."""
        if not self.job.needs_copy:
            return True
        finished = self.sorted if self.job.is_sorted else self.part
        size, store = finished.stat().st_size, file_store()
        place = self._put(store, finished, copy.name) if store else self._rename(finished, copy)
        failpoints.reach("copy.renamed")
        skipped = self.skipped if self.job.is_sorted else None
        return record_copy(self.job, place, size, skipped, self.files)

    def _rename(self, finished: Path, copy: Path) -> str:
        """Give the finished file the copy's name. Returns that name."""
        if self.job.has_places:
            places_of(finished).replace(places_of(copy))
        finished.replace(copy)
        return copy.name

    def _put(self, store: FileStore, finished: Path, name: str) -> str:
        """Put the finished file into the store. Returns its address there."""
        address = store.address_of(COPIES, name)
        if self.job.has_places:
            places = StoredFile(address).next_to(SUFFIX).address
            store.put(places, places_of(finished), lambda _: self._keep_alive(self.job.source.size))
        store.put(address, finished, lambda _: self._keep_alive(self.job.source.size))
        return address

    def remove_parts(self) -> None:
        for path in (self.part, self.sorted):
            path.unlink(missing_ok=True)
            places_of(path).unlink(missing_ok=True)

    def disk_full(self) -> DiskFull:
        """The problem that there is no room for the copy."""
        sorting = self.verb == "sorted"
        takes = f" Sorting takes {DISK_BYTES_PER_BYTE} times the file's unpacked size." if sorting else ""
        instead = ", or load the file in its own order (sort keep)" if sorting else ""
        return DiskFull(
            f"The disk is full: the file cannot be {self.verb}.{takes} {self._room} What had been written of it was"
            " removed.",
            where=self.job.source.name,
            advice=f"Make room under {settings.PLAIN_DIR}, or give PLAIN_DIR a larger disk{instead}; then retry.",
        )

    @property
    def _room(self) -> str:
        """The room for the copy. The unpacked size of a packed file is an estimate until its end."""
        times = DISK_BYTES_PER_BYTE if self.verb == "sorted" else 1
        return in_words(settings.PLAIN_DIR, times * self.job.read_size, about=self.job.needs_plain_copy)

    def _keep_alive(self, done: int, *files: IO[bytes]) -> None:
        """Renew the lease every LOOK_EVERY seconds. Raises Cancelled if copy or worker is no longer wanted."""
        if shutdown.requested():
            raise Cancelled("The worker is shutting down.")
        if time.monotonic() - self._seen < LOOK_EVERY:
            return
        if is_full(settings.PLAIN_DIR):
            raise self.disk_full()
        for file in files:
            file.flush()
            # In steps: syncing the whole file at the end could take longer than the lease.
            os.fdatasync(file.fileno())
        self._renew(done)

    def _renew(self, done: int) -> None:
        if not renew_copy(self.job, done):
            raise Cancelled("The copy is no longer wanted.")
        self._seen = time.monotonic()


def _to_disk(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _named(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def remove_unneeded() -> int:
    """Remove copies whose job has ended or was deleted, and parts of abandoned attempts. Returns their number."""
    removed = 0
    for path in settings.PLAIN_DIR.glob("*-*-*-*-*.*"):
        if not _needed(path.name):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def remove_stored(now: datetime) -> int:
    """Remove the copies of the store that no import needs. Returns their number.

    Of imports that are not known here only old ones: a restored database may not know what the store's other user does.
    """
    store = file_store()
    if store is None:
        return 0
    unneeded = [each for each in store.listed(COPIES) if not _needed(each.name)]
    keys = {each.name.partition(".")[0] for each in unneeded}
    known = {str(key) for key in ImportJob.objects.filter(key__in=keys).values_list("key", flat=True)}
    old = now - UNKNOWN_KEPT
    gone = [
        each.address
        for each in unneeded
        if each.name.partition(".")[0] in known or (each.written_at and each.written_at < old)
    ]
    store.delete(*gone)
    return len(gone)


def _needed(name: str) -> bool:
    key, attempt, *_part = name.split(".")
    try:
        job = ImportJob.objects.exclude(status__in=ImportJob.ENDED).get(key=uuid.UUID(key))
    except (ValueError, ImportJob.DoesNotExist):
        return False
    # A copy that is lost, or that another host has, is made a second time.
    being_made = str(job.step_attempt) == attempt
    return being_made or name in ((copy := PurePath(job.plain_copy).name), copy + SUFFIX)


def require_all_rows(job: ImportJob) -> None:
    """Raise SourceChanged if the scan of a sorted copy has found another number of rows than was written into it."""
    if not job.is_sorted:
        return
    written, scanned = OriginalPositions.next_to(copy_of(job)).count, scanned_rows(job)
    if written != scanned:
        raise SourceChanged(
            f"{written:,} rows went into the sorted copy, and {scanned:,} are found in it.",
            where=job.source.name,
            advice="Load the file in its own order (sort keep), and please report this: it must not happen.",
        )
