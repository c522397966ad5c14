"""The conditions of the articles that their claims depend on, and whether they hold where an experiment ran."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.experiments.variants import PART_OF_MEMORY
from importer.engine.units import GIB


@dataclass(frozen=True)
class Place:
    """Where an experiment ran: the cores and the bytes of memory of the machine, and the server.

    `round_trip` and `rate`: the seconds there and back of the nearest link that it simulated, and its bytes per second
    each way, as measured; None without one. `rows`: of the workload, for a claim about that run; not recorded.
    """

    cores: int
    memory: int
    flavour: str
    release: tuple[int, ...]
    round_trip: float | None = None
    rate: float | None = None
    rows: int = 0

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Place":
        """The place of a record, as dataclasses.asdict wrote it."""
        return cls(**{**value, "release": tuple(value["release"])})


@dataclass(frozen=True)
class Need:
    """A condition that a claim depends on: `words` for people, and whether it `holds` in a place."""

    words: str
    holds: Callable[[Place], bool]


def cores(count: int) -> Need:
    """A machine with at least `count` cores."""
    return Need(f"{count} cores", lambda place: place.cores >= count)


def rows(least: int, what: str) -> Need:
    """A workload of at least this number of rows; `what` says in words what that is."""
    return Need(f"{what}, of {least:,} rows", lambda place: place.rows >= least)


def pool(gib: int) -> Need:
    """Enough memory for a buffer pool of `gib` GiB: a private server gets a part of the machine's memory."""
    least = PART_OF_MEMORY * gib
    return Need(f"{least} GiB of memory for a buffer pool of {gib}", lambda place: place.memory >= least * GIB)


INDEX_LOCK = Need(
    "a server with one lock for each index, MySQL 5.5",
    lambda place: place.flavour == "MySQL" and place.release < (5, 6),
)
# No report knows this about its place, so nothing is judged that depends on it.
MAGNETIC = Need("a magnetic disk, and a report that knows of it", lambda _: False)
GIGABIT = Need(
    "a link whose measured round trip is at most 0.1 ms",
    lambda place: place.round_trip is not None and place.round_trip <= 0.0001,
)
# The article's gigabit carried 780 Mbit/s.
GIGABIT_RATE = Need(
    "a link whose measured rate is 0.6 to 1 Gbit/s",
    lambda place: place.rate is not None and 0.6e9 <= place.rate * 8 <= 1e9,
)
