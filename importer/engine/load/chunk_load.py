"""The values of one chunk's load: its work order, its callbacks, its timings."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from importer.engine.feed import hex_decoder
from importer.engine.feed.hex_decoder import Unhexed
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema.alter_table import OnDdlProgress
from importer.engine.sorting.original_positions import Places
from importer.engine.source.byte_source import Place
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class ChunkStatements:
    """The plan's statement for the chunk, with REPLACE if it is `replacing`, and the traced one.

    Where its records cannot be sent as `plain` has them (NotHexadecimal), `as_they_are` loads them.
    """

    plain: str
    traced: str
    replacing: bool
    as_they_are: str


@dataclass(frozen=True)
class ChunkLoad:
    """One chunk of one job: `job` is the job's key in the ledger, `path` the source.

    `first`: none of the job's chunks is known to be in, so that a ledger that is missing may be made. `options` say
    what becomes of bad rows and of duplicates; `rejects` is the folder that takes the rejected ones, which must be
    there when they are to be kept. `file_name` and `began` (UTC, as `2024-01-31 12:00:00`) are what columns get that
    are filled with the file's name or the time of the load.
    """

    job: str
    attempt: int
    path: Place
    address: Address
    dialect: Dialect
    plan: ImportPlan
    chunk: ChunkRange
    first: bool = True
    options: Options = field(default_factory=Options)
    rejects: Path | None = None
    file_name: str = ""
    began: str = ""

    @property
    def statements(self) -> ChunkStatements:
        """What loads this chunk: the plan's statement, the one that keeps the word NULL as text, or a quicker one."""
        plan, chunk, unhexed = self.plan, self.chunk, self.unhexes
        keeps_null_word = plan.null_word_statement if chunk.null_word else ""
        plain, quickest = keeps_null_word or plan.statement, ""
        if not keeps_null_word and not chunk.suspect:
            if chunk.ascii or not plan.bytes_ascii_only:
                plain = plan.bytes_statement or plain
            if unhexed and (chunk.ascii or not unhexed.ascii_only):
                quickest = unhexed.statement
        replacing = plan.ordered and self.options.on_duplicate == "replace"
        return ChunkStatements(quickest or plain, plan.traced_statement, replacing, plain)

    @property
    def unhexes(self) -> Unhexed | None:
        """How hexadecimal digits are sent as bytes, where that is planned and can be done here."""
        return self.plan.unhexed if hex_decoder.available() else None

    @property
    def places(self) -> Places | None:
        """Where the rows of a sorted copy stood in the file."""
        return Places.beside(self.path) if self.plan.sorted_by and isinstance(self.path, Path) else None

    @property
    def skips(self) -> bool:
        """Whether a row whose key is there already is skipped, not refused."""
        return self.plan.ordered and self.options.on_duplicate == "skip"


@dataclass
class LoadCallbacks:
    """How the outside world follows a load, or a finishing step: the first two are called from the loading thread.

    `on_connect(connection_id)` comes before the transaction begins, `on_sent(bytes)` while bytes leave, `on_stage` from
    another thread while keys are built. That took `index_seconds`.
    """

    on_connect: Callable[[int], None] = lambda _: None
    on_sent: Callable[[int], None] = lambda _: None
    on_stage: OnDdlProgress = lambda _: None
    index_seconds: float = 0


class Stopwatch:
    """Seconds by phase: each lap ends one phase and begins the next."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.timings[phase] = round(now - self._since, 6)
        self._since = now
