"""The base class of all ways to load, and its result."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from bench.files import Files
from bench.servers import Server
from bench.workloads.table import TableForm, Workload
from importer.engine.mysql.connection import connect, execute

# When keys that refuse no row are built: with the table, or after its rows.
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class LoadTiming:
    """The cost of one load: seconds to its crash-safe end, and to its first committed row (None: not observed).

    `cpu` is the processor seconds of all client processes, `cpus` those of each role where there are several, `peaks`
    the peak memory (MB) of a process of each role. `keys` is BEFORE or AFTER. `parts` has the seconds of those parts
    that the way measures, `choices` the decisions that it made, in words.
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
    """A way to load a workload. `raw`: plain LOAD DATA LOCAL, without any check."""

    name: str
    raw = False
    keys = BEFORE

    def rows(self, files: Files) -> int:
        """How many of the workload's rows it loads: all, or if it is slow the first ones as a sample."""
        return files.rows

    def obstacle(self, files: Files) -> str:
        """Why it cannot load this workload; "" if it can."""
        return "" if self.keys == BEFORE or files.workload.has_keys else "there is no key to build afterwards"

    def prepare(self, server: Server, files: Files) -> None:
        """Prepare the load before the time is taken: make empty tables."""
        empty_tables(server, files.workload, keys=self.keys == BEFORE)

    @abstractmethod
    def load(self, server: Server, files: Files) -> LoadTiming:
        """Load the files into the empty tables, until the rows are safe from a crash."""


def empty_tables(server: Server, workload: Workload, *, keys: bool = True) -> None:
    """Drop and create the workload's tables, with or without the keys that can be built later."""
    with connect(server.address) as connection:
        drop_tables(server, workload)
        for table in workload.tables:
            execute(connection, table.create_sql(form=TableForm(keys=keys)))


def drop_tables(server: Server, workload: Workload) -> None:
    """Drop those of the workload's tables that exist; children first."""
    with connect(server.address) as connection:
        for table in reversed(workload.tables):
            execute(connection, f"DROP TABLE IF EXISTS {table.name}")
