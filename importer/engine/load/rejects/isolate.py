"""Loads the good rows of a chunk and finds the bad ones, in a few loads for any number of bad rows.

Where no bad rows are expected, the chunk is loaded as a whole, else in pieces. If the server names the rows of a piece
that it would change, by number, they are left out and the piece is loaded again. If it does not name all of them (a
duplicate key, a foreign key, a CHECK, a list of warnings that is cut off), this and the following pieces are loaded
with the traced statement, whose warnings name every bad row. A piece in which a row ends the statement with an error (a
trigger's SIGNAL) is halved until that row is alone.

A piece that is not accepted is rolled back to a savepoint; accepted pieces stay, all in one transaction. If a whole
chunk is not accepted, its transaction is rolled back and a new one begins, so that good chunks need no savepoint.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import MySQLdb

from importer.engine.errors import TargetProblem
from importer.engine.feed.hex_decoder import NotHexadecimal
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.load.methods.field_expressions import RESET_TRACE
from importer.engine.load.rejects.load_result import LoadResult, ServerFindings, Tolerance, interpret
from importer.engine.load.rejects.sender import Sender
from importer.engine.load.rejects.server_warnings import DUPLICATE, ServerWarning, read_warnings
from importer.engine.mysql.connection import execute, fetch_row
from importer.engine.mysql.error_messages import about_rows

# A bad row costs another load of its piece, so pieces are small. Each row of a traced piece adds at least one line to
# the list of warnings, which is read into memory.
MAX_PIECE_ROWS = 20_000

# Distinct warnings that rows share; their number is limited, since a warning may contain the row's value.
MAX_SHARED_WARNINGS = 1000

UNEXPLAINED = ServerWarning(0, "The server reads other records here than the file has.")


class BadRowIsolator:
    """Loads one chunk in a transaction that is open, and finds the rows that the server does not accept.

    `on_rejects` is called with all findings whenever rows are refused, and raises if there are too many.
    `expected_notes` is the number of Notes about values that the prescreen expects for the whole chunk.
    """

    def __init__(
        self,
        session: ChunkSession,
        sender: Sender,
        on_rejects: Callable[[ServerFindings], None],
        *,
        expected_notes: int = 0,
    ) -> None:
        chunk_load, options = session.chunk_load, session.options
        self.findings = ServerFindings()
        self._session, self._sender = session, sender
        self._connection = session.connection
        self._statements = chunk_load.statements
        self._tolerance = Tolerance(skips=chunk_load.skips, rounding=options.rounding == "notice")
        self._on_rejects, self._expected_notes = on_rejects, expected_notes
        # Otherwise on_rejects raises at the first bad row.
        self._expects_rejects = options.on_error == "reject"
        self._distinct: dict[ServerWarning, ServerWarning] = {}
        # Duplicates are expected where they are skipped, and only the traced statement names them.
        self._traced = self._tolerance.skips

    def run(self) -> ServerFindings:
        """Load all rows that go in. Raises what `on_rejects` raises, SourceChanged, or the server's own errors."""
        if not self._session.transactional:
            self._load_once()
        elif self._begins_in_pieces() or not self._load_whole():
            self._load_pieces()
            self._sender.check_source()
        return self.findings

    def _load_once(self) -> None:
        """Load the chunk into a non-transactional table: any bad row ends the import."""
        count = self._session.chunk.rows
        result = self._send(self._statements.plain, 0, count, whole=True)
        if result.accepted:
            self._record(result, 0, count)
            return
        self._reject(result.refused, 0, count)
        quote = f" It says: {result.first_warning.reason}" if result.first_warning else ""
        raise TargetProblem(
            f"The server would change or skip rows, and does not say which.{quote}",
            advice="Load the file into an InnoDB table, which finds the rows, or look for them yourself.",
        )

    def _load_whole(self) -> bool:
        """Load the chunk as a whole; False, with nothing of it loaded, if that is not accepted."""
        count = self._session.chunk.rows
        try:
            result = self._send(self._statements.plain, 0, count, whole=True)
        except NotHexadecimal:
            self._session.begin_again()
            self._send_as_they_are()
            return self._load_whole()
        if result.accepted:
            self._record(result, 0, count)
            return True
        self._session.begin_again()
        # Where rejects are expected, the pieces find all of them.
        if not self._expects_rejects:
            self._reject(result.refused, 0, count)
        return False

    def _begins_in_pieces(self) -> bool:
        """Whether the chunk as a whole is not tried: it may have bad rows, and would be sent twice."""
        return self._traced or (self._expects_rejects and not self._sender.reads_file)

    def _load_pieces(self) -> None:
        low, count, size = 0, self._session.chunk.rows, MAX_PIECE_ROWS
        largest_traced = max(1, min(MAX_PIECE_ROWS, self._warnings_shown() // 2))
        while low < count:
            high = min(count, low + min(size, largest_traced if self._traced else MAX_PIECE_ROWS))
            if self._load_piece(low, high):
                low, size = high, min(size + size // 4 + 1, MAX_PIECE_ROWS)
            elif self._traced or self._statements.replacing:
                size = (high - low) // 2
            else:
                self._traced = True

    def _load_piece(self, low: int, high: int) -> bool:
        """Load the good rows in [low, high); False if this statement and size cannot tell the bad ones."""
        traced = self._traced and not self._statements.replacing
        while count := self._sender.count(low, high):
            execute(self._connection, "SAVEPOINT piece")
            try:
                result = self._send(self._statements.traced if traced else self._statements.plain, low, high)
            except NotHexadecimal:
                execute(self._connection, "ROLLBACK TO SAVEPOINT piece")
                self._send_as_they_are()
                continue
            if result.accepted:
                self._record(result, low, high)
                return True
            execute(self._connection, "ROLLBACK TO SAVEPOINT piece")
            if count == 1:
                self._reject({0: result.first_warning or UNEXPLAINED}, low, high)
                return True
            if self._statements.replacing:
                result = self._rehearse(low, high)
            if not result.refused or result.cut:
                return False
            self._reject(result.refused, low, high)
        return True

    def _send_as_they_are(self) -> None:
        self._statements = replace(self._statements, plain=self._statements.as_they_are)

    def _send(self, statement: str, low: int, high: int, *, whole: bool = False) -> LoadResult:
        count = self._sender.count(low, high)
        if statement == self._statements.traced:
            execute(self._connection, RESET_TRACE)
        try:
            report = self._sender.send_all(statement) if whole else self._sender.send(statement, low, high)
        except MySQLdb.Error as error:
            if not about_rows(error):
                raise
            if count == 1:
                self._require_row_at_fault(statement, error)
            return LoadResult(accepted=False, first_warning=ServerWarning.from_message(*error.args[:2]))
        warnings = read_warnings(report.warning_rows)
        if statement == self._statements.traced and not warnings.rows_traced:
            # Otherwise halving would reject every row, one by one.
            raise TargetProblem(
                "The server's warnings do not tell which row they are about.",
                advice="Retry, which plans again; if it recurs, please report it with the server's version.",
            )
        return interpret(report, warnings, count, self._tolerance, self._expected_notes if whole else 0)

    def _require_row_at_fault(self, statement: str, error: MySQLdb.Error) -> None:
        """Raise the error of a single row if a load without rows fails too: then the row is not the cause."""
        try:
            self._sender.send(statement, 0, 0)
        except MySQLdb.Error:
            raise error from None

    def _rehearse(self, low: int, high: int) -> LoadResult:
        """Find the rows that REPLACE refuses, with the traced statement, and roll its rows back.

        REPLACE ends at the first bad row, while the traced statement warns of all of them. Duplicates are not refused,
        since REPLACE takes them.
        """
        execute(self._connection, "SAVEPOINT rehearsal")
        result = self._send(self._statements.traced, low, high)
        execute(self._connection, "ROLLBACK TO SAVEPOINT rehearsal")
        refused = {row: warning for row, warning in result.refused.items() if warning.code != DUPLICATE}
        return LoadResult(accepted=False, refused=refused, cut=result.cut, first_warning=result.first_warning)

    def _record(self, result: LoadResult, low: int, high: int) -> None:
        skipped = self._by_row(result.skipped, low, high)
        if result.cut:
            self.findings.noted = None
        elif self.findings.noted is not None:
            self.findings.noted.update(result.noted)
        self.findings.deleted += result.deleted
        self.findings.unchanged += result.unchanged
        self._reject(result.refused, low, high)
        self.findings.skipped.update(skipped)
        self._sender.leave_out(skipped)

    def _reject(self, refused: Mapping[int, ServerWarning], low: int, high: int) -> None:
        if not refused:
            return
        by_row = self._by_row(refused, low, high)
        self.findings.refused.update(by_row)
        self._sender.leave_out(by_row)
        self._on_rejects(self.findings)

    def _by_row(self, positions: Mapping[int, ServerWarning], low: int, high: int) -> dict[int, ServerWarning]:
        if not positions:
            return {}
        numbers = self._sender.sent(low, high)
        return {int(numbers[position]): self._shared(warning) for position, warning in positions.items()}

    def _shared(self, warning: ServerWarning) -> ServerWarning:
        """One object for equal warnings of all rows, to save memory: there may be as many warnings as rows."""
        unnumbered = replace(warning, row=0)
        if len(self._distinct) < MAX_SHARED_WARNINGS:
            self._distinct.setdefault(unnumbered, unnumbered)
        return self._distinct.get(unnumbered, unnumbered)

    def _warnings_shown(self) -> int:
        return int(fetch_row(self._connection, "SELECT @@SESSION.max_error_count")[0])
