"""The SQL that keeps the old rows of a table beside it while an import changes them, and that brings them back.

A changed row is kept twice, as it was and as the import left it; a deleted one as it was; a new one as it was written.
So a row that somebody has changed since is told from one that is as the import left it. Equal rows are not kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from importer.engine.errors import TargetProblem
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.table import Column, Table
from importer.engine.target.comparison import difference_of
from importer.engine.target.staging import KEY, ROW, STATE, Staged, backup_name

# Added to the Kept of a row that somebody has changed since, when the change is taken back.
BY_OTHERS = 4
# The kept row that says that the change was taken back; it is a copy of another one.
TAKEN_BACK = 15


class Kept(IntEnum):
    """What a kept row is; the numbers stand in the column STATE. OLD and WRITTEN are the same row of the table."""

    OLD, WRITTEN, DELETED, NEW = range(4)


@dataclass(frozen=True)
class KeptRows:
    """The statements about the kept rows of one import.

    `kept` and `target` are quoted names, `columns` all columns but generated ones, found by the columns of `key`. The
    table's key of these columns, and the kept rows' own, are forced: both tables may have changed so much that what the
    server knows of their sizes is wrong, and it would compare each row with each.
    """

    kept: str
    target: str
    forced: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, job: str, staged: Staged) -> "KeptRows":
        """The kept rows of a table, as it is now. Raises TargetProblem if it has lost the key."""
        key = staged.keys[0]
        names = [each.name for each in table.keys if each.unique and set(each.columns) == set(key)]
        if not names:
            raise TargetProblem(
                f"{table.name} has no unique key ({', '.join(key)}) any more, by which its rows are found.",
                advice="Add it again, then try once more.",
            )
        kept, target = quote_table(table.schema, backup_name(job)), quote_table(table.schema, table.name)
        return cls(kept, target, f" FORCE INDEX ({quote_name(names[0])})", key, staged.kept)

    @property
    def _t(self) -> str:
        return f"{self.target} AS t{self.forced}"

    def _of(self, alias: str) -> str:
        return ", ".join(f"{alias}.{quote_name(name)}" for name in self.columns)

    def _on(self, one: str, other: str) -> str:
        return " AND ".join(f"{one}.{name} = {other}.{name}" for name in map(quote_name, self.key))

    @property
    def _gone(self) -> str:
        return f"t.{quote_name(self.key[0])} IS NULL"

    @property
    def make(self) -> str:
        """Create the table for the kept rows."""
        return (
            f"CREATE TABLE {self.kept} ({ROW} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,"
            f" {STATE} TINYINT UNSIGNED NOT NULL) ENGINE = InnoDB AS SELECT {self._of('t')} FROM {self.target} AS t"
            " LIMIT 0"
        )

    def keep(self, kind: Kept, rows: str) -> str:
        """Keep rows t of the table; `rows` is FROM and WHERE."""
        names = ", ".join(map(quote_name, self.columns))
        return f"INSERT INTO {self.kept} ({STATE}, {names})\nSELECT {kind:d}, {self._of('t')} {rows}"

    def without_partner(self, stage: str) -> str:
        """FROM and WHERE for the rows t that are kept as they were, and that no row of the file has the key of."""
        staged = f"SELECT 1 FROM {stage} AS s WHERE {self._on('s', 'k')}"
        rows = f"FROM {self.kept} AS k STRAIGHT_JOIN {self._t} ON {self._on('t', 'k')}"
        return f"{rows} WHERE k.{STATE} = {Kept.OLD:d} AND NOT EXISTS ({staged})"

    @property
    def index(self) -> str:
        """Add the key by which rows are found: only now, since few imports are taken back."""
        return f"ALTER TABLE {self.kept} ADD KEY {KEY} ({', '.join(map(quote_name, self.key))})"

    @property
    def claim(self) -> str:
        """Lock the first row: one session at a time takes the change back."""
        return f"SELECT {ROW} FROM {self.kept} ORDER BY {ROW} LIMIT 1 FOR UPDATE"

    @property
    def last(self) -> str:
        return f"SELECT {STATE} FROM {self.kept} ORDER BY {ROW} DESC LIMIT 1"

    @property
    def taken_back(self) -> str:
        """Record, in the transaction, that the change is taken back."""
        names = ", ".join(map(quote_name, self.columns))
        return (
            f"INSERT INTO {self.kept} ({STATE}, {names}) SELECT {TAKEN_BACK}, {names} FROM {self.kept}"
            f" ORDER BY {ROW} LIMIT 1"
        )

    @property
    def _pairs(self) -> str:
        """FROM for a changed row as it is now (t; none if it is gone), as it was written (n), and as it was (o)."""
        old = f"{self.kept} AS o FORCE INDEX ({KEY}) ON {self._on('o', 'n')} AND o.{STATE} = {Kept.OLD:d}"
        return f"{self.kept} AS n STRAIGHT_JOIN {old}"

    def count_changed(self, columns: Sequence[Column]) -> str:
        """In how many of the changed rows each column differs."""
        sums = ", ".join(f"COALESCE(SUM({difference_of(each, 'o', 'n')}), 0)" for each in columns)
        return f"SELECT {sums} FROM {self._pairs} WHERE n.{STATE} = {Kept.WRITTEN:d}"

    def mark_changed(self, columns: Sequence[Column]) -> str:
        """Mark the changed rows that are gone, or of which somebody has changed one of the same columns since."""
        others = (
            f"({difference_of(each, 't', 'n')} AND {difference_of(each, 'o', 'n')} AND {difference_of(each, 't', 'o')})"
            for each in columns
        )
        return (
            f"UPDATE {self._pairs} LEFT JOIN {self._t} ON {self._on('t', 'n')}"
            f" SET n.{STATE} = {Kept.WRITTEN + BY_OTHERS} WHERE n.{STATE} = {Kept.WRITTEN:d}"
            f" AND ({' OR '.join((self._gone, *others))})"
        )

    def mark(self, kind: Kept, columns: Sequence[Column]) -> str:
        """Mark new rows that are not as they were written, or deleted ones whose key another row has now."""
        differs = " OR ".join(difference_of(each, "t", "n") for each in columns)
        return (
            f"UPDATE {self.kept} AS n STRAIGHT_JOIN {self._t} ON {self._on('t', 'n')}"
            f" SET n.{STATE} = {kind + BY_OTHERS} WHERE n.{STATE} = {kind:d} AND ({differs})"
        )

    @staticmethod
    def _is(kind: Kept, overwrite: bool) -> str:
        return f"n.{STATE} IN ({kind:d}{f', {kind + BY_OTHERS}' if overwrite else ''})"

    def remove_new(self, overwrite: bool) -> str:
        """Delete the new rows; with `overwrite`, also those that somebody has changed."""
        return (
            f"DELETE t FROM {self.kept} AS n STRAIGHT_JOIN {self._t} ON {self._on('t', 'n')}"
            f" WHERE {self._is(Kept.NEW, overwrite)}"
        )

    def change_back(self, columns: Sequence[Column], overwrite: bool) -> str:
        """Give the changed rows the old values, each in the columns in which the import has changed it."""
        values = ", ".join(
            f"t.{name} = IF({difference_of(each, 'o', 'n')}, o.{name}, t.{name})"
            for each, name in ((each, quote_name(each.name)) for each in columns)
        )
        return (
            f"UPDATE {self._pairs} STRAIGHT_JOIN {self._t} ON {self._on('t', 'n')} SET {values}"
            f" WHERE {self._is(Kept.WRITTEN, overwrite)}"
        )

    @property
    def overwrite_deleted(self) -> str:
        """Give the rows that others have put in the place of deleted ones the old values."""
        values = ", ".join(f"t.{name} = n.{name}" for name in map(quote_name, self.columns))
        return (
            f"UPDATE {self.kept} AS n STRAIGHT_JOIN {self._t} ON {self._on('t', 'n')} SET {values}"
            f" WHERE n.{STATE} = {Kept.DELETED + BY_OTHERS}"
        )

    @property
    def insert_deleted(self) -> str:
        """Insert the deleted rows that are not there; the last one first, as one that another row points at."""
        return self._insert("n", f"{self.kept} AS n", Kept.DELETED)

    @property
    def insert_gone(self) -> str:
        """Insert the changed rows, as they were, that somebody has deleted since."""
        return self._insert("o", self._pairs, Kept.WRITTEN + BY_OTHERS)

    def _insert(self, alias: str, rows: str, state: int) -> str:
        names = ", ".join(map(quote_name, self.columns))
        return (
            f"INSERT INTO {self.target} ({names}) SELECT {self._of(alias)} FROM {rows} LEFT JOIN {self._t}"
            f" ON {self._on('t', 'n')} WHERE n.{STATE} = {state} AND {self._gone} ORDER BY n.{ROW} DESC"
        )

    @property
    def count(self) -> str:
        """The kept rows by what they are."""
        return f"SELECT {STATE}, COUNT(*) FROM {self.kept} GROUP BY {STATE}"

    def by_others(self, most: int) -> str:
        """The keys of the first rows that somebody has changed since."""
        key = ", ".join(map(quote_name, self.key))
        states = ", ".join(str(kind + BY_OTHERS) for kind in (Kept.WRITTEN, Kept.DELETED, Kept.NEW))
        return f"SELECT {key} FROM {self.kept} WHERE {STATE} IN ({states}) ORDER BY {ROW} LIMIT {most}"
