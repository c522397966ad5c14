"""Counts in the rows of chunks that were left out of the staging table, because the table had them already.

Each such chunk has noted the rows of the table between its first and its last key (readback/equal_rows.py). They are
read again, and locked, in the transaction that changes the table. A chunk for which they have changed, or into whose
range another chunk reaches, is staged again, as a whole.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from importer.engine.errors import NotAsSeen, RowsChangedSince
from importer.engine.load import ledger, seal
from importer.engine.load.finish.keeping import any_value
from importer.engine.load.readback.digest_sql import StoredDigests
from importer.engine.load.readback.equal_rows import ComparedRange
from importer.engine.load.readback.file_digests import forms_of
from importer.engine.mysql.connection import Address, LoaderConnection, connect, execute, fetch_all
from importer.engine.plan.readback import Readback
from importer.engine.stored import from_json
from importer.engine.target import staging
from importer.engine.target.comparison import Comparison

# Keys that one statement names.
KEYS_AT_ONCE = 1000


def find(
    connection: LoaderConnection, job: str, comparison: Comparison, left_out_by: Readback | None, where: str
) -> "LeftOut":
    """What the job's chunks have left out, found again in the table and locked. Raises as LeftOut.require()."""
    if not left_out_by:
        return LeftOut({})
    noted = [(int(chunk), json.loads(text)) for chunk, text in fetch_all(connection, comparison.ranges)]
    ranges = [(chunk, from_json(ComparedRange, values)) for chunk, values in noted]
    rows = ledger.read_total(connection, job).unchanged
    found = LeftOut(dict(sorted(ranges, key=lambda each: each[1].first)), rows)
    found.require(connection, comparison, left_out_by, where)
    return found


@dataclass(frozen=True)
class LeftOut:
    """The ranges of the chunks that have left rows out, by chunk, in the order of their keys; and how many `rows`."""

    ranges: dict[int, ComparedRange]
    rows: int = 0

    def require(self, connection: LoaderConnection, comparison: Comparison, left_out_by: Readback, where: str) -> None:
        """Lock the rows of the table in the ranges. Raises RowsChangedSince if they are not as the chunks saw them;
        NotAsSeen where the staged rows are all that may be changed.
        """
        again = self._reached_into(connection, comparison) | self._changed(connection, left_out_by)
        if not again:
            return
        if not comparison.staged.as_seen:
            raise RowsChangedSince(frozenset(again))
        table, key = comparison.staged.table, left_out_by.key[0]
        first = next(each for chunk, each in self.ranges.items() if chunk in again)
        raise NotAsSeen(
            f"{table} has changed since the file was compared with it: {key} {first.first} to {first.last}, at least"
            " one row is another one.",
            where=where,
            advice="Nothing was changed. Compare again, which reads these rows of the file once more, and look at what"
            f" would change in {table} now.",
        )

    def _reached_into(self, connection: LoaderConnection, comparison: Comparison) -> set[int]:
        """The chunks in whose range a row of another chunk is."""
        overlapping = {
            chunk
            for (one, before), (other, after) in pairwise(self.ranges.items())
            if before.last >= after.first
            for chunk in (one, other)
        }
        reached = {
            chunk
            for chunk, each in self.ranges.items()
            if fetch_all(connection, comparison.staged_between(each.first, each.last, chunk))
        }
        return overlapping | reached

    def _changed(self, connection: LoaderConnection, left_out_by: Readback) -> set[int]:
        """The chunks whose range of the table is not as it was."""
        forms = forms_of(left_out_by)
        found = {
            chunk: StoredDigests(connection, left_out_by, forms, each.ascii_only).of_numbers(each.first, each.last)
            for chunk, each in self.ranges.items()
        }
        return {chunk for chunk, each in self.ranges.items() if tuple(found[chunk]) != (each.rows, each.digest)}

    def stage_missing(self, connection: LoaderConnection, comparison: Comparison) -> int:
        """Add the rows of the table that the file does not have to the staged ones, as State.MISSING; their number."""
        with any_value(connection):
            return sum(execute(connection, comparison.stage_missing(each)) for each in self._conditions())

    def _conditions(self) -> Iterator[str]:
        """Conditions for the keys k of missing rows, and of staged ones: those that were noted, and those between the
        ranges.
        """
        ranges: Sequence[ComparedRange] = list(self.ranges.values())
        for each in ranges:
            for at in range(0, len(each.missing), KEYS_AT_ONCE):
                yield f"{{key}} IN ({', '.join(map(str, each.missing[at : at + KEYS_AT_ONCE]))})"
        yield f"{{key}} < {ranges[0].first}"
        for before, after in pairwise(ranges):
            if after.first - before.last > 1:
                yield f"{{key}} > {before.last} AND {{key}} < {after.first}"
        yield f"{{key}} > {ranges[-1].last}"


def take_out(address: Address, schema: str, job: str, chunks: Collection[int]) -> None:
    """Take the chunks, with their rows, out of the staging table and the ledger, so that they can be staged again."""
    with connect(address) as connection:
        execute(connection, "START TRANSACTION")
        staging.take_out(connection, schema, job, chunks)
        seal.take_out(connection, job, chunks)
        execute(connection, "COMMIT")
