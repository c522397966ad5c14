"""Keeps the rows of the table that a merge changes, in its transaction, so that the change can be taken back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from importer.engine.errors import TargetProblem
from importer.engine.load.outcome import Compared
from importer.engine.mysql.connection import SQL_MODE, LoaderConnection, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.table import read_table
from importer.engine.target.comparison import Comparison, State
from importer.engine.target.kept_rows import Kept, KeptRows
from importer.engine.target.staging import Staged, execute_again, staging_name
from importer.engine.units import count_of

# Runs of new numbers that one statement keeps.
RUNS_AT_ONCE = 500


@contextmanager
def any_value(connection: LoaderConnection) -> Iterator[None]:
    """Take values that strict mode refuses, such as dates of zeros: they are in the table already."""
    execute(connection, "SET SESSION sql_mode = ''")
    yield
    execute(connection, f"SET SESSION sql_mode = '{SQL_MODE}'")


@dataclass(frozen=True)
class Keeper:
    """Keeps the rows that one merge changes. Raises TargetProblem where a row is not found by its key."""

    connection: LoaderConnection
    rows: KeptRows
    staged: Staged
    stage: str

    @classmethod
    def making(cls, connection: LoaderConnection, schema: str, job: str, staged: Staged) -> Self:
        """The keeper of an import, with its table, unless an earlier attempt has made that. Commits implicitly."""
        stage = quote_table(schema, staging_name(job))
        table = read_table(connection, schema, staged.table)
        keeper = cls(connection, KeptRows.of(table, job, staged), staged, stage)
        with any_value(connection):
            execute_again(connection, keeper.rows.make)
        return keeper

    def keep_old(self, comparison: Comparison, compared: Compared) -> None:
        """Keep the rows that are going to be changed or deleted."""
        if compared.changed:
            self._keep(Kept.OLD, comparison.partners(State.CHANGED, self.rows.forced), compared.changed)
        if compared.marked:
            self._keep(Kept.OLD, comparison.missing, compared.marked)
        if compared.deleted:
            self._keep(Kept.DELETED, comparison.missing, compared.deleted)

    def keep_written(self, comparison: Comparison, compared: Compared) -> None:
        """Keep the changed and the new rows as they are now."""
        if compared.marked:
            self._keep(Kept.WRITTEN, self.rows.without_partner(self.stage), compared.marked)
        if compared.changed:
            self._keep(Kept.WRITTEN, comparison.partners(State.CHANGED, self.rows.forced), compared.changed)
        if compared.new:
            self._keep(Kept.NEW, comparison.partners(State.NEW, self.rows.forced), compared.new)

    def look(self) -> None:
        """Begin the snapshot in which no other session's later rows are: keep_added() needs it."""
        fetch_all(self.connection, f"SELECT 1 FROM {self.rows.target} LIMIT 1")

    def keep_added(self, added: int) -> None:
        """Keep the rows that were added by one INSERT, the last statement."""
        key = self.rows.key
        if {name.lower() for name in key} <= {name.lower() for name in self.staged.columns}:
            on = " AND ".join(f"t.{name} = s.{name}" for name in map(quote_name, key))
            self._keep(
                Kept.NEW,
                f"FROM {self.stage} AS s STRAIGHT_JOIN {self.rows.target} AS t{self.rows.forced} ON {on}",
                added,
            )
            return
        runs = self._runs_of_numbers(quote_name(key[0]))
        if (found := sum(rows for _, _, rows in runs)) != added:
            raise self._not_found(found, added)
        for first in range(0, len(runs), RUNS_AT_ONCE):
            some = runs[first : first + RUNS_AT_ONCE]
            within = " OR ".join(f"t.{quote_name(key[0])} BETWEEN {least} AND {most}" for least, most, _ in some)
            self._keep(Kept.NEW, f"FROM {self.rows.target} AS t WHERE {within}", sum(rows for _, _, rows in some))

    def _runs_of_numbers(self, number: str) -> list[tuple[int, int, int]]:
        """The numbers of the rows that were just added, as runs without a gap: first, last and how many.

        The server numbers them from LAST_INSERT_ID() on, and other sessions' rows may be between them. A consistent
        read, in a snapshot from before, sees the own rows, and none that others have added since.
        """
        start = int(fetch_row(self.connection, "SELECT LAST_INSERT_ID()")[0])
        rows = fetch_all(
            self.connection,
            f"SELECT MIN(id), MAX(id), COUNT(*) FROM (SELECT {number} AS id, {number} - ROW_NUMBER() OVER"
            f" (ORDER BY {number}) AS run FROM {self.rows.target} WHERE {number} >= {start}) AS numbered GROUP BY run",
        )
        return [(int(first), int(last), int(count)) for first, last, count in rows]

    def _keep(self, kind: Kept, rows: str, expected: int) -> None:
        with any_value(self.connection):
            found = execute(self.connection, self.rows.keep(kind, rows))
        if found != expected:
            raise self._not_found(found, expected)

    def _not_found(self, found: int, expected: int) -> TargetProblem:
        table, key = self.staged.table, ", ".join(self.rows.key)
        return TargetProblem(
            f"{count_of(found, 'row')} of {table} could be kept by the key {key}, where {expected:,} change.",
            where=table,
            advice=f"{table} is unchanged. A trigger or AUTO_INCREMENT gives rows another key than the file's: load the"
            " file without undo.",
        )
