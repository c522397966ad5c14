"""Compares the staged rows with those of the table, and writes what differs, in the transaction of a merge."""

import re
from dataclasses import dataclass

from importer.engine.errors import TargetProblem
from importer.engine.load.methods import info_text
from importer.engine.load.outcome import Compared, Tally
from importer.engine.mysql.connection import LoaderConnection, execute, fetch_all, fetch_row
from importer.engine.target.comparison import Comparison, State
from importer.engine.units import count_of

# Rows that are read stay locked until the end of the transaction: what was compared is what is changed.
ISOLATION = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"

_MATCHED = re.compile(r"Rows matched: (\d+)\s+Changed: (\d+)\s+Warnings: (\d+)")


def compare(connection: LoaderConnection, comparison: Comparison) -> Compared:
    """Mark the staged rows, and count them by what they are to the table, and the changes by column."""
    if fetch_all(connection, comparison.repeated):
        execute(connection, comparison.mark_repeated)
    execute(connection, comparison.mark)
    rows = {State(state): int(count) for state, count in fetch_all(connection, comparison.count)}
    changed = rows.get(State.CHANGED, 0)
    columns: dict[str, int] = {}
    if changed:
        sums = fetch_row(connection, comparison.count_columns)
        columns = {name: int(number) for name, number in zip(comparison.staged.changed, sums, strict=True) if number}
    return Compared(rows.get(State.NEW, 0), changed, rows.get(State.SAME, 0), rows.get(State.REPEATED, 0), columns)


@dataclass(frozen=True)
class _Written:
    """What the server reports about an UPDATE."""

    matched: int
    changed: int
    warnings: int


def change(connection: LoaderConnection, comparison: Comparison, compared: Compared, where: str) -> Tally:
    """Write what differs into the table. Raises TargetProblem where the server did something else than was compared."""
    table = comparison.staged.table
    if compared.new:
        raise TargetProblem(
            f"{count_of(compared.new, 'row')} of the file had a row with their key in {table} when they were staged,"
            " and have none now: somebody has deleted rows since then.",
            where=where,
            advice=f"{table} is unchanged. Retry, which rejects the rows without one.",
        )
    written = _update(connection, comparison) if compared.changed else _Written(0, 0, 0)
    if written.matched != compared.changed or written.warnings:
        raise TargetProblem(
            f"The server found {count_of(written.matched, 'row')} to change where {compared.changed:,} differ, with"
            f" {count_of(written.warnings, 'warning')}.",
            where=where,
            advice=f"{table} is unchanged. Look at its triggers and checks, then retry.",
        )
    # A trigger may have taken a change back.
    unchanged = compared.unchanged + compared.changed - written.changed
    return Tally(replaced=written.changed, unchanged=unchanged, skipped=compared.repeated)


def _update(connection: LoaderConnection, comparison: Comparison) -> _Written:
    execute(connection, comparison.update)
    match = _MATCHED.search(info_text(connection))
    return _Written(*map(int, match.groups())) if match else _Written(-1, 0, 0)
