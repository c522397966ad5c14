"""The parts of a published measurement: ways to do a task, the tables of a workload, and the article's figures."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase as fnmatch

from bench.experiments.needs import Need
from bench.experiments.raw.routes import ROUTES
from bench.experiments.raw.target import Run
from bench.experiments.variants import ServerVariant
from bench.relay import Link
from bench.workloads.table import USUAL, TableForm, Workload, WorkloadTable
from importer.engine.errors import Problem
from importer.engine.plan.options import Options

SMALL, FULL = "small", "full"
# Seconds that a trial takes in addition to its work: to create and drop tables, profile a file, run an import's steps.
PER_TRIAL = 1.5
# Seconds in addition that a private server takes to start and to stop.
PER_START = 2.5
# Rows per second, for the estimate, of filling a table before the clock starts.
FILLED_IN_A_SECOND = 200_000


@dataclass(frozen=True)
class ImportAction:
    """A way that is an import with these options, ledger and verification included.

    `sql`: of a file with an INSERT statement for each row, in place of the CSV file.
    """

    options: Options
    sql: bool = False


@dataclass(frozen=True)
class RawAction:
    """A way of plain statements. `run` returns the number of rows or operations.

    `session`: variables of each of its sessions. `link`: a simulated network to the server. `route`: "" for the
    target's own address, or a name in ROUTES. `server`: it runs on a private server of this variant, not on the target.
    """

    run: Run
    session: Mapping[str, int] = field(default_factory=dict)
    link: Link | None = None
    route: str = ""
    server: ServerVariant | None = None

    @property
    def words(self) -> str:
        """What is special about it, for reports; "" for nothing."""
        parts = [f"{name}={value}" for name, value in self.session.items()]
        if self.link:
            parts.append(f"{self.link.round_trip * 1000:g} ms away")
            parts += [f"at {self.link.rate * 8 / 1e9:g} Gbit/s"] * bool(self.link.rate)
        if self.route:
            parts.append(f"by {ROUTES[self.route].title}")
        if self.server:
            parts.append("on a private server" + f" with {self.server.words}" * bool(self.server.words))
        return ", ".join(parts)


@dataclass(frozen=True)
class WayTable:
    """A workload's table that is created for a way; `filled`: it gets its rows before the clock starts."""

    table: WorkloadTable
    form: TableForm = USUAL
    filled: bool = False


@dataclass(frozen=True)
class Way:
    """One way to do the experiment's task. The last of its tables is the measured one; parents come before children.

    `rate`: rows or operations per second on two cores, approximately, for the estimate of the duration. `published`:
    the article's rate per second. `not_comparable`: why that rate cannot be compared with one measured here, or "".
    `most_rows`: limit of the rows of the last table. `most_seconds`: limit of the duration, after which the way stops
    even if rows are left. `server_file`: it loads a copy of the file that the server can read, made before the clock
    starts. `compared_with`: the name of the way that the rate is divided by, "" for the experiment's baseline.
    `counts`: what its rate counts.
    """

    name: str
    action: ImportAction | RawAction
    tables: tuple[WayTable, ...]
    rate: float
    published: float | None = None
    not_comparable: str = ""
    most_rows: int | None = None
    most_seconds: float = math.inf
    server_file: bool = False
    compared_with: str = ""
    counts: str = "rows loaded"

    @property
    def among(self) -> str:
        """What the ways have in common of which one can be the fastest: what they count, of which table, and where."""
        where = " on a private server" if self.server else ""
        return f"{self.counts} ({self.tables[-1].table.name}){where}"

    @property
    def server(self) -> ServerVariant | None:
        """The variant of the private server that it runs on; None for a way on the target."""
        return self.action.server if isinstance(self.action, RawAction) else None

    def rows(self, rows: int) -> int:
        """The rows of the last table that the way loads, for a workload of `rows` rows."""
        own = self.tables[-1].table.rows_of(rows)
        return min(own, self.most_rows) if self.most_rows else own

    def seconds(self, rows: int) -> float:
        """The estimated seconds on two cores with a local disk, creating and filling its tables included."""
        tables = zip(self.tables, self.files(rows), strict=True)
        filled = sum(count for each, (_, count) in tables if each.filled)
        start = PER_START if self.server else 0
        return PER_TRIAL + start + filled / FILLED_IN_A_SECOND + min(self.rows(rows) / self.rate, self.most_seconds)

    def files(self, rows: int) -> list[tuple[WorkloadTable, int]]:
        """The table and the number of rows of each file that the way needs, in the order of its tables.

        A table that is filled by a copy has as many rows as its source.
        """
        own = self.tables[-1].table.name
        tables = [each.table for each in self.tables]
        return [(each, self.rows(rows) if each.name == own else each.rows_of(rows)) for each in tables]


@dataclass(frozen=True)
class Claim:
    """A claim of the article about the ratio of two ways' rates, `of` / `to`, or about the rate of `of` if `to` is "".

    `about` is a ratio that the article gives; `least` and `most` are bounds that follow from its words. `number`: its
    number in docs/experiments/claims.md, "" for a figure of the article that is no claim of its own. `needs`: the
    conditions without which no verdict is given. `because`: why other conditions of the article do not change the
    answer, for a claim that says less than the article. `unmeasured`: why no way measures it, for one without `of`.
    """

    says: str
    of: str = ""
    to: str = ""
    about: float | None = None
    least: float | None = None
    most: float | None = None
    number: str = ""
    needs: tuple[Need, ...] = ()
    because: str = ""
    unmeasured: str = ""

    @property
    def unit(self) -> str:
        """What its figures count, to follow them."""
        return "times" if self.to else "a second"

    @property
    def ways(self) -> tuple[str, ...]:
        """The names of the ways that it compares."""
        return tuple(filter(None, (self.of, self.to)))


@dataclass(frozen=True)
class Experiment:
    """A published measurement. `by`: author and year of the article; `url`: its address.

    `baseline`: the way that the others' rates are divided by. `notes`: what differs here.

    `small_rows` and `full_rows` count the rows of all tables of the workload together; full is the article's size.
    """

    name: str
    article: str
    by: str
    url: str
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
        named |= {name for claim in self.claims for name in claim.ways}
        assert named <= known, f"{self.name} has no way {named - known}"

    @property
    def full_rows(self) -> int:
        return self.workload.full_rows

    def way(self, name: str) -> Way:
        """Return the way of that name. Raises KeyError."""
        return {each.name: each for each in self.ways}[name]

    def base(self, way: Way) -> Way:
        """The way that a way's rate is divided by."""
        return self.way(way.compared_with or self.baseline)

    def rows(self, size: str) -> int:
        """The workload's rows for a size: "small", "full", or a number. Raises Problem for any other text."""
        if size in (SMALL, FULL):
            return self.small_rows if size == SMALL else self.full_rows
        if not size.isdecimal() or not 1 <= int(size) <= 10**12:
            raise Problem(
                f"{size} is not a valid size.", advice="Give small, full, or a number of rows.", option="size"
            )
        return int(size)

    def file_bytes(self, rows: int, ways: Sequence[Way]) -> int:
        """The estimated bytes of the files of these ways; ways that need the same file share it."""
        files = {(table.name, count): table for way in ways for table, count in way.files(rows)}
        return sum(table.bytes_of(count) for (_, count), table in files.items())

    def chosen(self, patterns: Sequence[str]) -> tuple[str, ...]:
        """The names of the ways that fit a pattern (* and ?), of those that they are compared with, directly or not,
        and of the baseline.

        Raises Problem for a pattern that fits none.
        """
        for pattern in patterns:
            if not any(fnmatch(each.name, pattern) for each in self.ways):
                raise Problem(
                    f"{self.name} has no way {pattern}.",
                    advice="`millrace experiment list --json` names them.",
                    option="way",
                )
        names: set[str] = set()
        needed = {each.name for each in self.ways if any(fnmatch(each.name, pattern) for pattern in patterns)}
        needed |= {self.baseline} if needed else set()
        while needed:
            names |= needed
            needed = {self.base(self.way(name)).name for name in needed} - names
        return tuple(each.name for each in self.ways if each.name in names)

    def only(self, names: Collection[str]) -> "Experiment":
        """The experiment with these of its ways, the baseline among them, and with the claims about them."""
        return replace(
            self,
            ways=tuple(each for each in self.ways if each.name in names),
            claims=tuple(each for each in self.claims if each.ways and set(each.ways) <= set(names)),
        )

    def seconds(self, rows: int, rounds: int, ways: Sequence[Way] = ()) -> float:
        """The estimated seconds of these rounds of the ways, by default of all, on two cores with a local disk.

        A warm-up is a round, too.
        """
        return sum(each.seconds(rows) for each in ways or self.ways) * rounds
