"""Compares the staged rows with those of the table, and writes what differs, in the transaction of a merge."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import MySQLdb

from importer.engine import failpoints
from importer.engine.errors import TargetProblem, TooManyChanges
from importer.engine.load.methods import info_text
from importer.engine.load.outcome import Compared, Tally
from importer.engine.mysql.connection import LoaderConnection, execute, fetch_all, fetch_row
from importer.engine.mysql.error_messages import about_rows, message_of
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan import guards
from importer.engine.target.comparison import Comparison
from importer.engine.target.staging import Staged
from importer.engine.units import count_of

if TYPE_CHECKING:
    from importer.engine.load.finish.keeping import Keeper
    from importer.engine.load.finish.left_out import LeftOut

# The server names the table that holds a row, its constraint, and the columns of both.
_HOLDER = re.compile(r"\((`[^(]+`), CONSTRAINT (`[^`]+`) FOREIGN KEY \(([^)]+)\) REFERENCES `[^(]*` \(([^)]+)\)")
ROW_IS_REFERENCED = 1451
FIRST_HELD = 5
# Rows of a kind that a comparison shows, and characters of a value.
FIRST_SHOWN, LONGEST_SHOWN = 10, 100
_MATCHED = re.compile(r"Rows matched: (\d+)\s+Changed: (\d+)\s+Warnings: (\d+)")


def compare(
    connection: LoaderConnection, comparison: Comparison, staged_rows: int, left_out: "LeftOut", where: str
) -> Compared:
    """Mark the staged rows, and count them by what they are to the table, and the changes by column.

    Rows that were `left_out` count as unchanged. Each pass over all staged rows costs: so the server's counts of those
    that it marked are taken.
    """
    staged = comparison.staged
    repeated = execute(connection, comparison.mark_repeated) if fetch_all(connection, comparison.repeated) else 0
    if staged.scope and (outside := _outside(connection, comparison)):
        raise TargetProblem(
            f"{count_of(outside, 'row')} of the file would touch rows outside the scope now, and did not when they were"
            f" staged: somebody has changed {staged.table} since then.",
            where=where,
            advice=f"{staged.table} is unchanged. Retry, which looks at it again.",
        )
    marked = execute(connection, comparison.mark)
    changed, *sums = fetch_row(connection, comparison.count_columns) if marked else [0]
    new, same = marked - changed, staged_rows - repeated - marked + left_out.rows
    missing = _missing(connection, comparison, changed + same) if staged.mode == "sync" else 0
    if comparison.stages_missing and (found := left_out.stage_missing(connection, comparison)) != missing:
        raise TargetProblem(
            f"{found:,} rows of {staged.table} were found that the file does not have, where there are {missing:,}.",
            where=where,
            advice=f"{staged.table} is unchanged. Retry, which looks at it again.",
        )
    return Compared(
        new,
        changed,
        same,
        repeated,
        missing,
        missing if staged.deletes else 0,
        {name: int(number) for name, number in zip(staged.changed, sums, strict=False) if number},
        marked=missing if staged.marking else 0,
    )


def _missing(connection: LoaderConnection, comparison: Comparison, matched: int) -> int:
    """The rows that the file does not have: those in the table but the `matched` ones, unless some are marked."""
    if comparison.staged.marking:
        return int(fetch_row(connection, comparison.count_missing)[0])
    return int(fetch_row(connection, comparison.count_keyed)[0]) - matched


def _outside(connection: LoaderConnection, comparison: Comparison) -> int:
    """How many staged rows meet a row outside the scope, or would put one there."""
    rows = " UNION ".join(f"({query} LOCK IN SHARE MODE)" for query in comparison.outside())
    return int(fetch_row(connection, f"SELECT COUNT(*) FROM ({rows}) AS outside")[0])


def first_rows(
    connection: LoaderConnection, comparison: Comparison, compared: Compared
) -> dict[str, list[dict[str, list[str | None]]]]:
    """The first rows of each kind, for Compared.first."""
    counts = {"new": compared.new, "changed": compared.changed, "missing": compared.missing}
    return {kind: list(_first(connection, comparison, kind)) if rows else [] for kind, rows in counts.items()}


def _first(connection: LoaderConnection, comparison: Comparison, kind: str) -> Iterator[dict[str, list[str | None]]]:
    names, key = comparison.staged.columns, comparison.staged.keys[0]
    for row in fetch_all(connection, comparison.first(kind, FIRST_SHOWN)):
        texts = [_shown(value) for value in row]
        if kind == "changed":
            pairs = zip(names, texts[: len(names)], texts[len(names) :], strict=True)
            yield {name: [old, new] if old != new else [old] for name, old, new in pairs if old != new or name in key}
        else:
            yield {name: [text] for name, text in zip(names, texts, strict=True)}


def _shown(value: object) -> str | None:
    """A value for people, cut to LONGEST_SHOWN characters."""
    if value is None:
        return None
    text = f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def beyond_limits(staged: Staged, compared: Compared, where: str) -> TooManyChanges | None:
    """The problem of what was compared, if the plan's limits do not allow it; else None."""
    counts = {"new": compared.new, "changed": compared.changed, "deleted": compared.deleted + compared.marked}
    return guards.beyond(staged.stop_if, counts, compared.there, staged.table, where, marks=bool(staged.marking))


@dataclass(frozen=True)
class Change:
    """Writes what differs into the table. Raises TargetProblem where the server does something else than that.

    `left_out`: how many of the unchanged rows were not staged.
    """

    connection: LoaderConnection
    comparison: Comparison
    compared: Compared
    where: str
    keeper: "Keeper | None" = None
    left_out: int = 0

    def write(self) -> Tally:
        compared, staged = self.compared, self.comparison.staged
        if compared.new and staged.mode == "update":
            raise self._refused(
                f"{count_of(compared.new, 'row')} of the file had a row with their key in {staged.table} when they were"
                " staged, and have none now: somebody has deleted rows since then",
                "Retry, which rejects the rows without one",
            )
        before = self._rows() if compared.deleted else 0
        if self.keeper:
            self.keeper.keep_old(self.comparison, compared)
        if compared.deleted:
            self._require("delete", self._run(self.comparison.delete), compared.deleted)
        if compared.marked:
            self._update("mark", self.comparison.mark_missing, compared.marked)
        failpoints.reach("change.removed")
        changed = self._update("change", self.comparison.update, compared.changed) if compared.changed else 0
        failpoints.reach("change.updated")
        if compared.new:
            self._require("insert", self._run(self.comparison.insert), compared.new)
        if compared.deleted and self._rows() != before + compared.new - compared.deleted:
            raise self._refused(
                f"Deleting {count_of(compared.deleted, 'row')} from {staged.table} took others with them, by a foreign"
                " key with ON DELETE CASCADE that leads back to the table",
                "Keep the missing rows (--missing keep), or load with mode replace",
            )
        if staged.scope and (outside := _outside(self.connection, self.comparison)):
            raise self._refused(
                f"{count_of(outside, 'row')} would be outside the scope after the change, by a default, a trigger or"
                " the clock",
                "Give the columns of the scope their values in the file",
            )
        if self.keeper:
            self.keeper.keep_written(self.comparison, compared)
        # A trigger may have taken a change back.
        unchanged = compared.unchanged - self.left_out + compared.changed - changed
        return Tally(compared.new, changed, compared.repeated, 0, unchanged)

    def _rows(self) -> int:
        sql = f"SELECT COUNT(*) FROM {self.comparison.target} LOCK IN SHARE MODE"
        return int(fetch_row(self.connection, sql)[0])

    def _update(self, what: str, statement: str, rows: int) -> int:
        """Run an UPDATE that must match `rows` rows. Returns the number of changed rows."""
        self._run(statement)
        match = _MATCHED.search(info_text(self.connection))
        matched, changed, warnings = map(int, match.groups()) if match else (-1, 0, 0)
        self._require(what, matched, rows, warnings)
        return changed

    def _run(self, statement: str) -> int:
        try:
            return execute(self.connection, statement)
        except MySQLdb.Error as error:
            if error.args[0] == ROW_IS_REFERENCED:
                raise self._held(message_of(error)) from error
            if not about_rows(error):
                raise
            raise self._refused(
                f"The table does not take a change. The server says: {message_of(error).rstrip('.')}",
                "Correct the file or the table, and load it again",
            ) from error

    def _require(self, what: str, found: int, expected: int, warnings: int = 0) -> None:
        if found != expected or warnings:
            raise self._refused(
                f"The server found {count_of(found, 'row')} to {what} where there are {expected:,}, with"
                f" {count_of(warnings, 'warning')}",
                "Look at its triggers, checks and foreign keys, then retry",
            )

    def _held(self, message: str) -> TargetProblem:
        """The problem of rows that others point at, with the first of them."""
        by = _HOLDER.search(message)
        held = f"{by[1]} ({by[2]})" if by else "another table"
        key = ", ".join(self.comparison.staged.keys[0])
        rows = self._first_held(by) if by else []
        named = f", {key} {'; '.join(', '.join(map(str, row)) for row in rows)}" if rows else ""
        return self._refused(
            f"Rows of {held.replace('`', '')} point at rows that would go{named}",
            "Delete or change those rows first, or keep what is missing (--missing keep)",
        )

    def _first_held(self, by: re.Match[str]) -> list[tuple[object, ...]]:
        """The keys of the first missing rows that the holder's rows point at; none if the account may not see them."""
        key = ", ".join(f"t.{quote_name(name)}" for name in self.comparison.staged.keys[0])
        pairs = zip(by[3].split(", "), by[4].split(", "), strict=False)
        points = " AND ".join(f"holder.{own} = t.{other}" for own, other in pairs)
        sql = f"SELECT {key} {self.comparison.missing} AND EXISTS (SELECT 1 FROM {by[1]} AS holder WHERE {points})"
        try:
            return fetch_all(self.connection, f"{sql} ORDER BY {key} LIMIT {FIRST_HELD}")
        except MySQLdb.Error:
            return []

    def _refused(self, what: str, advice: str) -> TargetProblem:
        table = self.comparison.staged.table
        return TargetProblem(f"{what}.", where=self.where, advice=f"{table} is unchanged. {advice}.")
