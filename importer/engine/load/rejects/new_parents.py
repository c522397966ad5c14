"""Adds the names that a lookup does not find to its parent, before a chunk with them loads.

The server finds them, as the collation of the parent's column compares texts. The rows are committed at once: they
stay if the chunk does not load, and its next attempt finds them there.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import MySQLdb

from importer.engine import failpoints
from importer.engine.errors import SourceProblem
from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.load.outcome import NoticeCount
from importer.engine.load.readback.expected_rows import texts
from importer.engine.mapping.columns import Lookup, NewParents
from importer.engine.mapping.lookups import set_lookups
from importer.engine.mysql.connection import Connection, execute, fetch_row
from importer.engine.mysql.error_messages import about_rows
from importer.engine.mysql.quoting import quote_bytes, quote_name, quote_table

# The code of the notice about created rows.
CREATED = "created"
# Texts that one statement looks for: three digits number them.
AT_ONCE = 500
# Seconds that a session waits for another one that adds names to the same parent.
LONGEST_WAIT = 600


def create_parents(session: ChunkSession, known: set[tuple[int, bytes]]) -> tuple[NoticeCount, ...]:
    """Create rows for the chunk's texts that no row of a parent has, and count them, by column.

    `known` are texts that earlier chunks of the session have looked for, by the position of their field; those of this
    chunk are added. A text that the parent does not take stays missing.
    """
    connection, plan = session.connection, session.plan
    if plan.lock_table:  # The chunk locks it again.
        execute(connection, "UNLOCK TABLES")
    found = _texts(session, known)
    created = {each: _create(connection, each, list(found[each.field])) for each in plan.new_parents}
    known.update((field, text) for field, some in found.items() for text in some)
    if any(created.values()):
        set_lookups(connection, plan.lookups)
    return tuple(
        NoticeCount(
            CREATED,
            each.column,
            f"{each.lookup.table} had no row with the {each.lookup.column}, and got one",
            count,
        )
        for each, count in created.items()
        if count
    )


def _texts(session: ChunkSession, known: set[tuple[int, bytes]]) -> dict[int, dict[bytes, None]]:
    """The texts of the fields in the chunk that are not known, in UTF-8 and in its order, by the field's position."""
    found: dict[int, dict[bytes, None]] = {each.field: {} for each in session.plan.new_parents}
    rows = ChunkRows(session.source)
    for record in rows.located(range(len(rows))):
        # A record that cannot be read is rejected when the chunk loads, or shows that the file has changed.
        with suppress(SourceProblem, IndexError, ValueError):
            fields = texts(record.raw, session.source.dialect)
            for field, some in found.items():
                if (text := fields[field]) and (field, text) not in known:
                    some[text] = None
    return found


def _create(connection: Connection, parents: NewParents, found: Sequence[bytes]) -> int:
    """Create the missing rows among these texts, and commit; their number."""
    if not found:
        return 0
    lock = lock_of(parents.lookup)
    # A parent need not have a unique key: two sessions would each add the name.
    fetch_row(connection, f"SELECT GET_LOCK('{lock}', {LONGEST_WAIT})")
    count = sum(_insert(connection, parents, some) for some in _batches(found))
    failpoints.reach("parents.inserted")
    execute(connection, "COMMIT")
    fetch_row(connection, f"SELECT RELEASE_LOCK('{lock}')")
    return count


def lock_of(lookup: Lookup) -> str:
    """The name of the server's lock (GET_LOCK) of the session that adds names to the parent."""
    return f"millrace_parents_{lookup.digest}"


def _batches(found: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (found[at : at + AT_ONCE] for at in range(0, len(found), AT_ONCE))


def _insert(connection: Connection, parents: NewParents, found: Sequence[bytes]) -> int:
    """Create the missing rows of these texts, one by one if the parent refuses a text; their number."""
    try:
        return execute(connection, _statement(parents, found))
    except MySQLdb.Error as error:
        if not about_rows(error):
            raise
    return sum(_insert(connection, parents, [text]) for text in found) if len(found) > 1 else 0


def _statement(parents: NewParents, found: Sequence[bytes]) -> str:
    """SQL that creates a row for each text that no row has; for the first of several that are equal to each other."""
    lookup = parents.lookup
    table, column = quote_table(lookup.database, lookup.table), quote_name(lookup.column)
    raw = " UNION ALL ".join(f"SELECT {at} AS place, {quote_bytes(text)} AS text" for at, text in enumerate(found))
    first = "SUBSTR(MIN(CONCAT(LPAD(said.place, 3, '0'), said.text)), 4)"
    collated = f"CONVERT(said.text USING {lookup.charset}) COLLATE {lookup.collation}"
    return (
        f"INSERT INTO {table} ({column}) SELECT {first} FROM (SELECT raw.place, {parents.text} AS text FROM ({raw})"
        f" AS raw) AS said WHERE said.text <> '' AND NOT EXISTS (SELECT 1 FROM {table} AS there WHERE there.{column} ="
        f" {collated}) GROUP BY {collated}"
    )
