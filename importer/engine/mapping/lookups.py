"""Lookups: a field has a text of another table's row, and the column gets that row's number.

A scalar subquery in LOAD DATA would read the whole parent for each row: a user variable that the statement itself sets
is no constant, for which no index is used (server-behaviour.md). So a loading session first reads the parent once, into
user variables, and finds each text there. Texts are equal as the parent's column compares them: by their weights.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from importer.engine.mapping.columns import Lookup
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_table

# What is found for a text that no row has, and that several rows have: no numbers.
NONE, SEVERAL = "", "?"
# Variables that one statement sets.
AT_ONCE = 256
# Variables of a lookup by an INSERT, whose every row has the whole expression: a row of 16,384 has 270 KB. With 100,000
# names and 256 variables a row takes about 250 µs on MySQL.
AT_MOST_BY_ROW = 256
# All variables of a lookup, in a statement as plans keep it; it is sent with each of them.
_ALL = re.compile(r"(@l[0-9a-f]{8}_)0,…,\1([0-9]+)")
# Texts in a variable, about: SUBSTRING_INDEX() takes 6 µs on MariaDB for 2 KB.
TEXTS = 6


def buckets_for(rows: int) -> int:
    """How many variables hold a parent of so many rows."""
    return min(16384, max(16, 1 << (rows // TEXTS).bit_length()))


def set_lookups(connection: Connection, lookups: Iterable[Lookup]) -> None:
    """Read the parents into the session's variables."""
    for each in lookups:
        weights = _weights(quote_name(each.column), each)
        rows = fetch_all(
            connection,
            f"SELECT CRC32({weights}) % {each.buckets}, TO_BASE64({weights}), {quote_name(each.key)}"
            f" FROM {quote_table(each.database, each.table)} WHERE {quote_name(each.column)} IS NOT NULL",
        )
        execute(connection, "COMMIT")  # The transaction of a chunk begins later.
        held: list[dict[str, object]] = [{} for _ in range(each.buckets)]
        for bucket, key, number in rows:
            texts = held[bucket]
            texts[key] = SEVERAL if key in texts else number
        for statement in _assignments(each, held):
            connection.query(statement.encode())


def _assignments(lookup: Lookup, held: list[dict[str, object]]) -> Iterator[str]:
    for low in range(0, len(held), AT_ONCE):
        part = enumerate(held[low : low + AT_ONCE], low)
        yield "SET " + ", ".join(f"{_variable(lookup, at)}=_binary':{_value(texts)}'" for at, texts in part)


def _value(texts: dict[str, object]) -> str:
    """The value of a variable with these texts and their numbers, such as `12,QUJD:13,QUJE:`.

    Numbers stand before their texts: what SUBSTRING_INDEX() leaves of `:12,QUJD:` before `,QUJD:` ends in the number,
    and in nothing if the text is not there. Base64 has neither a comma nor a colon.
    """
    return "".join([f"{number},{text}:" for text, number in texts.items()])


def found(text: str, lookup: Lookup) -> str:
    """SQL for the number of the row that has the text; NONE or SEVERAL without one, NULL for NULL.

    It is sent by expanded().
    """
    weights = _weights(text, lookup)
    variables = f"{_variable(lookup, 0)},…,{_variable(lookup, lookup.buckets - 1)}"
    bucket = f"ELT(1 + CRC32({weights}) % {lookup.buckets}, {variables})"
    before = f"SUBSTRING_INDEX({bucket}, CONCAT(',', TO_BASE64({weights}), ':'), 1)"
    return f"SUBSTRING_INDEX({before}, ':', -1)"


@lru_cache(maxsize=8)
def expanded(sql: str) -> str:
    """The SQL with each variable of its lookups."""
    return _ALL.sub(lambda all_: ",".join(f"{all_[1]}{at}" for at in range(int(all_[2]) + 1)), sql)


def _weights(text: str, lookup: Lookup) -> str:
    """SQL for the weights of a text in the collation of the parent's column, in which texts are equal with equal ones.

    A collation that pads ignores blanks at the end, which WEIGHT_STRING() does not. A character that the column's
    character set does not have would become a question mark; such a text has weights of its own.
    """
    own = text if lookup.charset == "utf8mb4" else f"CONVERT({text} USING {lookup.charset})"
    collated = f"{own} COLLATE {lookup.collation}"
    weights = f"WEIGHT_STRING({f'RTRIM({collated})' if lookup.pads else collated})"
    if lookup.charset == "utf8mb4":
        return weights
    same = f"CAST(CONVERT({own} USING utf8mb4) AS BINARY) = CAST(CONVERT({text} USING utf8mb4) AS BINARY)"
    return f"IF({text} IS NULL OR {same}, {weights}, REPEAT('?', 3000))"


def _variable(lookup: Lookup, bucket: int) -> str:
    return f"@l{lookup.digest}_{bucket}"
