"""A load by INSERT statements, as both methods have it: a run of records with each, whose statement may be too long."""

from collections.abc import Callable
from dataclasses import dataclass

from importer.engine.load.methods import Report
from importer.engine.load.methods.inserts.insert_large import insert_large
from importer.engine.load.methods.inserts.insert_report import Sum
from importer.engine.load.methods.inserts.insert_sql import Template
from importer.engine.load.methods.inserts.statement_size import SHARE, max_allowed_packet, too_large
from importer.engine.load.methods.row_batches import RecordRun, as_sent, runs
from importer.engine.mysql.connection import Feed, LoaderConnection
from importer.engine.source.dialect import Dialect

# Inserts a run with one statement; False if that would be too long.
Insert = Callable[[RecordRun], bool]


@dataclass(frozen=True)
class Inserting:
    """Statements of the form `made` on a connection, each of less than `largest` bytes; `sum_` is what they said."""

    connection: LoaderConnection
    made: Template
    largest: int
    sum_: Sum

    @classmethod
    def on(cls, connection: LoaderConnection, made: Template) -> "Inserting":
        return cls(connection, made, max_allowed_packet(connection), Sum(made.replacing))

    def all_of(self, feed: Feed, dialect: Dialect, rows: int, insert: Insert) -> Report:
        """Insert the records of `feed`, `rows` at a time at most.

        Raises what the feed raises, the server's own error, or TargetProblem if a row is larger than `largest`.
        """
        for run in runs(feed, as_sent(dialect), rows, self.largest // SHARE):
            if run.is_large:
                insert_large(self.connection, self.made, run, self.sum_, self.largest)
            else:
                self._whole_or_halves(run, insert)
            del run  # A large one, before the next is read.
        return self.sum_.report()

    def _whole_or_halves(self, run: RecordRun, insert: Insert) -> None:
        if insert(run):
            return
        if run.count == 1:
            raise too_large(self.largest)
        for half in run.halves():
            self._whole_or_halves(half, insert)

    def add(self, run: RecordRun, affected: int) -> None:
        """The statement of this run has been executed."""
        self.sum_.add(self.connection, run.count, self.connection.info(), affected)
