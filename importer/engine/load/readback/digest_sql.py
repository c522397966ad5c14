"""The digest of rows that the table stores, computed by the server.

The rows of a part of a file are found by the range of their keys, or if others lie in it by the list of their keys. The
number of rows is compared too, so that a range with a row more or less is never taken for equal.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import MySQLdb

from importer.engine.load.readback.canonical_forms import CanonicalForm
from importer.engine.load.readback.expected_rows import Texts, fetch_bytes, from_keys, from_table
from importer.engine.load.readback.file_digests import Digest
from importer.engine.load.readback.numbered_rows import from_last_statement, from_new_rows
from importer.engine.load.readback.row_hash import crc_sql, row_hash_sql
from importer.engine.load.readback.row_keys import key_literals
from importer.engine.mysql.connection import Connection
from importer.engine.mysql.error_messages import is_lost
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.source.arrays import Lengths, Offsets, np

# A range is not read if the server expects more than this many times the rows of the file, and some more: it estimates.
MOST_OTHERS = 3
SOME_ROWS = 1000


@dataclass(frozen=True)
class StoredDigests:
    """Asks for the digest of stored rows, over the columns of `forms` in their order.

    With `ascii_only` it is equal to that of the file only for texts of ASCII alone, but is computed faster.
    """

    connection: Connection
    readback: Readback
    forms: tuple[tuple[ComparedColumn, CanonicalForm], ...]
    ascii_only: bool = False

    def of_range(self, first: Texts, last: Texts, rows: int) -> Digest | None:
        """The digest of the rows whose keys lie between those of two rows of the file.

        None if the server expects that there are many more than these `rows`.
        """
        selected = f"{from_table(self.readback)} WHERE {_between(self.readback, first, last)}"
        if expected_rows(self.connection, selected) > MOST_OTHERS * rows + SOME_ROWS:
            return None
        return self._select(selected)

    def of_keys(self, rows: Sequence[Texts]) -> Digest:
        """The digest of the stored rows that have the keys of these rows of the file."""
        return self._select(from_keys(self.readback, [key_literals(self.readback, row) for row in rows]))

    def of_new_rows(self, rows: int) -> Digest:
        """The digest of the rows that this transaction has inserted; `rows` of them are expected."""
        digest = self._select(from_last_statement(self.connection, self.readback))
        return digest if digest.rows == rows else self._select(from_new_rows(self.readback))

    def of_numbers(self, first: int, last: int) -> Digest:
        """The digest of the rows whose keys, integers, lie between these; the rows stay as they are until COMMIT."""
        return self._select(f"{self._numbers(first, last)} LOCK IN SHARE MODE")

    def hashes_of_numbers(self, first: int, last: int, most: float) -> "tuple[Offsets, Lengths] | None":
        """The keys, ascending, and the hashes of these rows; None if the server expects more than `most` rows."""
        rows = self._numbers(first, last)
        if expected_rows(self.connection, rows) > most:
            return None
        key = quote_name(self.readback.key[0])
        found = fetch_bytes(self.connection, f"SELECT {key}, {self._row_hash} {rows} ORDER BY {key}")
        numbers = b" ".join(value or b"" for row in found for value in row)
        pairs = np.fromstring(numbers, np.int64, sep=" ").reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1].astype(np.uint32)

    def _numbers(self, first: int, last: int) -> str:
        key = quote_name(self.readback.key[0])
        return f"{from_table(self.readback)} WHERE {key} BETWEEN {first} AND {last}"

    @property
    def _row_hash(self) -> str:
        return row_hash_sql(
            [
                crc_sql(form.sql_of(ascii_only=self.ascii_only), nullable=compared.column.nullable)
                for compared, form in self.forms
            ]
        )

    def _select(self, rows: str) -> Digest:
        ((count, total),) = fetch_bytes(self.connection, f"SELECT COUNT(*), SUM({self._row_hash}) {rows}")
        return Digest(int(count or 0), int(total or 0))


def expected_rows(connection: Connection, rows: str) -> float:
    """How many rows the server expects to read, from its indexes; infinite if it does not say so."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL SELECT COUNT(*) {rows}")
            names = [each[0] for each in cursor.description]
            at = names.index("rows")
            return max(float(row[at] or 0) for row in cursor.fetchall())
    except (MySQLdb.ProgrammingError, MySQLdb.OperationalError, ValueError) as error:
        # Of a view, for instance, an account may select but not explain.
        if isinstance(error, MySQLdb.Error) and is_lost(error):
            raise
        return math.inf


def _between(readback: Readback, first: Texts, last: Texts) -> str:
    """The condition that a row's key is not before the key of `first` and not behind that of `last`.

    For a key of several columns, a range of the first one lets the server use the index; comparisons of rows would not
    (manual, Row Constructor Expression Optimization).
    """
    low, high = key_literals(readback, first), key_literals(readback, last)
    names = [quote_name(name) for name in readback.key]
    parts = [f"{names[0]} BETWEEN {low[0]} AND {high[0]}"]
    if len(names) > 1:
        parts += (_beyond(names, low, ">"), _beyond(names, high, "<"))
    return " AND ".join(parts)


def _beyond(names: Sequence[str], literals: Sequence[str], sign: str) -> str:
    """The condition that the columns are on this side of these values, or equal to them."""

    def alternatives() -> Iterator[str]:
        for at in range(len(names)):
            equal = [f"{names[number]} = {literals[number]}" for number in range(at)]
            orders = f"{names[at]} {sign}{'=' if at == len(names) - 1 else ''} {literals[at]}"
            yield f"({' AND '.join((*equal, orders))})"

    return f"({' OR '.join(alternatives())})"
