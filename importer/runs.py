"""What a worker does to load: claim a run of chunks, load them one by one on one connection, record them in groups.

Each chunk is a transaction of its own on the target. What the first chunks of a run have brought stands, whatever
becomes of the later ones.
"""

import time
from dataclasses import replace
from datetime import UTC, datetime

from django.utils import timezone

from importer import jobs, live, rejects
from importer.engine.errors import MethodRefused, Problem, TargetProblem
from importer.engine.load import Loader, Work, loaded_before
from importer.engine.outcome import Outcome
from importer.heart import Heart
from importer.models import Chunk, ImportJob
from importer.preparation import plan_without
from importer.wake import Step
from importer.work import Then, as_problem

# Seconds after which a run gives back what it has not begun, and a task takes no further run: a pause, a change of the
# parallelism and other jobs must not wait for long.
RUN_SECONDS = 2.0
TASK_SECONDS = 10.0
# Committed chunks are recorded together at most so many seconds after the first of them.
RECORD_SECONDS = 0.5


def load(chunk_id: int, then: Then) -> None:
    """Load a run that begins with this chunk, and further ones as long as nobody else waits for the worker."""
    run = jobs.claim_run(chunk_id)
    if not run:
        return
    job = run.job
    later: list[Step] = []
    until = time.monotonic() + TASK_SECONDS
    try:
        with Loader(job.plain_file, job.target.address, job.plan.session) as loader:
            while run:
                later, goes_on = _Way(run, loader).go()
                run = jobs.claim_next_run(run) if goes_on and time.monotonic() < until else None
    finally:
        then(job.pk, later)


class _Way:
    """One worker's way through a run."""

    def __init__(self, run: jobs.ChunkRun, loader: Loader) -> None:
        self.run = run
        self._loader = loader
        self._work: Work | None = None
        self._heart = Heart.of_run(run)
        self._sent = live.Sent(run.job.pk, str(run.key))
        self._left = list(run.chunks)
        self._loaded: list[jobs.Loaded] = []
        self._recorded_at = float("-inf")
        # What may end the job is told at once.
        self._rejects_count = run.job.options.limits_rejects

    def go(self) -> tuple[list[Step], bool]:
        """Load the run's chunks. What is to come a little later if one fails, and whether the worker may go on."""
        later: list[Step] = []
        try:
            with self._heart:
                error = self._load_all()
            goes_on = self._record() and not error
            if error:
                later = self._failed(self._left.pop(0), error)
            return later, goes_on
        finally:
            jobs.give_back(self.run, self._left)
            self._sent.forget()

    def _load_all(self) -> Exception | None:
        """Load as many as are wanted. An error is that of the first one of those that are left then."""
        until = time.monotonic() + RUN_SECONDS
        while self._left and time.monotonic() < until:
            if error := self._load(self._left[0]):
                return error
            self._left.pop(0)
            if self._is_time_to_record() and not self._record():
                break
        return None

    def _load(self, chunk: Chunk) -> Exception | None:
        """Load one chunk; what stood in the way, whatever it is."""
        began = timezone.now()
        try:
            if not self._work:
                self._work = _work(self.run)
                self._heart.connected(self._loader.connect())
            outcome = self._loader.load(_of_chunk(self._work, chunk), self._sent.of_chunk)
        except Exception as error:
            return error
        self._loaded.append(jobs.Loaded(chunk, outcome, began, timezone.now()))
        self._sent.whole(chunk.length)
        return None

    def _is_time_to_record(self) -> bool:
        if self._rejects_count and self._loaded[-1].outcome.tally.rejected:
            return True
        return time.monotonic() - self._recorded_at >= RECORD_SECONDS

    def _record(self) -> bool:
        """Record what is loaded. False: the run is to go no further."""
        goes_on = jobs.record_loaded(self.run, self._loaded)
        self._loaded = []
        self._sent.recorded()
        self._recorded_at = time.monotonic()
        return goes_on

    def _failed(self, chunk: Chunk, error: Exception) -> list[Step]:
        lost = isinstance(error, TargetProblem)
        if lost and self._work and (committed := _committed(_of_chunk(self._work, chunk))):
            now = timezone.now()
            jobs.record_loaded(self.run, [jobs.Loaded(chunk, committed, now, now)])
        elif self._heart.ended_it:
            jobs.record_cancelled(self.run, chunk)
        elif isinstance(error, MethodRefused) and self.run.job.options.method == "auto":
            return self._fall_back(chunk)
        else:
            return jobs.record_failed(self.run, chunk, as_problem(error, str(chunk), self.run.job))
        return []

    def _fall_back(self, chunk: Chunk) -> list[Step]:
        """Go on with the next method; another worker may have done so already."""
        job = ImportJob.objects.get(pk=self.run.job.pk)
        try:
            plan = plan_without(job) if job.plan.method == self.run.job.plan.method else job.plan
        except Exception as problem:
            return jobs.record_failed(self.run, chunk, as_problem(problem, str(chunk), job))
        return jobs.fall_back(self.run, chunk, plan)


def _work(run: jobs.ChunkRun) -> Work:
    """What there is to do for the run's first chunk."""
    job, chunk = run.job, run.chunks[0]
    return Work(
        job=str(job.key),
        attempt=chunk.attempt,
        path=job.plain_file,
        address=job.target.address,
        dialect=job.dialect,
        plan=job.plan,
        chunk=chunk.range,
        file_name=job.source.name,
        began=_utc(job.started_at),
        first=not job.chunks.filter(status=Chunk.Status.LOADED).exists(),
        # The engine ends a chunk that is above the limit of the whole job by itself.
        options=replace(job.options, max_rejects=jobs.most_rejects(job)),
        rejects=rejects.make_folder(job) if job.options.leaves_out else None,
    )


def _of_chunk(work: Work, chunk: Chunk) -> Work:
    return replace(work, chunk=chunk.range, attempt=chunk.attempt)


def _utc(moment: datetime | None) -> str:
    """As MySQL writes a DATETIME, to the second; "" for a job that has not begun."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if moment else ""


def _committed(work: Work) -> Outcome | None:
    """What became of a chunk that was committed after all, its answer lost.

    If the server is away, the next attempt finds out.
    """
    try:
        return loaded_before(work)
    except Problem:
        return None
