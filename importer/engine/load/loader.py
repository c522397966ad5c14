"""Loads chunks exactly once each, one after another on one connection.

The ledger row goes in first, in the same transaction as the chunk's rows. A second load of the same chunk stops there,
in any worker and at any time. The server's counts must agree with the scan's, else ROLLBACK.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import MySQLdb

from importer.engine import failpoints
from importer.engine.errors import SourceProblem, TargetProblem
from importer.engine.feed.hex_decoder import NotHexadecimal
from importer.engine.load import ledger, seal, verify
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks, Stopwatch
from importer.engine.load.chunk_session import ChunkSession, lock_table
from importer.engine.load.methods import Report
from importer.engine.load.methods.field_expressions import set_variables
from importer.engine.load.non_transactional import lock_staging_table, require_row_count
from importer.engine.load.outcome import Outcome
from importer.engine.load.rejects.isolate import BadRowIsolator
from importer.engine.load.rejects.load_result import ServerFindings
from importer.engine.load.rejects.prescreen import Prescreen, prescreen
from importer.engine.load.rejects.reject_files import read_counts
from importer.engine.load.rejects.reject_log import RejectLog
from importer.engine.load.rejects.sender import Sender
from importer.engine.load.shared_transaction import merge_ranges, split_outcome
from importer.engine.mapping.columns import Lookup
from importer.engine.mysql.connection import (
    READ_TIMEOUT,
    Address,
    Connection,
    LoaderConnection,
    connect,
    connect_loader,
    execute,
)
from importer.engine.mysql.error_messages import about_rows, explain, is_lost
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.server_file import LONGEST_SILENCE
from importer.engine.schema.table import read_definition, require_unchanged
from importer.engine.source.byte_source import Readable, SourceLocation, open_source
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.stored import to_json
from importer.engine.target import staging
from importer.engine.target.table_identity import TableIdentity, read_identity

if TYPE_CHECKING:
    from importer.engine.load.readback.equal_rows import EqualRows

# Seconds after which a loader checks again that table and ledger are as planned: small chunks come more often.
RECHECK_SECONDS = 1.0
# Bad rows after which the prescreen stops, where the first of them ends the import.
MAX_REPORTED_ERRORS = 1000


class Loader:
    """A connection and the open source `path`, on which chunks of one job load one after another.

    Use it in a `with`. An exception during a load closes the connection, which rolls back; the next load gets a new
    one.
    """

    def __init__(self, path: SourceLocation, address: Address, plan: ImportPlan) -> None:
        self._path, self._address, self._session = path, address, plan.session
        self._read_timeout = LONGEST_SILENCE if plan.statements.server_file else READ_TIMEOUT
        self._open = ExitStack()
        self._connection: LoaderConnection | None = None
        self._fd: Readable = -1
        self._checked_at: float | None = None
        self._definition, self._identity = "", TableIdentity("", "", "")
        self._first = True
        # The seal of the connection; None before open_seal(), or without one.
        self._seal: seal.Seal | None = None
        # Whether this loader has committed a chunk of the job, or found one committed.
        self._committed = False
        # The values of the session's variables for the file's name and the time; None before they are set.
        self._variables: tuple[str, str] | None = None
        self._lookups: tuple[Lookup, ...] = ()
        self._looked_up: set[tuple[int, bytes]] = set()
        self._stopwatch = Stopwatch()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and the source; what is not committed is rolled back."""
        self._connection = None
        self._open.close()

    def give_up(self) -> None:
        """End the wait for the server, if there is one; for other threads than the one that loads."""
        if connection := self._connection:
            connection.give_up()

    def connect(self) -> int:
        """Connect if there is no connection; its id on the server. Raises SourceProblem or TargetProblem."""
        if not self._connection:
            self._stopwatch = Stopwatch()
            self._fd = self._open.enter_context(open_source(self._path))
            connected = connect_loader(self._address, self._read_timeout, self._session)
            self._connection = self._open.enter_context(connected)
            self._checked_at, self._definition, self._first = None, "", True
            self._variables, self._seal, self._lookups = None, None, ()
        return int(self._connection.thread_id())

    def open_seal(self, chunk_load: ChunkLoad) -> int:
        """Give the connection a seal if it has none, once table and ledger are as planned; the seal's number.

        0 if the account may not update the ledger, or the table cannot roll back. The caller records the number before
        a chunk loads. Raises TargetProblem, also if somebody has changed the ledger.
        """
        self.connect()
        assert self._connection
        try:
            with explain(str(self._address)):
                self._check_preconditions(self._connection, chunk_load)
                if not self._seal and chunk_load.plan.rolls_back:
                    self._seal = seal.open_seal(self._connection, chunk_load.job, self._identity)
        except BaseException:
            self.close()
            raise
        return self._seal.number if self._seal else 0

    def load(self, chunk_load: ChunkLoad, on_sent: Callable[[int], None] = lambda _: None) -> Outcome:
        """Load the chunk, or find that an earlier attempt has committed it.

        Raises RowsRefused (with the rows), SourceChanged, or TargetProblem. After any exception nothing of the chunk is
        in the table, except where the connection was lost during COMMIT: the next attempt sees that in the ledger.
        """
        with self._session_for(chunk_load, on_sent) as session:
            outcome = self._load(session)
            self._committed = True
            return outcome

    def load_group(
        self, chunk_load: ChunkLoad, chunks: Sequence[ChunkRange], on_sent: Callable[[int], None] = lambda _: None
    ) -> list[Outcome] | None:
        """Load chunks that may share a transaction (shared_transaction.group_size()), if all their rows are accepted.

        Otherwise, or if one of them is committed already, returns None with none of their rows in the table: load each
        by itself then. `chunk_load` is that of any of them. Raises as load() does, except errors of rows or source.
        """
        with self._session_for(replace(chunk_load, chunk=merge_ranges(chunks)), on_sent) as session:
            return self._load_group(session, chunks)

    @contextmanager
    def _session_for(self, chunk_load: ChunkLoad, on_sent: Callable[[int], None]) -> Iterator[ChunkSession]:
        """A session for one load; any exception closes the connection."""
        self.connect()
        assert self._connection
        try:
            with explain(str(self._address)):
                stopwatch = self._stopwatch if self._first else Stopwatch()
                number = self._seal.number if self._seal else 0
                yield ChunkSession(self._connection, self._fd, chunk_load, on_sent, stopwatch, number)
        except BaseException:
            self.close()
            raise

    def _begin(self, session: ChunkSession) -> None:
        """Everything that precedes the transaction."""
        self._check_preconditions(session.connection, session.chunk_load)
        variables = session.chunk_load.file_name, session.chunk_load.began
        if session.plan.sources and variables != self._variables:
            set_variables(session.connection, *variables)
            self._variables = variables
        session.stopwatch.lap("connect")
        self._first = False
        failpoints.reach("chunk.checked")

    def _load_group(self, session: ChunkSession, chunks: Sequence[ChunkRange]) -> list[Outcome] | None:
        self._begin(session)
        connection, stopwatch = session.connection, session.stopwatch
        entries = [session.entry_of(chunk) for chunk in chunks]
        is_new = ledger.insert(connection, *entries)
        stopwatch.lap("ledger")
        failpoints.reach("group.entered")
        if not (is_new and _send_whole(session) and ledger.is_visible(connection, *entries)):
            execute(connection, "ROLLBACK")
            return None
        stopwatch.lap("load")
        failpoints.reach("group.seen")
        self._commit(session, entries)
        self._committed = True
        failpoints.reach("group.committed")
        stopwatch.lap("commit")
        return split_outcome(chunks, stopwatch.timings)

    def _load(self, session: ChunkSession) -> Outcome:
        self._begin(session)
        connection, plan, stopwatch = session.connection, session.plan, session.stopwatch
        if plan.new_parents:
            from importer.engine.load.rejects.new_parents import create_parents

            session = replace(session, created=create_parents(session, self._looked_up))
        if plan.staged and plan.staged.numbered:
            staging.number_rows(connection, session.chunk.number)
        if not session.transactional:
            return _load_non_transactional(session)
        if plan.lock_table:
            lock_table(connection, plan)
        if not session.begin():
            execute(connection, "ROLLBACK")
            return _existing_outcome(connection, session.chunk_load, stopwatch.timings)
        stopwatch.lap("ledger")
        failpoints.reach("chunk.entered")
        outcome = _load_rows(session)
        self._commit(session, [session.entry])
        failpoints.reach("chunk.committed")
        stopwatch.lap("commit")
        return outcome

    def _commit(self, session: ChunkSession, entries: Sequence[ledger.Entry]) -> None:
        """Commit the entries with their rows, counted in the connection's seal."""
        sealed = self._seal and seal.count(session.connection, self._seal, entries, str(self._address))
        execute(session.connection, "COMMIT")
        self._seal = sealed

    def _check_preconditions(self, connection: LoaderConnection, chunk_load: ChunkLoad) -> None:
        """Check that ledger and table are as planned, for each chunk but at most once in RECHECK_SECONDS."""
        if chunk_load.plan.lookups != self._lookups:  # Before any table is locked.
            from importer.engine.mapping.lookups import set_lookups

            set_lookups(connection, chunk_load.plan.lookups)
            self._lookups = chunk_load.plan.lookups
        if self._checked_at is not None and time.monotonic() - self._checked_at < RECHECK_SECONDS:
            return
        # With a seal, each commit finds out whether somebody has changed the ledger.
        if self._checked_at is None or not self._seal:
            self._check_ledger(connection, chunk_load)
        self._check_table(connection, chunk_load.plan)
        self._identity = read_identity(connection, chunk_load.plan.schema, chunk_load.plan.table)
        verify.require_same_table(connection, chunk_load.plan, chunk_load.job, self._identity)
        # These reads hold locks on the tables' definitions until the transaction ends.
        execute(connection, "ROLLBACK")
        self._checked_at = time.monotonic()

    def _check_ledger(self, connection: LoaderConnection, chunk_load: ChunkLoad) -> None:
        job, where = chunk_load.job, str(chunk_load.address)
        verify.require_seals(connection, self._address, chunk_load.plan, job, chunk_load.seals)
        if chunk_load.seals or (chunk_load.first and not self._committed):
            ledger.create(connection)
        else:
            ledger.require_known_job(connection, job, where)
        if self._checked_at is None:
            ledger.require_fit(connection, where)
        seal.require_agreement(connection, job, where)

    def _check_table(self, connection: LoaderConnection, plan: ImportPlan) -> None:
        definition = read_definition(connection, plan.schema, plan.table)
        if definition and definition == self._definition:
            return
        require_unchanged(connection, plan.schema, plan.table, plan.table_digest)
        self._definition = definition


def load_chunk(chunk_load: ChunkLoad, callbacks: LoadCallbacks) -> Outcome:
    """Load a single chunk on a connection of its own, as Loader.load() does."""
    with Loader(chunk_load.path, chunk_load.address, chunk_load.plan) as loader:
        callbacks.on_connect(loader.connect())
        return loader.load(chunk_load, callbacks.on_sent)


def committed_outcomes(chunk_loads: Sequence[ChunkLoad]) -> list[Outcome | None]:
    """The outcome of the attempt that committed each of a job's chunks, None if no attempt has.

    Tells whether a chunk is in after a COMMIT that the server did not answer.
    """
    with connect(chunk_loads[0].address) as connection:
        return [
            _existing_outcome(connection, each, {})
            if ledger.has_chunk(connection, each.job, each.chunk.number)
            else None
            for each in chunk_loads
        ]


def _existing_outcome(connection: Connection, chunk_load: ChunkLoad, timings: dict[str, float]) -> Outcome:
    """The outcome of the attempt that committed the chunk."""
    chunk, folder = chunk_load.chunk, chunk_load.rejects
    tally = ledger.read_tally(connection, chunk_load.job, chunk.number)
    read = chunk_load.storage.read
    reasons, notices = read_counts(folder, chunk.number, tally, read) if folder else ((), ())
    return Outcome(chunk.rows, True, timings, tally, reasons, notices)


def _load_non_transactional(session: ChunkSession) -> Outcome:
    """Load a chunk into a table that cannot roll back.

    A failure leaves part of the chunk in the staging table. require_row_count() finds that at the next attempt.
    """
    connection, plan, job, chunk = session.connection, session.plan, session.chunk_load.job, session.chunk
    lock_staging_table(connection, job)
    if ledger.has_chunk(connection, job, chunk.number):
        return _existing_outcome(connection, session.chunk_load, session.stopwatch.timings)
    require_row_count(connection, plan, job)
    session.stopwatch.lap("ledger")
    outcome = _load_rows(session)
    require_row_count(connection, plan, job, more=chunk.rows)
    ledger.insert(connection, session.entry)
    session.stopwatch.lap("commit")
    return outcome


def _load_rows(session: ChunkSession) -> Outcome:
    """Send the rows that are accepted and record the others; everything but the COMMIT.

    If the source has changed since the scan, raises SourceChanged in place of the error that its new bytes led to:
    records that are not where the scan found them, bad rows, bytes of another encoding.
    """
    sender = Sender(session)
    try:
        return _send_rows(session, sender)
    except Exception as error:
        if not (isinstance(error, MySQLdb.Error) and is_lost(error)):
            sender.check_source()
        raise


def _send_rows(session: ChunkSession, sender: Sender) -> Outcome:
    connection, stopwatch = session.connection, session.stopwatch
    screened = _prescreen(session)
    reject_log = RejectLog(session, sender, screened)
    reject_log.enforce_limit(ServerFindings())
    sender.leave_out(screened.row_errors, blank_lines=screened.blank_lines)
    equal = _leave_out_equal_rows(session, sender)
    stopwatch.lap("review")
    isolator = BadRowIsolator(session, sender, reject_log.enforce_limit, expected_notes=screened.noted.total())
    findings = isolator.run()
    if session.plan.staged and session.plan.staged.compares:
        from importer.engine.load.rejects.unfit_rows import reject_unfit_rows

        reject_unfit_rows(session, sender, findings)
        reject_log.enforce_limit(findings)
    if equal:
        findings.unchanged += len(equal.rows)
        noted, job = json.dumps(to_json(equal.range)), session.chunk_load.job
        staging.note_range(connection, session.plan.schema, job, session.chunk.number, noted)
    failpoints.reach("chunk.counted")
    if session.transactional and not ledger.is_visible(connection, session.entry):
        raise TargetProblem(
            "The server ended the transaction by itself while the rows were loading.",
            where=str(session.chunk_load.address),
            advice="Check the target: such a server cannot load exactly once.",
        )
    failpoints.reach("chunk.seen")
    stopwatch.lap("load")
    if readback := session.plan.readback:
        from importer.engine.load.readback.compare import read_back

        read_back(connection, readback, session.source.dialect, sender.rows, len(session.plan.fields))
        stopwatch.lap("verify")
    outcome = reject_log.close(findings)
    ledger.record_tally(connection, session.entry, outcome.tally)
    return outcome


def _leave_out_equal_rows(session: ChunkSession, sender: Sender) -> "EqualRows | None":
    """Do not send rows that the table has already, at the chunk's first attempt; a later one stages all rows."""
    plan = session.plan
    if not plan.left_out_by or session.chunk_load.attempt > 1 or session.chunk.suspect:
        return None
    from importer.engine.load.readback.equal_rows import find_equal_rows

    dialect, fields = session.source.dialect, len(plan.fields)
    equal = find_equal_rows(session.connection, plan.left_out_by, dialect, sender.rows, fields)
    if equal:
        sender.leave_out(equal.rows)
    return equal


def _prescreen(session: ChunkSession) -> Prescreen:
    if not session.chunk.suspect:
        return Prescreen()
    enough = None if session.options.leaves_out else MAX_REPORTED_ERRORS
    return prescreen(session.source, session.plan.exactness, enough=enough)


def _send_whole(session: ChunkSession) -> bool:
    """Send all rows of a chunk in which nothing is suspect; whether the server stored each of them unchanged."""
    try:
        report = Sender(session).send_all(session.chunk_load.statements.plain)
    except (NotHexadecimal, SourceProblem, IndexError, ValueError):
        # Loaded by itself, each chunk finds out whether the source has changed.
        return False
    except MySQLdb.Error as error:
        if not about_rows(error):
            raise
        return False
    return report == Report(records=session.chunk.rows)
