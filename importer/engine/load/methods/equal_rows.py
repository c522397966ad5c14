"""Counts the rows that REPLACE found equal to existing ones, which the server's info string does not tell.

A row that meets one with its key is an update for the storage engine and increments Handler_update, also if the two
are equal; the rows that are reported as deleted are only those that differ (server-behaviour.md, Equal rows).
"""

from dataclasses import dataclass, replace

from importer.engine.load.methods import Load, Report
from importer.engine.mysql.connection import Connection, Feed, LoaderConnection, fetch_all

_UPDATES = "Handler_update"
# Statements of triggers that may also increment Handler_update. Their own count tells whether there were any.
_NESTED = ("Com_insert", "Com_insert_select", "Com_update", "Com_update_multi")
# What the import itself sends is one of these, so they tell nothing about triggers.
_OWN = ("Com_replace", "Com_replace_select")


@dataclass(frozen=True)
class UpdateCounter:
    """What the session's statements have updated until one moment: rows, and the statements that triggers ran."""

    updates: int
    nested: int

    @classmethod
    def read(cls, connection: Connection, statement: str) -> "UpdateCounter":
        """Read the counters of the session, for a `statement` that is sent afterwards or was sent before."""
        nested = _NESTED if statement.startswith("REPLACE") else (*_NESTED, *_OWN)
        names = ", ".join(f"'{name}'" for name in (_UPDATES, *nested))
        counts = dict(fetch_all(connection, f"SHOW SESSION STATUS WHERE Variable_name IN ({names})"))
        return cls(int(counts.get(_UPDATES, 0)), sum(int(counts.get(name, 0)) for name in nested))

    def equal_rows(self, later: "UpdateCounter", changed: int, updates_per_row: int) -> int:
        """The rows that a REPLACE between these two moments found equal; `changed` rows were reported as deleted.

        `updates_per_row` is that of the plan; if it is 0, so is the result. The result is also 0 if triggers ran
        statements that may have updated rows, and if existing rows were deleted instead of updated.
        """
        if not updates_per_row or later.nested != self.nested:
            return 0
        return max(0, (later.updates - self.updates) // updates_per_row - changed)


def counting_equal_rows(method: Load, updates_per_row: int) -> Load:
    """The method, with Report.unchanged for statements with REPLACE; the method itself if `updates_per_row` is 0."""
    if not updates_per_row:
        return method

    def load(connection: LoaderConnection, statement: str, feed: Feed) -> Report:
        before = UpdateCounter.read(connection, statement)
        report = method(connection, statement, feed)
        after = UpdateCounter.read(connection, statement)
        return replace(report, unchanged=before.equal_rows(after, report.deleted, updates_per_row))

    return load
