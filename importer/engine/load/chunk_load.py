"""Values that describe the load of one chunk: what to load, callbacks for its progress, seconds by phase."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from importer.engine.feed import hex_decoder
from importer.engine.feed.hex_decoder import HexStatement
from importer.engine.load.outcome import Compared, Seen
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.schema.alter_table import OnDdlProgress
from importer.engine.sorting.original_positions import OriginalPositions
from importer.engine.source.byte_source import RemoteCopy, SourceLocation
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class ChunkStatements:
    """The plan's statements for one chunk: `plain`, with REPLACE if `replacing`, and `traced`, which names bad rows.

    `as_they_are` loads records that cannot be sent in the form that `plain` expects (NotHexadecimal). With `whole` the
    server reads the whole file itself; "" where that is not planned.
    """

    plain: str
    traced: str
    replacing: bool
    as_they_are: str
    whole: str = ""


class RejectStorage:
    """Keeps the reject files of a chunk in their folder. A subclass keeps them where several hosts find them."""

    def keep(self, paths: Sequence[Path]) -> None:
        """Keep files that are complete in their folder, before the chunk is committed. Raises Problem if it cannot."""

    def read(self, path: Path) -> bytes:
        """The bytes of a reject file. Raises FileNotFoundError if it does not exist."""
        return path.read_bytes()


@dataclass(frozen=True)
class ChunkLoad:
    """One chunk of one job, and how to load it: `job` is the job's key in the ledger, `path` the source.

    `first`: no chunk of the job is known to be committed, so a missing ledger may be created. `seals`: the numbers of
    the job's seals that are known to be committed, each with the seconds since a moment before it was opened. `options`
    decide what happens to bad rows and duplicates. `rejects` is the folder for reject files; None keeps none.
    `storage`: where they are kept. `file_name` and `began` (UTC, as `2024-01-31 12:00:00`) are the values of columns
    that are filled with the file's name or the time of the load. `converted`: the source is a working copy that was
    made of another format.
    """

    job: str
    attempt: int
    path: SourceLocation
    address: Address
    dialect: Dialect
    plan: ImportPlan
    chunk: ChunkRange
    first: bool = True
    options: Options = field(default_factory=Options)
    rejects: Path | None = None
    storage: RejectStorage = field(default_factory=RejectStorage)
    file_name: str = ""
    began: str = ""
    converted: bool = False
    seals: Mapping[int, float] = field(default_factory=dict)

    @property
    def statements(self) -> ChunkStatements:
        """The plan's statements that fit this chunk."""
        return statements_of(self.plan, self.options, self.chunk)

    @property
    def unhexes(self) -> HexStatement | None:
        """How to send hexadecimal digits as bytes; None where that is not planned or the C library is missing."""
        return _unhexes(self.plan)

    @property
    def places(self) -> OriginalPositions | None:
        """The original positions of the rows of a sorted or converted copy; None for a file that is read itself."""
        moved = self.plan.sorted_by or self.converted
        return OriginalPositions.next_to(self.path) if moved and isinstance(self.path, Path | RemoteCopy) else None

    @property
    def skips(self) -> bool:
        """Whether a row with a duplicate key is skipped instead of rejected."""
        return self.plan.ordered and self.options.on_clash == "skip"


def statements_of(plan: ImportPlan, options: Options, chunk: ChunkRange) -> ChunkStatements:
    """The plan's statements for a chunk: the general one, the one that keeps the word NULL as text, or a faster one."""
    statements, unhexed = plan.statements.feeding, _unhexes(plan)
    plain, quickest = _fitting(statements, chunk), ""
    if unhexed and _is_clean(statements, chunk) and (chunk.ascii or not unhexed.ascii_only):
        quickest = unhexed.statement
    replacing = plan.ordered and options.on_clash == "replace"
    whole = _fitting(plan.statements, chunk) if plan.statements.server_file else ""
    sent: tuple[str, ...] = (quickest or plain, statements.traced, plain, whole)
    if plan.lookups:
        from importer.engine.mapping.lookups import expanded

        sent = tuple(map(expanded, sent))
    first, traced, as_they_are, whole = sent
    return ChunkStatements(first, traced, replacing, as_they_are, whole)


def _fitting(statements: LoadStatements, chunk: ChunkRange) -> str:
    """The fastest statement for the chunk that takes its fields as they are."""
    if not _is_clean(statements, chunk):
        return (statements.null_word if chunk.null_word else "") or statements.plain
    plain = statements.no_markers or statements.plain
    return (statements.as_bytes if chunk.ascii or not statements.as_bytes_ascii_only else "") or plain


def _is_clean(statements: LoadStatements, chunk: ChunkRange) -> bool:
    """Whether the scan found no value in the chunk that only the slower statements load."""
    keeps_null_word = statements.null_word and chunk.null_word
    return not (keeps_null_word or chunk.suspect or chunk.null_marker)


def _unhexes(plan: ImportPlan) -> HexStatement | None:
    return plan.statements.unhexed if hex_decoder.available() else None


@dataclass
class LoadCallbacks:
    """Callbacks for the progress of a load or a finishing step.

    `on_connect(connection_id)` is called before the transaction begins, `on_sent(bytes)` while bytes leave; both from
    the loading thread. `on_stage` is called from another thread while keys are built, which takes `index_seconds`.
    `on_compared` is called before the transaction that changes the table commits, and may raise to end it; with what
    was seen, if nothing is changed.
    """

    on_connect: Callable[[int], None] = lambda _: None
    on_sent: Callable[[int], None] = lambda _: None
    on_stage: OnDdlProgress = lambda _: None
    on_compared: Callable[[Compared, Seen | None], None] = lambda *_: None
    index_seconds: float = 0


class Stopwatch:
    """Measures the seconds of each phase: a lap ends one phase and begins the next."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.timings[phase] = round(now - self._since, 6)
        self._since = now
