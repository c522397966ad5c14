"""Loads a feed with INSERT statements, for both INSERT methods. Halves runs whose statement would be too long."""

from collections.abc import Callable
from dataclasses import dataclass

from importer.engine.load.methods import Report
from importer.engine.load.methods.inserts.insert_large import insert_large
from importer.engine.load.methods.inserts.insert_report import InsertTotals
from importer.engine.load.methods.inserts.insert_sql import Template
from importer.engine.load.methods.inserts.statement_size import SHARE, max_allowed_packet, too_large
from importer.engine.load.methods.row_batches import RecordRun, as_sent, runs
from importer.engine.mysql.connection import Feed, LoaderConnection
from importer.engine.source.dialect import Dialect

# Inserts a run with one statement; returns False if the statement would be too long.
Insert = Callable[[RecordRun], bool]


@dataclass(frozen=True)
class Inserting:
    """A load with statements of `template`, each shorter than `largest` bytes. `totals` sums their reports."""

    connection: LoaderConnection
    template: Template
    largest: int
    totals: InsertTotals

    @classmethod
    def on(cls, connection: LoaderConnection, template: Template) -> "Inserting":
        return cls(connection, template, max_allowed_packet(connection), InsertTotals(template.replacing))

    def all_of(self, feed: Feed, dialect: Dialect, rows: int, insert: Insert) -> Report:
        """Insert the records of `feed`, `rows` at a time at most.

        Raises the feed's error, the server's error, or TargetProblem if a row is larger than `largest`.
        """
        for run in runs(feed, as_sent(dialect), rows, self.largest // SHARE):
            if run.is_large:
                insert_large(self.connection, self.template, run, self.totals, self.largest)
            else:
                self._whole_or_halves(run, insert)
            del run  # Frees a large record before the next one is read.
        return self.totals.report()

    def _whole_or_halves(self, run: RecordRun, insert: Insert) -> None:
        if insert(run):
            return
        if run.count == 1:
            raise too_large(self.largest)
        for half in run.halves():
            self._whole_or_halves(half, insert)

    def add(self, run: RecordRun, affected: int) -> None:
        """Add the report of the statement that has just inserted this run."""
        self.totals.add(self.connection, run.count, affected)
