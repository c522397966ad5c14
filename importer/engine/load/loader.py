"""Load chunks exactly once each, one after another on one connection.

The ledger row goes in first, in the same transaction as the rows: a chunk that has been loaded before stops there,
whoever asks and however often. What the server reports must add up to what the scan counted, else ROLLBACK.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import MySQLdb

from importer.engine.errors import SourceChanged, TargetProblem
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.feed.hex_decoder import NotHexadecimal
from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks, Stopwatch
from importer.engine.load.methods import Report, registry
from importer.engine.load.methods.field_expressions import set_variables
from importer.engine.load.non_transactional import have_alone, require_as_many
from importer.engine.load.outcome import Outcome
from importer.engine.load.readback.compare import read_back
from importer.engine.load.rejects.isolate import BadRowIsolator, ServerFindings
from importer.engine.load.rejects.load_result import Tolerance
from importer.engine.load.rejects.prescreen import Prescreen, prescreen
from importer.engine.load.rejects.reject_files import read_counts
from importer.engine.load.rejects.reject_log import RejectLog
from importer.engine.load.rejects.sender import Sender
from importer.engine.load.shared_transaction import merge_ranges, split_outcome
from importer.engine.load.table_lock import lock
from importer.engine.mysql.connection import Address, Connection, LoaderConnection, connect, connect_loader, execute
from importer.engine.mysql.error_messages import about_rows, explain
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema.table import read_definition, require_as_planned
from importer.engine.source.byte_source import Place, Readable, open_source
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.target import staging

# Seconds after which a loader looks again whether table and ledger are as planned: small chunks come faster.
RECHECK_SECONDS = 1.0
# More rows that do not go in tell nobody anything where one ends the import.
MAX_REPORTED_ERRORS = 1000


class Loader:
    """A connection and the open source `path`, on which chunks of one job load one after another.

    `session` are variables that it sets for itself (ImportPlan.session). Use it in a `with`. Whatever a load raises
    ends the connection, which rolls back; the next load gets a fresh one.
    """

    def __init__(self, path: Place, address: Address, session: Mapping[str, int | str]) -> None:
        self._path, self._address, self._session = path, address, session
        self._open = ExitStack()
        self._connection: LoaderConnection | None = None
        self._fd: Readable = -1
        self._looked_at: float | None = None
        self._definition = ""
        self._first = True
        self._stopwatch = Stopwatch()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and the source; what is not committed is rolled back."""
        self._connection = None
        self._open.close()

    def connect(self) -> int:
        """Connect, unless it has; the connection's id on the server. Raises SourceProblem or TargetProblem."""
        if not self._connection:
            self._stopwatch = Stopwatch()
            self._fd = self._open.enter_context(open_source(self._path))
            self._connection = self._open.enter_context(connect_loader(self._address, session=self._session))
            self._looked_at, self._definition, self._first = None, "", True
        return int(self._connection.thread_id())

    def load(self, work: ChunkLoad, on_sent: Callable[[int], None] = lambda _: None) -> Outcome:
        """Load the chunk, or find that it is in already.

        Raises RowsRefused (with the rows), SourceChanged, or TargetProblem; whatever is raised, nothing of the chunk
        was kept, except where the connection was lost during COMMIT: the next attempt's ledger row tells then.
        """
        with self._connected() as connection:
            return self._load(connection, work, on_sent)

    def load_together(
        self, work: ChunkLoad, chunks: Sequence[ChunkRange], on_sent: Callable[[int], None] = lambda _: None
    ) -> list[Outcome] | None:
        """Load chunks that may share a transaction (together.how_many()) in one, if all their rows go in as they are.

        None if they do not, with nothing of the chunks kept, or if one of them is in already: load each by itself.
        `work` is that of any of them. Raises as load() does, but what is about the rows or the source.
        """
        with self._connected() as connection:
            return self._load_together(connection, replace(work, chunk=merge_ranges(chunks)), chunks, on_sent)

    @contextmanager
    def _connected(self) -> Iterator[LoaderConnection]:
        """The connection for a load, which ends it by whatever it raises."""
        self.connect()
        assert self._connection
        try:
            with explain(str(self._address)):
                yield self._connection
        except BaseException:
            self.close()
            raise

    def _begin(self, connection: LoaderConnection, work: ChunkLoad) -> Stopwatch:
        """What comes before the transaction."""
        stopwatch = self._stopwatch if self._first else Stopwatch()
        self._look_around(connection, work)
        if self._first and work.plan.sources:
            set_variables(connection, work.file_name, work.began)
        stopwatch.lap("connect")
        self._first = False
        return stopwatch

    def _load_together(
        self,
        connection: LoaderConnection,
        work: ChunkLoad,
        chunks: Sequence[ChunkRange],
        on_sent: Callable[[int], None],
    ) -> list[Outcome] | None:
        stopwatch = self._begin(connection, work)
        entries = [_entry(work, chunk) for chunk in chunks]
        goes_in = ledger.insert(connection, *entries)
        stopwatch.lap("ledger")
        if not (
            goes_in and _send_whole(connection, self._fd, work, on_sent) and ledger.is_visible(connection, *entries)
        ):
            execute(connection, "ROLLBACK")
            return None
        stopwatch.lap("load")
        execute(connection, "COMMIT")
        stopwatch.lap("commit")
        return split_outcome(chunks, stopwatch.timings)

    def _load(self, connection: LoaderConnection, work: ChunkLoad, on_sent: Callable[[int], None]) -> Outcome:
        stopwatch = self._begin(connection, work)
        if work.plan.staged and work.plan.staged.numbered:
            staging.number_rows(connection, work.chunk.number)
        if not work.plan.rolls_back:
            return _load_for_good(connection, self._fd, work, on_sent, stopwatch)
        if work.plan.lock_table:
            lock(connection, work.plan)
        # Without autocommit, this begins the transaction.
        entry = _entry(work, work.chunk)
        if not ledger.insert(connection, entry):
            execute(connection, "ROLLBACK")
            return _already(connection, work, stopwatch.timings)
        stopwatch.lap("ledger")
        outcome = _load_rows(connection, self._fd, work, entry, on_sent, stopwatch)
        execute(connection, "COMMIT")
        stopwatch.lap("commit")
        return outcome

    def _look_around(self, connection: LoaderConnection, work: ChunkLoad) -> None:
        """See that ledger and table are still what was planned for; again for each chunk, but not all the time."""
        if self._looked_at is not None and time.monotonic() - self._looked_at < RECHECK_SECONDS:
            return
        if work.first and self._first:
            ledger.create(connection)
        else:
            ledger.require_known_job(connection, work.job, str(work.address))
        self._check_table(connection, work.plan)
        # What has been read holds locks on the tables' definitions until its transaction ends.
        execute(connection, "ROLLBACK")
        self._looked_at = time.monotonic()

    def _check_table(self, connection: LoaderConnection, plan: ImportPlan) -> None:
        definition = read_definition(connection, plan.schema, plan.table)
        if definition and definition == self._definition:
            return
        require_as_planned(connection, plan.schema, plan.table, plan.table_digest)
        self._definition = definition


def load_chunk(work: ChunkLoad, watch: LoadCallbacks) -> Outcome:
    """Load a single chunk on a connection of its own, as Loader.load() does."""
    with Loader(work.path, work.address, work.plan.session) as loader:
        watch.on_connect(loader.connect())
        return loader.load(work, watch.on_sent)


def _load_for_good(
    connection: LoaderConnection, fd: Readable, work: ChunkLoad, on_sent: Callable[[int], None], stopwatch: Stopwatch
) -> Outcome:
    """The same into a table that cannot roll back: what goes wrong leaves it spoiled, which nobody overlooks."""
    have_alone(connection, work.job)
    if ledger.has_chunk(connection, work.job, work.chunk.number):
        return _already(connection, work, stopwatch.timings)
    require_as_many(connection, work.plan, work.job)
    stopwatch.lap("ledger")
    entry = _entry(work, work.chunk)
    outcome = _load_rows(connection, fd, work, entry, on_sent, stopwatch)
    require_as_many(connection, work.plan, work.job, more=work.chunk.rows)
    ledger.insert(connection, entry)
    stopwatch.lap("commit")
    return outcome


def committed_outcome(work: ChunkLoad) -> Outcome | None:
    """The outcome of the attempt that committed the chunk, None if there is none.

    What to ask when an attempt ended without an answer to its COMMIT.
    """
    with connect(work.address) as connection:
        if not ledger.has_chunk(connection, work.job, work.chunk.number):
            return None
        return _already(connection, work, {})


def _already(connection: Connection, work: ChunkLoad, timings: dict[str, float]) -> Outcome:
    """The outcome of the attempt that committed the chunk."""
    tally = ledger.tally(connection, work.job, work.chunk.number)
    reasons, notices = read_counts(work.rejects, work.chunk.number, tally) if work.rejects else ((), ())
    return Outcome(work.chunk.rows, True, timings, tally, reasons, notices)


def _load_rows(
    connection: LoaderConnection,
    fd: Readable,
    work: ChunkLoad,
    entry: ledger.Entry,
    on_sent: Callable[[int], None],
    stopwatch: Stopwatch,
) -> Outcome:
    """Send the rows that go in, settle what becomes of the others; all but the COMMIT."""
    chunk, plan = work.chunk, work.plan
    sender = _sender(connection, fd, work, on_sent)
    source = sender.source
    enough = None if work.options.leaves_out else MAX_REPORTED_ERRORS
    reviewed = prescreen(source, plan.exactness, enough=enough) if chunk.suspect else Prescreen()
    account = RejectLog(connection, source, plan, work.options, sender, reviewed)
    account.require_few(ServerFindings())
    sender.leave_out(reviewed.faults, blank_lines=reviewed.blank_lines)
    stopwatch.lap("review")
    isolation = BadRowIsolator(
        sender,
        work.statements,
        Tolerance(skips=work.skips, rounding=work.options.rounding == "notice"),
        account.require_few,
        partial(ledger.reinsert, connection, entry),
        expects_faults=work.options.on_error == "reject",
        expected_notes=sum(reviewed.noted.values()),
        rolls_back=plan.rolls_back,
    )
    findings = isolation.run()
    if plan.rolls_back and not ledger.is_visible(connection, entry):
        raise TargetProblem(
            "The server ended the transaction by itself while the rows were loading.",
            where=str(work.address),
            advice="Check the target: such a server cannot load exactly once.",
        )
    stopwatch.lap("load")
    if plan.readback:
        read_back(connection, plan.readback, work.dialect, sender.rows.located(sender.sent(0, chunk.rows)))
        stopwatch.lap("verify")
    outcome = account.close(findings, work.rejects, stopwatch.timings)
    ledger.record_tally(connection, entry, outcome.tally)
    return outcome


def _send_whole(connection: LoaderConnection, fd: Readable, work: ChunkLoad, on_sent: Callable[[int], None]) -> bool:
    """Send all rows of a chunk in which nothing is suspect; whether every one of them went in as it is."""
    try:
        report = _sender(connection, fd, work, on_sent).send_all(work.statements.plain)
    except (NotHexadecimal, SourceChanged):
        return False
    except MySQLdb.Error as error:
        if not about_rows(error):
            raise
        return False
    return report == Report(records=work.chunk.rows)


def _sender(connection: LoaderConnection, fd: Readable, work: ChunkLoad, on_sent: Callable[[int], None]) -> Sender:
    source = ChunkSource(fd, work.path, work.chunk, work.dialect, work.places)
    method = registry.for_plan(work.plan, work.dialect)
    return Sender(connection, source, method, work.plan.numbers, on_sent, work.unhexes)


def _entry(work: ChunkLoad, chunk: ChunkRange) -> ledger.Entry:
    return ledger.Entry(work.job, chunk.number, work.attempt, chunk.rows, chunk.length, chunk.digest)
