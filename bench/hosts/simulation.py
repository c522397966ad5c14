"""Hosts, slots, a broker and a clock of their own, around the real claims, leases and shares of importer.jobs.

Nothing sleeps and no server is asked: a chunk takes virtual seconds. Hosts die and come back, messages are lost, and
chunks fail, all by a seeded chance.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from unittest.mock import patch

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from importer import queue
from importer.engine.errors import Problem
from importer.engine.load.outcome import Outcome, Tally
from importer.engine.units import MIB
from importer.jobs import lifecycle
from importer.jobs.sharing.claimants import waiting_for_target
from importer.jobs.steps import chunk_leases
from importer.jobs.steps.lease_recovery import expire_run, expired_runs
from importer.models import Chunk, ImportJob, SourceFile, Target
from importer.queue import Message
from importer.worker import load_chunks
from importer.worker.hosts import presence
from importer.worker.hosts.presence import Worker

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
CHUNK_BYTES = 8 * MIB
# The chunks that are loaded between two looks at the database, as small ones are.
TOGETHER = 8
LOST = Problem("The connection was lost.", retryable=True)


@dataclass(frozen=True)
class Chances:
    """What goes wrong. `lives`, `away`: mean seconds until a host dies and until it is back; 0: no host ever dies.

    `fails`: the share of chunks whose load fails; `lost`: the share of messages that no worker gets.
    """

    lives: float = 0
    away: float = 30
    fails: float = 0
    lost: float = 0


@dataclass
class Slot:
    """A slot of a host, with the run that it loads, and those of its chunks that are not loaded yet.

    `leased`: when it last took or renewed the lease; `until`: when its task ends, in virtual seconds.
    """

    host: int
    run: chunk_leases.ChunkRun | None = None
    left: list[Chunk] = field(default_factory=list)
    leased: float = 0
    until: float = 0


def make_import(target: Target, person: User, table: str, chunks: int, parallelism: int) -> ImportJob:
    """An import that loads, with pending chunks of CHUNK_BYTES. Of its large file a run takes as much as it may."""
    source = SourceFile.objects.create(name=table, path="", size=2**50, status=SourceFile.Status.READY)
    job = ImportJob.objects.create(
        target=target,
        source=source,
        schema_name="s",
        table_name=table,
        status=ImportJob.Status.LOADING,
        asked_by=person,
        dialect_json={},
        mapping_json=[],
        plan_json={},
        parallelism=parallelism,
        scan_finished=True,
        phase_since=timezone.now(),
    )
    Chunk.objects.bulk_create(
        Chunk(job=job, number=number, offset=number * CHUNK_BYTES, length=CHUNK_BYTES, rows=1000, first_line=1)
        for number in range(chunks)
    )
    return job


class Simulation:
    """`hosts` hosts with `slots` slots each. `seconds_of`: the seconds of a chunk when this number of slots load.

    `look` is called before each event.
    """

    def __init__(
        self,
        hosts: int,
        slots: int,
        seconds_of: Callable[[Random, int], float],
        chances: Chances,
        look: Callable[["Simulation"], None] = lambda _: None,
        seed: int = 1,
    ) -> None:
        self.seconds = 0.0
        self.deaths = 0
        self.loaded: Counter[int] = Counter()  # how often each chunk was recorded as loaded, by its id
        # For each chunk of a dead worker that another one took: the seconds since its lease had been renewed.
        self.taken_over: list[float] = []
        self._orphans: dict[int, float] = {}
        self.slots = [Slot(host) for host in range(hosts) for _ in range(slots)]
        self._free = list(self.slots)
        self._alive = dict.fromkeys(range(hosts), True)
        self._seconds_of, self._chances, self._look = seconds_of, chances, look
        self._random = Random(seed)
        self._messages: deque[Message] = deque()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0

    def now(self) -> datetime:
        """The virtual time."""
        return BEGIN + timedelta(seconds=self.seconds)

    def loading(self) -> list[Slot]:
        """The slots that load now, on hosts that are alive."""
        return [slot for slot in self.slots if slot.run]

    def run(self) -> float:
        """Load all imports. Returns the virtual seconds that it took."""
        with self._virtual():
            self._sweep()
            for host in self._alive if self._chances.lives else ():
                self._later(self._random.expovariate(1 / self._chances.lives), self._die(host))
            while ImportJob.objects.filter(status=ImportJob.Status.LOADING).exists():
                self._deliver()
                self._look(self)
                self.seconds, _, act = heapq.heappop(self._events)
                act()
        return self.seconds

    @contextmanager
    def _virtual(self) -> Iterator[None]:
        worker = Worker(name="load@simulated")
        with (
            patch.object(timezone, "now", self.now),
            patch.object(queue, "send", self._messages.extend),
            patch.object(presence, "_own", worker),
        ):
            yield

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (self.seconds + seconds, self._number, act))

    def _sweep(self) -> None:
        for run in expired_runs():
            expire_run(run)
        for job_id in lifecycle.unended():
            self._advance(job_id)
        self._later(settings.SWEEP_SECONDS, self._sweep)

    def _advance(self, job_id: int) -> None:
        self._messages.extend(lifecycle.advance(job_id))

    def _deliver(self) -> None:
        """Give messages to free slots, as long as there are both."""
        waiting: list[Message] = []
        while self._messages:
            message = self._messages.popleft()
            if message.delay:
                self._later(message.delay, partial(self._advance, message.id))
            elif message.task == "advance":
                self._advance(message.id)
            elif message.task == "load_run":
                waiting.append(message)
                if self._free:
                    self._messages.extend(self._taken(waiting))
                    waiting = []
        self._messages.extend(waiting)

    def _taken(self, messages: Sequence[Message]) -> list[Message]:
        """Let free slots take the messages; those that are left."""
        for at, message in enumerate(messages):
            if not self._free:
                return list(messages[at:])
            if self._random.random() < self._chances.lost:
                continue
            slot = self._free.pop(self._random.randrange(len(self._free)))
            slot.until = self.seconds + load_chunks.TASK_SECONDS
            self._begin(slot, load_chunks.claim(message.id))
        return []

    def _begin(self, slot: Slot, run: chunk_leases.ChunkRun | None) -> None:
        slot.run, slot.left, slot.leased = run, list(run.chunks) if run else [], self.seconds
        if run:
            orphans = [each.pk for each in run.chunks if each.pk in self._orphans]
            self.taken_over += [self.seconds - self._orphans.pop(each) for each in orphans]
            self._load_next(slot)
        else:
            self._free.append(slot)

    def _load_next(self, slot: Slot) -> None:
        run, chunks, began = slot.run, slot.left[:TOGETHER], self.now()

        def ended() -> None:
            if slot.run is run:  # Otherwise the host has died since.
                self._ended(slot, chunks, began)

        self._later(len(chunks) * self._seconds_of(self._random, len(self.loading())), ended)

    def _ended(self, slot: Slot, chunks: Sequence[Chunk], began: datetime) -> None:
        run = slot.run
        assert run
        del slot.left[: len(chunks)]
        if self._random.random() < self._chances.fails:
            slot.left += chunks[1:]
            self._messages.extend(chunk_leases.record_failed(run, chunks[0], LOST))
            self._end_run(slot)
            return
        chunk_leases.record_loaded(
            run, [chunk_leases.LoadedChunk(chunk, _outcome(chunk), began, self.now()) for chunk in chunks]
        )
        self.loaded.update(chunk.pk for chunk in chunks)
        if slot.left and chunk_leases.renew_run(run, None) and chunk_leases.should_continue(run):
            slot.leased = self.seconds
            self._load_next(slot)
        elif not slot.left and self.seconds < slot.until and (following := chunk_leases.claim_next_run(run)):
            self._begin(slot, following)
        else:
            self._end_run(slot)

    def _end_run(self, slot: Slot) -> None:
        run = slot.run
        assert run
        chunk_leases.release_chunks(run, slot.left)
        slot.run, slot.left = None, []
        self._free.append(slot)
        for job_id in (run.job.pk, *waiting_for_target(run.job)):
            self._advance(job_id)

    def _die(self, host: int) -> Callable[[], None]:
        def die() -> None:
            self.deaths += 1
            for slot in self._slots_of(host):
                self._orphans.update(dict.fromkeys((chunk.pk for chunk in slot.left), slot.leased))
                slot.run, slot.left = None, []
            self._free = [slot for slot in self._free if slot.host != host]
            self._later(self._random.expovariate(1 / self._chances.away), come_back)

        def come_back() -> None:
            self._free.extend(self._slots_of(host))
            self._later(self._random.expovariate(1 / self._chances.lives), die)

        return die

    def _slots_of(self, host: int) -> list[Slot]:
        return [slot for slot in self.slots if slot.host == host]


def _outcome(chunk: Chunk) -> Outcome:
    return Outcome(chunk.rows, False, {"load": 1.0}, Tally(loaded=chunk.rows))
