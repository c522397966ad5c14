"""What a published measurement is made of: ways to do a thing, in tables of a workload, and the article's figures."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.experiments.raw_statements import StatementTarget
from importer.experiments.workloads.table import Workload, WorkloadTable

SMALL, FULL = "small", "full"
# Seconds of a trial besides its work: tables made and dropped, a file looked at, an import's steps.
PER_TRIAL = 1.5
# Rows of a table that is to be full before the clock starts.
FILLED_IN_A_SECOND = 200_000


@dataclass(frozen=True)
class ImportAction:
    """Done by an import with these options, ledger and verification included."""

    options: Options


@dataclass(frozen=True)
class RawAction:
    """Done without an import: `run` gives how many rows or operations it did. `delay`: from so many seconds away."""

    run: Callable[[StatementTarget], int]
    delay: float = 0


@dataclass(frozen=True)
class WayTable:
    """A table that is made for a way, of a workload's; `filled`: it has its rows before the clock starts."""

    table: WorkloadTable
    keys: bool = True
    engine: str = "InnoDB"
    filled: bool = False


@dataclass(frozen=True)
class Way:
    """One way. Of its tables, parents come first, and the last one is what it is about.

    `rate` is about what it does in a second on two cores, for the estimate. `published` is the article's rate, and
    `why_not` why that cannot be compared with one from here. `most_rows`: no more than so many of the last table's.
    `most_seconds`: it ends after so many, done or not. `beside`: the way that its rate is beside, if that is not the
    experiment's baseline.
    """

    name: str
    action: ImportAction | RawAction
    tables: tuple[WayTable, ...]
    rate: float
    published: float | None = None
    not_comparable: str = ""
    most_rows: int | None = None
    most_seconds: float = math.inf
    compared_with: str = ""

    def rows(self, rows: int) -> int:
        """How many rows of its last table it loads, where the workload has so many."""
        own = self.tables[-1].table.rows_of(rows)
        return min(own, self.most_rows) if self.most_rows else own

    def seconds(self, rows: int) -> float:
        """About how long it takes on two cores with a local disk, its tables included."""
        made = zip(self.tables, self.files(rows), strict=True)
        filled = sum(count for each, (_, count) in made if each.filled)
        return PER_TRIAL + filled / FILLED_IN_A_SECOND + min(self.rows(rows) / self.rate, self.most_seconds)

    def files(self, rows: int) -> list[tuple[WorkloadTable, int]]:
        """The table and its rows of each file that it takes, in the order of its tables; a copy has its source's."""
        own = self.tables[-1].table.name
        tables = [each.table for each in self.tables]
        return [(each, self.rows(rows) if each.name == own else each.rows_of(rows)) for each in tables]


@dataclass(frozen=True)
class Claim:
    """What the article says of the rate of a way beside that of another one, or of itself where `to` is "".

    `about` is a ratio that the article gives; `least` and `most` are bounds that follow from its words.
    """

    says: str
    of: str
    to: str = ""
    about: float | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Experiment:
    """A published measurement. `baseline` is the way that the others' rates are beside. `notes` say what is not alike.

    `small_rows` and `full_rows` are of the workload, all its tables together; full is what the article had.
    """

    name: str
    article: str
    asks: str
    conditions: str
    workload: Workload
    small_rows: int
    baseline: str
    ways: tuple[Way, ...]
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        known = {each.name for each in self.ways}
        named = {self.baseline, *(way.compared_with for way in self.ways if way.compared_with)}
        named |= {name for claim in self.claims for name in (claim.of, claim.to) if name}
        assert named <= known, f"{self.name} has no way {named - known}"

    @property
    def full_rows(self) -> int:
        return self.workload.full_rows

    def way(self, name: str) -> Way:
        """The way of that name. Raises KeyError."""
        return {each.name: each for each in self.ways}[name]

    def rows(self, size: str) -> int:
        """Rows of the workload: of "small", "full", or of the number itself. Raises Problem for anything else."""
        if size in (SMALL, FULL):
            return self.small_rows if size == SMALL else self.full_rows
        if not size.isdecimal() or not 1 <= int(size) <= 10**12:
            raise Problem(f"A size of {size} is none.", advice="Give small, full, or a number of rows.", option="size")
        return int(size)

    def file_bytes(self, rows: int) -> int:
        """About what the files of all ways take, each of which is there once."""
        files = {(table.name, count): table for way in self.ways for table, count in way.files(rows)}
        return sum(table.bytes_of(count) for (_, count), table in files.items())

    def seconds(self, rows: int, repeats: int) -> float:
        """About how long it takes on two cores with a local disk, the round that warms up included."""
        return sum(each.seconds(rows) for each in self.ways) * (repeats + 1)
