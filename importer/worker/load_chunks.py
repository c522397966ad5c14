"""Loads a run of chunks on one connection: claims them, loads them, records them in groups.

Each chunk is its own transaction on the target; small ones share one (engine/load/shared_transaction.py). A later
failure does not undo earlier chunks of the run. Chunks are recorded, and further ones claimed, while the next one
loads, so that the server waits for neither.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import accumulate, takewhile

from django.db import connections
from django.utils import timezone

from config.telemetry import traces
from importer import queue
from importer.connections.source_location import location_of_job
from importer.engine import failpoints
from importer.engine.errors import (
    MethodRefused,
    Problem,
    RowsRefused,
    SourceProblem,
    TargetProblem,
    TooManyRejects,
    name_file,
)
from importer.engine.load.chunk_load import ChunkLoad
from importer.engine.load.loader import Loader, committed_outcomes
from importer.engine.load.outcome import Outcome
from importer.engine.load.shared_transaction import group_size
from importer.engine.mysql.waits import within
from importer.jobs.rejects import downloads
from importer.jobs.rejects.limits import most_rejects
from importer.jobs.rejects.storage import storage_of
from importer.jobs.sharing.claimants import fairest_chunk, waiting_for_target
from importer.jobs.steps import chunk_leases
from importer.models import Chunk, ImportJob
from importer.preparation.prepare import fall_back_plan
from importer.queue import FollowUp, Message
from importer.worker import live_progress, shutdown
from importer.worker.errors import as_problem
from importer.worker.heartbeat import LeaseKeeper
from importer.worker.hosts import placement, presence

# After LOOK_SECONDS a run checks whether it may continue; after TASK_SECONDS a task claims no more chunks. So a change
# of the parallelism takes effect soon, and other jobs and idle workers do not wait for long.
LOOK_SECONDS = 2.0
TASK_SECONDS = 45.0
# Committed chunks are recorded together, at most this many seconds after the first of them.
RECORD_SECONDS = 1.0
# For the question whether a chunk is in whose server did not answer.
COMMITTED_SECONDS = 30.0


def load(chunk_id: int, then: FollowUp) -> None:
    """Load the run that begins with this chunk, and further runs while no other work waits for the worker."""
    run = claim(chunk_id)
    if not run:
        return
    failpoints.reach("chunk.claimed")
    later: list[Message] = []
    try:
        later = _load_runs(run)
    finally:
        then(run.job.pk, [*later, *(Message("advance", pk) for pk in waiting_for_target(run.job))])


def _load_runs(first: chunk_leases.ChunkRun) -> list[Message]:
    """Load the run and further ones, on one connection. Returns messages to send later if a chunk fails."""
    job, until = first.job, time.monotonic() + TASK_SECONDS
    try:
        new = Loader(location_of_job(job), job.target.address, job.plan)
    except Exception as error:
        chunk, *others = first.chunks
        chunk_leases.release_chunks(first, others)
        return chunk_leases.record_failed(first, chunk, _as_problem(error, chunk, job))
    later: list[Message] = []
    run: chunk_leases.ChunkRun | None = first
    with new as loader, _recorder() as recorder:
        while run:
            later, continues = RunLoader(run, loader, recorder, until).load_run()
            run = chunk_leases.claim_next_run(run) if continues and time.monotonic() < until else None
    return later


def claim(chunk_id: int) -> chunk_leases.ChunkRun | None:
    """The run for this worker's free slot: of the job that is next in line, or of the job that the message is from.

    The message for a chunk that another one overtakes is sent again. A process that runs one import takes no others.
    """
    fairest = fairest_chunk(chunk_id) if presence.own_host() else chunk_id
    if fairest != chunk_id and (run := chunk_leases.claim_run(fairest)):
        queue.send([Message("load_run", chunk_id, label=run.job.target.label)])
        return run
    return chunk_leases.claim_run(chunk_id)


@contextmanager
def _recorder() -> Iterator[Executor]:
    """A thread that works on the application's database while the next chunk loads."""
    with ThreadPoolExecutor(1, "recorder") as recorder:
        try:
            yield recorder
        finally:
            recorder.submit(connections.close_all)


class RunLoader:
    """Loads one run. Until the time `until` it is extended while its last chunk loads."""

    def __init__(self, run: chunk_leases.ChunkRun, loader: Loader, recorder: Executor, until: float) -> None:
        self.run = run
        self._loader, self._recorder, self._until = loader, recorder, until
        self._first_load: ChunkLoad | None = None
        self._connection_id = 0
        self._sent = sent = live_progress.SentBytes(run.job.pk, str(run.key))
        self._keeper = LeaseKeeper.for_run(run, lambda: sent.moves)
        self._left = list(run.chunks)
        self._claiming: Future[list[Chunk]] | None = None
        # Set after a shared transaction failed: each further chunk gets its own.
        self._one_by_one = False
        self._ends = False
        self._looked_at = time.monotonic()
        self._loaded: list[chunk_leases.LoadedChunk] = []
        self._recorded_at = time.monotonic()
        # Rejects may end the job, so they are recorded at once.
        self._rejects_count = run.job.options.limits_rejects

    def load_run(self) -> tuple[list[Message], bool]:
        """Load the run's chunks. Returns messages to send later if one fails, and whether the worker may take more."""
        later: list[Message] = []
        try:
            with self._keeper:
                error = self._load_all()
            self._record(self._loaded)
            if error:
                later = self._failed(self._left.pop(0), error)
            return later, not (error or self._ends)
        finally:
            chunk_leases.release_chunks(self.run, self._left)
            self._sent.clear()

    def _load_all(self) -> Exception | None:
        """Load the chunks until the run must stop. A returned error is that of the first chunk in `_left`."""
        try:
            if error := self._begin():
                return error
            while self._left and self._start_bookkeeping(in_hand := self._next()):
                if error := self._load(in_hand):
                    return error
                if not self._left:
                    self._collect_claimed()
        finally:
            self._collect_claimed()
        return None

    def _begin(self) -> Exception | None:
        """Connect, open the connection's seal, and prepare the load. Returns any error."""
        try:
            self._first_load = _first_load(self.run)
            self._connection_id = self._loader.connect()
            self._keeper.connected(self._connection_id, self._loader.give_up)
            failpoints.reach("chunk.connected")
            before = timezone.now()
            seal = self._loader.open_seal(self._first_load)
            # Before the first commit, so that the application knows of each seal that counts a chunk.
            self._keeper.require(chunk_leases.record_seal(self.run, seal, before))
            failpoints.reach("chunk.sealed")
        except Exception as error:
            return error
        return None

    def _next(self) -> list[Chunk]:
        """The first chunk left, and the next ones that share its transaction. A chunk that failed before goes alone."""
        assert self._first_load
        first = self._left[0]
        if self._one_by_one or first.attempt > 1:
            return [first]
        untried = takewhile(lambda each: each.attempt == 1, self._left)
        return self._left[: group_size(self._first_load.plan, (each.range for each in untried))]

    def _load(self, chunks: list[Chunk]) -> Exception | None:
        """Load the chunks in one transaction, or set `_one_by_one` so that each gets its own. Returns any error."""
        began = timezone.now()
        try:
            outcomes = self._outcomes(chunks)
        except Exception as error:
            _trace_failed(self.run.job, chunks[0], began, error)
            return error
        if not outcomes:
            # The run is extended only after the last of them has loaded.
            self._one_by_one = True
            self._collect_claimed()
            return None
        loaded = list(_divide_time(chunks, outcomes, began, timezone.now()))
        _trace_loaded(self.run.job, loaded)
        self._loaded += loaded
        self._sent.chunk_committed(sum(chunk.length for chunk in chunks))
        del self._left[: len(chunks)]
        return None

    def _outcomes(self, chunks: list[Chunk]) -> list[Outcome] | None:
        assert self._first_load
        chunk_load = _of_chunk(self._first_load, chunks[0], self.run.job)
        if len(chunks) == 1:
            return [self._loader.load(chunk_load, self._sent.chunk_progress)]
        return self._loader.load_group(chunk_load, [each.range for each in chunks], self._sent.chunk_progress)

    def _start_bookkeeping(self, in_hand: list[Chunk]) -> bool:
        """Start the due updates of the application's database, which run while the chunks in hand load.

        False: the run must stop, because the job is paused or ending, or the worker is shutting down.
        """
        if shutdown.requested():
            self._ends = True
            return False
        no_more = len(in_hand) == len(self._left)
        last = in_hand[-1].number if no_more and time.monotonic() < self._until else None
        due = self._loaded and time.monotonic() - self._recorded_at >= RECORD_SECONDS
        at_once = self._rejects_count and self._loaded and self._loaded[-1].outcome.tally.rejected
        if not (due or at_once or last is not None):
            return True
        self._collect_claimed()
        if self._ends:
            return False
        loaded, self._loaded, self._recorded_at = self._loaded, [], time.monotonic()
        if at_once:
            self._record(loaded)
            loaded = []
        if not chunk_leases.is_loading(self.run.job.pk):
            self._record(loaded)
            return False
        self._claiming = self._recorder.submit(self._record_and_claim, loaded, last)
        return True

    def _record_and_claim(self, loaded: list[chunk_leases.LoadedChunk], last: int | None) -> list[Chunk]:
        """Record the loaded chunks. If chunk number `last` ends the run, claim the chunks after it and return them.

        Otherwise check every LOOK_SECONDS whether the run may keep its other chunks.
        """
        self._record(loaded)
        if last is not None:
            return chunk_leases.extend_run(self.run, last, self._connection_id)
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._ends = not chunk_leases.should_continue(self.run)
        return []

    def _collect_claimed(self) -> None:
        """Wait for the updates that were started, and add the chunks they claimed to the run."""
        further, self._claiming = self._claiming, None
        if further:
            self._left += further.result()

    def _record(self, loaded: list[chunk_leases.LoadedChunk]) -> None:
        if loaded:
            chunk_leases.record_loaded(self.run, loaded)
            failpoints.reach("chunk.recorded")
            self._sent.bytes_recorded(sum(each.chunk.length for each in loaded))

    def _failed(self, chunk: Chunk, error: Exception) -> list[Message]:
        lost = isinstance(error, TargetProblem)
        if lost and self._first_load and (committed := _committed(_of_chunk(self._first_load, chunk, self.run.job))):
            now = timezone.now()
            chunk_leases.record_loaded(self.run, [chunk_leases.LoadedChunk(chunk, committed, now, now)])
        elif self._keeper.stopped:
            chunk_leases.release_chunks(self.run, [chunk])
        elif self._keeper.killed:
            chunk_leases.record_cancelled(self.run, chunk)
        elif placement.hand_back(self.run.job, error, "load_run"):
            chunk_leases.release_chunks(self.run, [chunk])
        elif isinstance(error, MethodRefused) and self.run.job.options.method == "auto":
            return self._fall_back(chunk)
        else:
            return chunk_leases.record_failed(self.run, chunk, _as_problem(error, chunk, self.run.job))
        return []

    def _fall_back(self, chunk: Chunk) -> list[Message]:
        """Continue with the next method. Another worker may have changed the plan already."""
        job = ImportJob.objects.get(pk=self.run.job.pk)
        try:
            plan = (
                fall_back_plan(job) if job.plan.statements.method == self.run.job.plan.statements.method else job.plan
            )
        except Exception as problem:
            return chunk_leases.record_failed(self.run, chunk, as_problem(problem, chunk, job))
        return chunk_leases.fall_back(self.run, chunk, plan)


def _first_load(run: chunk_leases.ChunkRun) -> ChunkLoad:
    """The load of the run's first chunk."""
    job, chunk = run.job, run.chunks[0]
    return ChunkLoad(
        job=str(job.key),
        attempt=chunk.attempt,
        path=location_of_job(job),
        address=job.target.address,
        dialect=job.dialect,
        plan=job.plan,
        chunk=chunk.range,
        file_name=_file_name(job, chunk),
        began=_utc(job.started_at),
        first=not job.chunks.filter(status=Chunk.Status.LOADED).exists(),
        seals=chunk_leases.known_seals(job),
        # The engine itself ends a chunk that exceeds the limit of the whole job.
        options=replace(job.options, max_rejects=most_rejects(job)),
        rejects=downloads.make_folder(job) if job.options.leaves_out else None,
        storage=storage_of(job),
        converted=job.file_dialect.is_converted,
    )


def _of_chunk(chunk_load: ChunkLoad, chunk: Chunk, job: ImportJob) -> ChunkLoad:
    return replace(chunk_load, chunk=chunk.range, attempt=chunk.attempt, file_name=_file_name(job, chunk))


def _file_name(job: ImportJob, chunk: Chunk) -> str:
    """The name of the file that the chunk's rows are from."""
    return job.file_names[chunk.file] if job.files_json else job.source.name


def _as_problem(error: Exception, chunk: Chunk, job: ImportJob) -> Problem:
    """The error as a Problem; of several files, with the name of the one that has the chunk."""
    problem = as_problem(error, chunk, job)
    if job.files_json and isinstance(error, RowsRefused | TooManyRejects | SourceProblem):
        name_file(problem, _file_name(job, chunk))
    return problem


def _divide_time(
    chunks: list[Chunk], outcomes: list[Outcome], began: datetime, ended: datetime
) -> Iterator[chunk_leases.LoadedChunk]:
    """The chunks of one transaction: its time from `began` to `ended` is divided by their bytes."""
    sent = list(accumulate(chunk.length for chunk in chunks))
    ends = [began + (ended - began) * (each / sent[-1]) for each in sent]
    return map(chunk_leases.LoadedChunk, chunks, outcomes, [began, *ends], ends)


def _trace_loaded(job: ImportJob, loaded: list[chunk_leases.LoadedChunk]) -> None:
    """Add the span of each chunk to the import's trace. Chunks that shared a transaction have divided its time."""
    if not traces.are_sent():
        return
    for each in loaded:
        measured = {f"seconds.{phase}": seconds for phase, seconds in each.outcome.timings.items()}
        rows = {f"rows.{kind}": rows for kind, rows in asdict(each.outcome.tally).items()}
        about = _traced(each.chunk) | rows | measured | {"shared_transaction": len(loaded) > 1}
        traces.add_span("load chunk", job.trace, (each.began, each.ended), about)


def _trace_failed(job: ImportJob, chunk: Chunk, began: datetime, error: Exception) -> None:
    times = began, timezone.now()
    traces.add_span("load chunk", job.trace, times, _traced(chunk), type(error).__name__)


def _traced(chunk: Chunk) -> dict[str, traces.Attribute]:
    """What a span has of the chunk."""
    return {"chunk": chunk.number, "attempt": chunk.attempt, "bytes": chunk.length, "rows": chunk.rows}


def _utc(moment: datetime | None) -> str:
    """The moment in UTC as a MySQL DATETIME, in whole seconds; "" for a job that has not begun."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if moment else ""


def committed(run: chunk_leases.ChunkRun) -> list[chunk_leases.LoadedChunk]:
    """The chunks of a dead worker's run that it had committed. None of them if the server or the store is away.

    Where nothing can be rolled back, the ledger's row of a chunk does not tell that the chunk is complete.
    """
    if not run.job.plan.rolls_back:
        return []
    try:
        first = _first_load(run)
        outcomes = committed_outcomes([_of_chunk(first, chunk, run.job) for chunk in run.chunks])
    except Problem:
        return []
    # It was committed before the lease of its worker ended.
    ended = min([timezone.now(), *(chunk.lease for chunk in run.chunks if chunk.lease)])
    return [
        chunk_leases.LoadedChunk(chunk, each, ended, ended)
        for chunk, each in zip(run.chunks, outcomes, strict=True)
        if each
    ]


def _committed(chunk_load: ChunkLoad) -> Outcome | None:
    """The outcome of a chunk that was committed although the server's answer was lost; None if it was not committed.

    Also None if the server is away or slow: then the next attempt finds out.
    """
    try:
        with within(COMMITTED_SECONDS):
            return committed_outcomes([chunk_load])[0]
    except Problem:
        return None
