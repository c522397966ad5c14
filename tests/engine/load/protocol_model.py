"""A model of the protocol that loads each chunk exactly once, and random schedules of kills, fail-overs and hands.

`python -m tests.engine.load.protocol_model --minutes 10` tries schedules, and prints how many, or one that breaks a
promise. ARCHITECTURE.md (Why no row gets lost) explains the protocol.
"""

import argparse
import random
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from importer.engine.load.ledger import FIRST_SEAL, Entry
from importer.engine.load.seal import Seal

CHUNKS = 3
DIGESTS = [f"{1 << number:016x}" for number in range(CHUNKS)]
# What the server cannot tell from a fail-over, or from a load that has not begun (ARCHITECTURE.md, Not noticed).
EMPTIED = "all that a seal counts was deleted with it, in a table that had rows, and the server has started again"
OLD_COPY = "an old copy lacks chunks that are in hand or not recorded, or has some that are lost or came twice"
CASES = {EMPTIED, OLD_COPY}
# The other promise: an import whose ledger nobody changes succeeds in the end.
NO_HANDS = "it has not succeeded, although nobody has changed the ledger"
Ledger = Mapping[int, Entry]
# Names of methods of World that take a number, of which they make what they need; first, whether the table has rows.
Schedule = list[tuple[str, int]]


class Lost(Exception):
    """The connection is gone."""


class Broken(Exception):
    """Somebody has changed the ledger: the import fails."""


class Server:
    """The target: how often each chunk's rows are in the table, the ledger, and the chunks that transactions lock."""

    def __init__(self) -> None:
        self.copies: tuple[int, ...] = (0,) * CHUNKS
        self.ledger: Ledger = {}
        self.locked: set[int] = set()
        # Both as each commit has left them, and copies of the ledger that people have made.
        self.log, self.backups = [(self.copies, self.ledger)], [self.ledger]
        self.identity = self.started = self.starts = 0

    @property
    def chunks(self) -> set[int]:
        return {number for number in self.ledger if number < FIRST_SEAL}

    def commit(self, ledger: Ledger, loaded: Sequence[int] = ()) -> None:
        self.copies = tuple(each + (number in loaded) for number, each in enumerate(self.copies))
        self.ledger = ledger
        self.log.append((self.copies, ledger))
        self.backups.append(ledger)

    def start_again(self, now: int, lost: int, another: int) -> None:
        """A restart, or a fail-over to another server that has run for long; it may lose the last commits."""
        del self.log[max(1, len(self.log) - lost) :]
        self.copies, self.ledger = self.log[-1]
        self.identity, self.started = self.identity + another, 0 if another else now
        self.starts, self.locked = self.starts + 1, set()


class Unsealed:
    """The protocol before seals: a ledger with a row of the import counts as whole, and what it lacks loads again."""

    seals = False

    def check(self, world: "World", seals: Mapping[int, int]) -> None:
        """Raise Broken if a connection must not load. `seals`: the known ones, and a time before each was opened."""
        if not world.server.ledger and any(each.status == "loaded" for each in world.chunks):
            raise Broken

    def missing(self, world: "World") -> set[int]:
        """The chunks that must load again, when all are recorded as loaded. Raises Broken if none may load."""
        return set(range(CHUNKS)) - world.server.chunks


class Sealed(Unsealed):
    """The protocol with seals: Loader._check_ledger(), and worker.verify.lost_chunks()."""

    seals = True

    def check(self, world: "World", seals: Mapping[int, int]) -> None:
        if gone := set(seals) - set(world.server.ledger):
            require_lost_rows(world, max(seals[each] for each in gone))
        require_agreement(world.server.ledger)

    def missing(self, world: "World") -> set[int]:
        self.check(world, world.seals)
        if missing := super().missing(world):
            require_lost_rows(world, max(world.chunks[each].finished for each in missing))
        return missing


def require_agreement(ledger: Ledger) -> None:
    """seal.require_agreement()"""
    for number in {each.seal for each in ledger.values()}:
        counted = [each for each in ledger.values() if each.seal == number != each.chunk]
        if ledger.get(number) != entry_of(Seal("", number).with_entries(counted)):
            raise Broken


def require_lost_rows(world: "World", since: int) -> None:
    """verify.require_lost_rows()"""
    server = world.server
    if world.rows_before:
        if server.identity == 0 and server.started < since:
            raise Broken
    elif sum(server.copies) != sum(server.ledger[each].rows for each in server.chunks):
        raise Broken


def entry_of(seal: Seal) -> Entry:
    """The ledger row of a seal."""
    return Entry(seal.job, seal.number, seal.chunks, seal.rows, seal.bytes, f"{seal.digest:016x}", seal.number)


class Loader:
    """A worker that loads a run of chunks on one connection; it may be killed between any two of its `steps`.

    `group` chunks share a transaction. `late`: they are recorded after the last one.
    """

    def __init__(self, world: "World", run: int, group: int, late: bool) -> None:
        self.world, self.run, self.group, self.late = world, run, group, late
        self.server, self.left = world.server, world.held(run)
        # Another set after the next start of the server, which ends the connection.
        self.locks = self.server.locked
        self.seal: Seal | None = None
        self.locked: set[int] = set()
        self.committed: dict[int, int] = {}
        self.steps = self._steps()

    def kill(self) -> None:
        """The process ends, and the server rolls back."""
        self.steps.close()
        self._unlock()

    def _steps(self) -> Iterator[None]:
        try:
            yield from self._load()
        except Lost:
            pass
        except Broken:
            self.world.fail()
        self._unlock()
        self.world.record(self.run, self.committed)
        self.world.release(self.run)

    def _load(self) -> Iterator[None]:
        world, known = self.world, dict(self.world.seals)
        yield
        self._require_connection()
        world.protocol.check(world, known)
        yield
        if world.protocol.seals:
            self._require_connection()
            before, self.seal = world.clock, Seal("", FIRST_SEAL + self.run)
            self.server.commit({**self.server.ledger, self.seal.number: entry_of(self.seal)})
            yield
            world.seals[self.seal.number] = before
            if not world.held(self.run):
                return
            yield
        while self.left and world.status == "loading":
            yield from self._transaction(self.left[: self.group])
            del self.left[: self.group]
            yield
            if not self.late:
                world.record(self.run, self.committed)
                yield

    def _transaction(self, chunks: Sequence[int]) -> Iterator[None]:
        """Load the chunks together, or each by itself if one of them is committed already."""
        self._require_connection()
        while not self.locks.isdisjoint(chunks):
            yield
            self._require_connection()
        if self.server.chunks.isdisjoint(chunks):
            self.locked = set(chunks)
            self.locks |= self.locked
            yield
            self._commit(chunks)
            ended = self.world.clock
            yield
            self.committed |= dict.fromkeys(chunks, ended)
        elif len(chunks) == 1:
            self.committed[chunks[0]] = self.world.clock
        else:
            for each in chunks:
                yield from self._transaction([each])

    def _commit(self, chunks: Sequence[int]) -> None:
        self._require_connection()
        number = self.seal.number if self.seal else 0
        entries = [Entry("", each, 1, 1, 1, DIGESTS[each], number) for each in chunks]
        ledger = {**self.server.ledger, **{each.chunk: each for each in entries}}
        if self.seal:
            if ledger.get(number) != entry_of(self.seal):
                raise Broken
            self.seal = self.seal.with_entries(entries)
            ledger[number] = entry_of(self.seal)
        self.server.commit(ledger, chunks)
        self._unlock()

    def _unlock(self) -> None:
        self.locks -= self.locked
        self.locked = set()

    def _require_connection(self) -> None:
        if self.locks is not self.server.locked:
            raise Lost


@dataclass
class Chunk:
    """The application's record of a chunk; `run` has claimed it last."""

    status: str = "pending"
    run: int = 0
    finished: int = 0


class World:
    """The server, the application's records, its loaders, and what may happen to them: the methods in WEIGHTS."""

    def __init__(self, protocol: Unsealed, rows_before: bool) -> None:
        self.protocol, self.rows_before = protocol, rows_before
        self.server = Server()
        self.chunks = [Chunk() for _ in range(CHUNKS)]
        self.seals: dict[int, int] = {}
        self.loaders: dict[int, Loader] = {}
        self.status, self.clock, self.runs = "loading", 0, 0
        self.hands = self.emptied = self.old_copy = False

    def fault(self, excused: Collection[str]) -> str:
        """How a promise is broken at the end, unless the case is one of those `excused`; "" for none."""
        if EMPTIED in excused and self.rows_before and self.emptied and self.server.starts:
            return ""
        if OLD_COPY in excused and self.old_copy:
            return ""
        if self.status == "succeeded" and self.server.copies != (1,) * CHUNKS:
            return f"it has succeeded, and its chunks are {self.server.copies} times in the table"
        return "" if self.status == "succeeded" or self.hands or NO_HANDS in excused else NO_HANDS

    # The application's records

    def held(self, run: int) -> list[int]:
        return [number for number, each in enumerate(self.chunks) if each.status == "loading" and each.run == run]

    def record(self, run: int, committed: Mapping[int, int]) -> None:
        for number in set(self.held(run)) & set(committed):
            self.chunks[number] = Chunk("loaded", run, committed[number])

    def release(self, run: int) -> None:
        for number in self.held(run):
            self.chunks[number].status = "pending"

    # Workers

    def claim(self, number: int) -> None:
        pending = [each for each in self.chunks if each.status == "pending"]
        if self.status == "loading" and pending:
            self.runs += 1
            for each in pending[: number % CHUNKS + 1]:
                each.status, each.run = "loading", self.runs
            self.loaders[self.runs] = Loader(self, self.runs, number // 4 % 2 + 1, bool(number // 8 % 2))

    def step(self, number: int) -> None:
        """A few steps of a loader."""
        self._steps(self._pick(number), number // 8 % 8 + 1)

    def complete(self, number: int) -> None:
        """A loader continues until it ends, unless it waits for another one."""
        self._steps(self._pick(number), 9 * CHUNKS)

    def _steps(self, run: int, most: int) -> None:
        for _ in range(most):
            if run in self.loaders and next(self.loaders[run].steps, self) is self:
                del self.loaders[run]

    def expire(self, number: int) -> None:
        """A loader's leases end, and it does not know."""
        self.release(self._pick(number))

    def kill(self, number: int) -> None:
        if run := self._pick(number):
            self.loaders.pop(run).kill()
            self.release(run)

    def _pick(self, number: int) -> int:
        return sorted(self.loaders)[number % len(self.loaders)] if self.loaders else 0

    def verify(self, _: int) -> None:
        if self.status == "loading" and all(each.status == "loaded" for each in self.chunks):
            try:
                missing = self.protocol.missing(self)
            except Broken:
                self.fail()
            else:
                self.status = "loading" if missing else "succeeded"
                for each in missing:
                    self.chunks[each].status = "pending"

    def fail(self, _: int = 0) -> None:
        """Somebody has changed the ledger, or there is another reason."""
        self.status = "failed"

    def retry(self, _: int) -> None:
        if self.status == "failed" and all(each.status != "loading" for each in self.chunks):
            self.status = "loading"

    # The server and its ledger

    def start_again(self, number: int) -> None:
        self.server.start_again(self.clock, number % 4, number // 4 % 2)

    def delete(self, number: int) -> None:
        """Some rows, all, the older ones, or the seals."""
        kind, number, rows = number % 4, number // 4, list(self.server.ledger.items())
        some = [each for place, each in enumerate(rows) if number >> place & 1]
        chunks = [(key, each) for key, each in rows if key < FIRST_SEAL]
        self._change(dict((some, [], rows[number % (len(rows) + 1) :], chunks)[kind]))

    def edit(self, number: int) -> None:
        for key, each in list(self.server.ledger.items())[number % 8 :][:1]:
            self._change({**self.server.ledger, key: replace(each, rows=number // 8)})

    def restore(self, number: int) -> None:
        copy = self.server.backups[number % len(self.server.backups)]
        in_hand = {each for loader in self.loaders.values() for each in loader.left}
        for each, copies in enumerate(self.server.copies):
            known = self.chunks[each].status == "loaded" and each not in in_hand
            self.emptied |= each not in copy and copies > 0
            self.old_copy |= copies != (each in copy) and not (known and each not in copy)
        self._change(copy)

    def _change(self, ledger: Ledger) -> None:
        left = {each.seal for each in ledger.values()}
        self.emptied |= any(each.seal not in left for each in self.server.ledger.values())
        self.hands = True
        self.server.commit(ledger)


# How often each operation is drawn.
WEIGHTS = {"step": 8, "claim": 6, "complete": 4, "kill": 2, "expire": 1, "verify": 2, "retry": 2, "fail": 1}
WEIGHTS |= {"start_again": 1, "delete": 4, "edit": 1, "restore": 1}
END: Schedule = [*[("complete", number) for number in range(CHUNKS)], *[("kill", 0)] * 25]
END += [("claim", CHUNKS - 1), ("complete", 0), ("verify", 0), ("retry", 0)] * 3


def play(protocol: Unsealed, schedule: Schedule, excused: Collection[str] = CASES) -> str:
    """Follow the schedule, and then to the end of the import; what is wrong with it, "" if nothing is."""
    world = World(protocol, bool(schedule[0][1]))
    for world.clock, (name, number) in enumerate([*schedule[1:], *END], 1):
        getattr(world, name)(number)
        if world.status == "succeeded":
            break
    return world.fault(excused)


def draw(seed: int) -> Schedule:
    """The schedule of this seed."""
    source = random.Random(seed)
    names = source.choices(list(WEIGHTS), list(WEIGHTS.values()), k=source.randint(3, 25))
    return [("rows_before", source.getrandbits(1)), *((each, source.getrandbits(12)) for each in names)]


def find(protocol: Unsealed, seeds: Iterable[int], excused: Collection[str] = CASES) -> Schedule:
    """The first of the schedules that breaks a promise, without the operations that it does not need; [] for none."""
    broken: Schedule = next((each for each in map(draw, seeds) if play(protocol, each, excused)), [])
    place = 1
    while place < len(broken):
        shorter = broken[:place] + broken[place + 1 :]
        broken, place = (shorter, 1) if play(protocol, shorter, excused) else (broken, place + 1)
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description="Try random schedules of the protocol with seals.")
    parser.add_argument("--minutes", type=float, default=1)
    minutes = parser.parse_args().minutes
    first, until, tried = secrets.randbelow(2**40), time.monotonic() + 60 * minutes, 0
    while time.monotonic() < until:
        seeds = range(first + tried, first + tried + 1000)
        if schedule := find(Sealed(), seeds):
            raise SystemExit(f"{play(Sealed(), schedule)}: {schedule}")
        tried += len(seeds)
    print(f"{tried:,} schedules from seed {first}: each row once in all that succeeded.")


if __name__ == "__main__":
    main()
