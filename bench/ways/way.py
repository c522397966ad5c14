"""What all ways to load have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from bench.files import Files
from bench.servers import Server
from importer.engine.mysql.connection import connect, execute
from importer.experiments.workloads.table import Workload

# Where keys that refuse no row are put on: with the table, or when its rows are in.
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Clocked:
    """One load: seconds to its crash-safe end and to its first committed row (None: nobody saw it).

    `cpu` are processor seconds of all client processes, `peaks` the most memory (MB) of each by what it does, `cpus`
    the processor seconds of those that do the same, where there are several kinds.
    `keys` is BEFORE or AFTER; `parts` has seconds of parts of it, as far as the way knows them, and `choices` what it
    has decided by itself, in words.
    """

    seconds: float
    first_row: float | None
    cpu: float
    peaks: dict[str, float]
    keys: str = BEFORE
    cpus: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    choices: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {name: _rounded(value) for name, value in vars(self).items()}


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


class Way(ABC):
    """A way to load a workload. `raw`: LOAD DATA LOCAL as it comes, with no check at all."""

    name: str
    raw = False
    keys = BEFORE

    def rows(self, files: Files) -> int:
        """How many of the workload's rows it loads: all, or where it is slow the first ones as a sample."""
        return files.rows

    def obstacle(self, files: Files) -> str:
        """Why it cannot load this workload; "" if it can."""
        return "" if self.keys == BEFORE or files.workload.has_keys else "there is no key to put on afterwards"

    def prepare(self, server: Server, files: Files) -> None:
        """What is done before the clock starts: empty tables."""
        empty_tables(server, files.workload, keys=self.keys == BEFORE)

    @abstractmethod
    def load(self, server: Server, files: Files) -> Clocked:
        """Load the files into the empty tables, until the rows are safe from a crash."""


def empty_tables(server: Server, workload: Workload, *, keys: bool = True) -> None:
    """Make the workload's tables anew, with or without the keys that can be put on later."""
    with connect(server.address) as connection:
        drop_tables(server, workload)
        for table in workload.tables:
            execute(connection, table.create_sql(keys=keys))


def drop_tables(server: Server, workload: Workload) -> None:
    """Drop the workload's tables, as far as they are there; children first."""
    with connect(server.address) as connection:
        for table in reversed(workload.tables):
            execute(connection, f"DROP TABLE IF EXISTS {table.name}")
