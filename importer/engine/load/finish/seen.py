"""Finds what a comparison has shown again, before it is applied: digests by ranges of keys.

Only rows that would be new, changed or deleted have one. A row that was equal and is not any more is one of them then,
and one that has become equal is missing there. So equal digests mean that the table has the same rows as it had, as far
as the file's columns and keys go.
"""

from collections.abc import Iterator, Sequence

from importer.engine.errors import NotAsSeen
from importer.engine.load.outcome import Compared, KeyRange, Seen
from importer.engine.load.readback.row_hash import crc_sql, row_hash_sql
from importer.engine.mysql.connection import LoaderConnection, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.target.comparison import Comparison
from importer.engine.units import count_of

# Of each kind of rows. So of as many rows, each one can be named.
MOST_RANGES = 64
FIRST_NAMED = 3


def read(connection: LoaderConnection, comparison: Comparison, compared: Compared) -> Seen:
    """What the comparison in this transaction has shown."""
    ranges = [
        each
        for kind, rows in _counts(compared).items()
        if rows
        for _, each in _numbered(connection, comparison, kind, rows, -(-rows // MOST_RANGES))
    ]
    return Seen(tuple(ranges))


def _counts(compared: Compared) -> dict[str, int]:
    return {"new": compared.new, "changed": compared.changed, "missing": compared.deleted + compared.marked}


def require(connection: LoaderConnection, comparison: Comparison, seen: Seen, compared: Compared, where: str) -> None:
    """Raise NotAsSeen unless the comparison in this transaction shows the same; it names the ranges that differ."""
    counts = _counts(compared)
    changes = [words for kind in counts for words in _differing(connection, comparison, kind, seen, counts[kind])]
    if changes:
        more = f"; and {len(changes) - FIRST_NAMED:,} more" if len(changes) > FIRST_NAMED else ""
        table = comparison.staged.table
        raise NotAsSeen(
            f"{table} has changed since the file was compared with it: {'; '.join(changes[:FIRST_NAMED])}{more}.",
            where=where,
            advice=f"Nothing was changed. Compare again, which reads no file, and look at what would change in {table}"
            " now.",
        )


def _differing(connection: LoaderConnection, comparison: Comparison, kind: str, seen: Seen, rows: int) -> Iterator[str]:
    """The ranges of this kind whose rows have changed, in words. `rows`: the present number of rows of the kind."""
    before = [each for each in seen.ranges if each.kind == kind]
    firsts = [each.first for each in before[1:]]
    now = dict(_numbered(connection, comparison, kind, rows, rows, firsts)) if rows else {}
    for at, old in enumerate([*before] or [None]):
        new = now.get(at)
        if (old and (old.rows, old.digest)) != (new and (new.rows, new.digest)):
            yield _in_words(comparison, kind, old, new)


def _in_words(comparison: Comparison, kind: str, old: KeyRange | None, new: KeyRange | None) -> str:
    known = [each for each in (old, new) if each]
    first, last = known[0].first, known[0].last
    key, span = ", ".join(comparison.staged.keys[0]), ", ".join(first)
    span = span if first == last else f"{span} to {', '.join(last)}"
    counts = [each.rows if each else 0 for each in (old, new)]
    deleted = "marked" if comparison.staged.marking else "deleted"
    would = f"of rows that would be {deleted if kind == 'missing' else kind}"
    if counts[0] == counts[1]:
        return f"{key} {span}, {would}, {count_of(counts[0], 'row')} of which at least one has other values"
    return f"{key} {span}, {would}, {counts[0]:,} then and {counts[1]:,} now"


def _range_of(firsts: Sequence[Sequence[str]]) -> str:
    """SQL for the number of the range that a key is in; each but the first one begins with one of `firsts`."""
    columns = ", ".join(_names(len(firsts[0])))
    whens = " ".join(f"WHEN ({columns}) < ({', '.join(first)}) THEN {at}" for at, first in enumerate(firsts))
    return f"CASE {whens} ELSE {len(firsts)} END"


def _numbered(
    connection: LoaderConnection,
    comparison: Comparison,
    kind: str,
    count: int,
    size: int,
    firsts: Sequence[Sequence[str]] = (),
) -> Iterator[tuple[int, KeyRange]]:
    """The `count` rows of a kind in ranges of `size` rows, by number; or in those that begin with the keys `firsts`.

    Of the latter, first and last key are those of no range.
    """
    staged, side = comparison.staged, "s" if kind == "new" else "t"
    key = [f"{side}.{quote_name(name)}" for name in staged.keys[0]]
    names = _names(len(key))
    hashed = row_hash_sql([crc_sql(each, nullable=True) for each in (key if kind == "new" else staged.stored)])
    selected = ", ".join(f"{column} AS {name}" for column, name in zip(key, names, strict=True))
    rows = (
        f"SELECT {selected}, {hashed} AS row_hash, ROW_NUMBER() OVER (ORDER BY {', '.join(key)}) AS place"
        f" {comparison.rows(kind)} LOCK IN SHARE MODE"
    )
    is_first, is_last = f"(place - 1) MOD {size} = 0", f"(place MOD {size} = 0 OR place = {count})"
    ends = ", ".join(f"MAX(CASE WHEN {end} THEN {name} END)" for end in (is_first, is_last) for name in names)
    number = _range_of(firsts) if firsts else f"(place - 1) DIV {size}"
    found = fetch_all(
        connection,
        f"SELECT {number} AS number, COUNT(*), SUM(row_hash), {ends} FROM ({rows}) AS numbered GROUP BY number"
        " ORDER BY number",
    )
    for at, rows_there, digest, *key_ends in found:
        literals = tuple(map(_literal, key_ends))
        yield int(at), KeyRange(kind, literals[: len(key)], literals[len(key) :], int(rows_there), int(digest))


def _names(columns: int) -> list[str]:
    return [f"key_{number}" for number in range(columns)]


def _literal(value: object) -> str:
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return str(value) if isinstance(value, int | float) else quote_text(str(value))
