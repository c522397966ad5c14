"""Everything that one chunk's load needs, made once for each attempt and passed along its way."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from importer.engine.errors import TargetProblem
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, Stopwatch
from importer.engine.load.outcome import NoticeCount
from importer.engine.mysql.connection import LoaderConnection, execute
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.source.byte_source import Readable
from importer.engine.source.chunks.scanner import ChunkRange


@dataclass(frozen=True)
class ChunkSession:
    """One attempt to load one chunk on one connection.

    `fd` is the open source of `chunk_load`. `on_sent(bytes)` is called while bytes leave: the number is how many of the
    chunk's bytes have been read so far. `stopwatch` takes the seconds of each phase. `seal` is the number of the
    connection's seal, 0 without one. `created` counts the rows of parents that the chunk's texts got.
    """

    connection: LoaderConnection
    fd: Readable
    chunk_load: ChunkLoad
    on_sent: Callable[[int], None]
    stopwatch: Stopwatch
    seal: int = 0
    created: tuple[NoticeCount, ...] = ()

    @property
    def chunk(self) -> ChunkRange:
        return self.chunk_load.chunk

    @property
    def plan(self) -> ImportPlan:
        return self.chunk_load.plan

    @property
    def options(self) -> Options:
        return self.chunk_load.options

    @property
    def transactional(self) -> bool:
        """Whether the table that the chunk loads into can roll back."""
        return self.chunk_load.plan.rolls_back

    @cached_property
    def updates_per_row(self) -> int:
        """ImportPlan.updates_per_row; 0 if equal rows need not be told."""
        return self.plan.updates_per_row if self.chunk_load.statements.replacing else 0

    @cached_property
    def source(self) -> ChunkSource:
        """The chunk's place in the open file."""
        load, raw = self.chunk_load, self.plan.raw_fields
        dialect = replace(load.dialect, raw_fields=raw) if raw else load.dialect
        return ChunkSource(self.fd, load.path, load.chunk, dialect, load.places)

    @cached_property
    def entry(self) -> ledger.Entry:
        """The chunk's row in the ledger."""
        return self.entry_of(self.chunk)

    def begin(self) -> bool:
        """Begin the transaction with the chunk's ledger row; False, with no row, if the chunk is committed already.

        Where the rows are found by their numbers, it sees the table as it is now (numbered_rows.py).
        """
        readback = self.plan.readback
        if readback and readback.numbered_by:
            from importer.engine.load.readback import numbered_rows

            numbered_rows.begin(self.connection, readback, locked=self.plan.lock_table)
        # Without autocommit, this begins the transaction, if nothing has.
        return ledger.insert(self.connection, self.entry)

    def begin_again(self) -> None:
        """Roll back the open transaction and begin another one.

        Raises TargetProblem (retryable) if another attempt committed the chunk in between.
        """
        execute(self.connection, "ROLLBACK")
        if not self.begin():
            raise TargetProblem(
                "Another attempt has already loaded this chunk.",
                advice="The next attempt finds it in the ledger.",
                retryable=True,
            )

    def entry_of(self, chunk: ChunkRange) -> ledger.Entry:
        """The ledger row of one of the chunks that load in this session."""
        load = self.chunk_load
        return ledger.Entry(load.job, chunk.number, load.attempt, chunk.rows, chunk.length, chunk.digest, self.seal)


def lock_table(connection: LoaderConnection, plan: ImportPlan) -> None:
    """Lock the plan's table and the ledger for writing; releases earlier locks of the connection.

    The locks last until the next LOCK TABLES or the end of the connection; COMMIT and ROLLBACK do not release them.
    START TRANSACTION would; without autocommit the transaction begins by itself (manual, LOCK TABLES and UNLOCK TABLES
    Statements).
    """
    table = quote_table(plan.schema, plan.table)
    execute(connection, f"LOCK TABLES {table} WRITE, {quote_name(ledger.TABLE)} WRITE")
