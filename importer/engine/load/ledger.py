"""The chunk ledger: a table in the target's database with one row for each committed chunk, and seals (seal.py).

The ledger row is committed together with the chunk's rows. A second load of the same chunk fails on the ledger's
primary key before it sends a byte, so no chunk loads twice.
"""

from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import ProofBroken, TargetProblem
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Connection, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name, quote_table, quote_text
from importer.engine.schema.table import has_table
from importer.engine.target.table_identity import TableIdentity

TABLE = "millrace_ledger"

CREATE_SQL = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
  job CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  chunk INT UNSIGNED NOT NULL,
  attempt INT UNSIGNED NOT NULL,
  row_count BIGINT UNSIGNED NOT NULL,
  replaced BIGINT UNSIGNED NOT NULL DEFAULT 0,
  unchanged BIGINT UNSIGNED NOT NULL DEFAULT 0,
  skipped BIGINT UNSIGNED NOT NULL DEFAULT 0,
  rejected BIGINT UNSIGNED NOT NULL DEFAULT 0,
  byte_count BIGINT UNSIGNED NOT NULL,
  digest CHAR(16) CHARACTER SET ascii NOT NULL,
  seal INT UNSIGNED NOT NULL DEFAULT 0,
  table_identity VARCHAR(120) CHARACTER SET ascii NOT NULL DEFAULT '',
  loaded_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (job, chunk)
) ENGINE=InnoDB COMMENT='Millrace: which chunks of which import are in'"""

# The chunk number of the finishing step, in modes that stage.
FINISH = 2**32 - 1
# Chunk numbers from here up to FINISH are those of seals (seal.py).
FIRST_SEAL = 2**31

DENIED = (ER.TABLEACCESS_DENIED_ERROR, ER.COLUMNACCESS_DENIED_ERROR)


@dataclass(frozen=True)
class Entry:
    """A row of the ledger: the rows and bytes of one chunk, and the xxh3-64 digest (hexadecimal) of its bytes.

    `seal` is the number of the seal that counts the chunk; 0 for none.
    """

    job: str
    chunk: int
    attempt: int
    rows: int
    bytes: int
    digest: str
    seal: int = 0

    @property
    def values(self) -> tuple[str | int, ...]:
        """The fields in their order. Faster than dataclasses.astuple(), which copies each value."""
        return self.job, self.chunk, self.attempt, self.rows, self.bytes, self.digest, self.seal


def create(connection: Connection) -> None:
    """Create the ledger in the connection's database, if it is missing. DDL: commits implicitly.

    Raises MySQLdb.OperationalError (1142) if it is missing and the account may not create it.
    """
    if not exists(connection):
        execute(connection, CREATE_SQL)


def exists(connection: Connection) -> bool:
    """Whether the database of the connection has TABLE."""
    return has_table(connection, TABLE)


def flaw(connection: Connection) -> tuple[str, str]:
    """What makes the ledger unfit for loading exactly once, and the end of the ALTER TABLE that mends it; "" twice if
    nothing does, or if there is no ledger.
    """
    # Named in each part: a MariaDB opens all tables of all databases for a name that comes from another part.
    here = f"TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{TABLE}'"
    rows = fetch_all(
        connection,
        f"SELECT ENGINE, (SELECT COUNT(*) FROM information_schema.STATISTICS WHERE {here} AND INDEX_NAME = 'PRIMARY'"
        f" AND COLUMN_NAME IN ('job', 'chunk')), (SELECT COUNT(*) FROM information_schema.COLUMNS WHERE {here}"
        f" AND COLUMN_NAME IN ('seal', 'table_identity')) FROM information_schema.TABLES WHERE {here}",
    )
    for engine, keyed, sealed in rows:
        if engine != "InnoDB":
            return f"has the engine {engine}, which cannot roll back", "ENGINE = InnoDB"
        if int(keyed) != 2:
            return (
                "has no primary key of job and chunk, which keeps a chunk from loading twice",
                "ADD PRIMARY KEY (job, chunk)",
            )
        if int(sealed) != 2:
            return (
                "has no columns seal and table_identity, which show what somebody changed",
                "ADD COLUMN seal INT UNSIGNED NOT NULL DEFAULT 0,"
                " ADD COLUMN table_identity VARCHAR(120) CHARACTER SET ascii NOT NULL DEFAULT ''",
            )
    return "", ""


def require_fit(connection: Connection, where: str) -> None:
    """Raise TargetProblem if the ledger has a flaw(): a chunk that failed would count as loaded, or one load twice."""
    what, remedy = flaw(connection)
    if what:
        raise TargetProblem(
            f"The table {TABLE} {what}: it would not be known which rows are in.",
            where=where,
            advice=f"ALTER TABLE {TABLE} {remedy}; then retry.",
        )


def insert(connection: Connection, *entries: Entry) -> bool:
    """Insert the entries; returns False, with none of them inserted, if one of the chunks is committed already.

    Waits while the transaction of another attempt at one of them is open.
    """
    values = ", ".join(["(%s, %s, %s, %s, %s, %s, %s)"] * len(entries))
    try:
        execute(
            connection,
            f"INSERT INTO {TABLE} (job, chunk, attempt, row_count, byte_count, digest, seal) VALUES {values}",
            [value for each in entries for value in each.values],
        )
    except MySQLdb.IntegrityError as error:
        if error.args[0] != ER.DUP_ENTRY:
            raise
        return False
    return True


def record_identity(connection: Connection, job: str, chunk: int, identity: TableIdentity) -> bool:
    """Record the identity of the table that has the chunk's rows, in the transaction that inserted the chunk.

    False if the account may not UPDATE the ledger.
    """
    sql = f"UPDATE {TABLE} SET table_identity = %s WHERE job = %s AND chunk = %s"
    try:
        execute(connection, sql, (str(identity), job, chunk))
    except MySQLdb.OperationalError as error:
        if error.args[0] not in DENIED:
            raise
        return False
    return True


def is_visible(connection: Connection, *entries: Entry) -> bool:
    """Whether this transaction sees the entries, which are of one attempt and have consecutive chunk numbers.

    False after insert() means that the server ended the transaction in between without an error, as MariaDB's bulk
    mode did (server-behaviour.md, LOAD DATA LOCAL).
    """
    first, last = entries[0], entries[-1]
    rows = fetch_all(
        connection,
        f"SELECT COUNT(*) FROM {TABLE} WHERE job = %s AND chunk BETWEEN %s AND %s AND attempt = %s",
        (first.job, first.chunk, last.chunk, first.attempt),
    )
    return int(rows[0][0]) == len(entries)


def record_tally(connection: Connection, entry: Entry, tally: Tally) -> None:
    """Record how many of the entry's rows were not loaded but replaced and so on, in the transaction that inserted it.

    Needs the UPDATE privilege, but only if not all rows were loaded; raises TargetProblem with the GRANT.
    """
    if tally.loaded == entry.rows:
        return
    counts = {"replaced": tally.replaced, "skipped": tally.skipped, "rejected": tally.rejected}
    if tally.unchanged:
        counts["unchanged"] = tally.unchanged
    try:
        execute(
            connection,
            f"UPDATE {TABLE} SET {', '.join(f'{name} = %s' for name in counts)} WHERE job = %s AND chunk = %s",
            (*counts.values(), entry.job, entry.chunk),
        )
    except MySQLdb.OperationalError as error:
        if error.args[0] not in DENIED:
            raise
        account, database = fetch_row(connection, "SELECT CURRENT_USER(), DATABASE()")
        user, _, host = str(account).rpartition("@")
        raise TargetProblem(
            f"The account may not write into {TABLE} how many rows were {', '.join(counts)}.",
            where=f"{database}.{TABLE}",
            advice=f"GRANT UPDATE ({', '.join(counts)}) ON {quote_name(database)}.{TABLE}"
            f" TO {quote_text(user)}@{quote_text(host)}; and retry. Nothing of this chunk was kept.",
        ) from error


def read_tally(connection: Connection, job: str, chunk: int) -> Tally:
    """The tally of a committed chunk."""
    counts = fetch_all(
        connection,
        f"SELECT row_count, replaced, skipped, rejected, unchanged FROM {TABLE} WHERE job = %s AND chunk = %s",
        (job, chunk),
    )
    rows, *others = (int(value) for value in counts[0])
    return Tally(rows - sum(others), *others)


def has_chunk(connection: Connection, job: str, chunk: int) -> bool:
    """Whether the chunk is committed; waits while the transaction of an attempt at it is open.

    The statement needs no privilege but SELECT since MySQL 8.0.22 (manual, Locking Reads). MariaDB does not know FOR
    SHARE, so the older LOCK IN SHARE MODE is used.
    """
    sql = f"SELECT 1 FROM {TABLE} WHERE job = %s AND chunk = %s LOCK IN SHARE MODE"
    return bool(fetch_all(connection, sql, (job, chunk)))


def require_known_job(connection: Connection, job: str, where: str) -> None:
    """Raise ProofBroken if the ledger has no row of a job that has committed chunks.

    The ledger was dropped or emptied, or a fail-over lost it. Which chunks are committed is then unknown, and one of
    them could load twice.
    """
    try:
        if fetch_all(connection, f"SELECT 1 FROM {TABLE} WHERE job = %s LIMIT 1", (job,)):
            return
    except MySQLdb.ProgrammingError as error:
        if error.args[0] != ER.NO_SUCH_TABLE:
            raise
    raise ProofBroken(
        f"The table {TABLE} has forgotten this import: it was dropped or emptied, or a fail-over lost it.",
        where=where,
        advice="Look at how many of its rows are in the target's table and delete them; then import the file as a new"
        " one. Continuing could load rows twice.",
    )


def count_rows(connection: Connection, job: str) -> int:
    """The number of rows in a job's committed chunks, without its finishing step."""
    sql = f"SELECT COALESCE(SUM(row_count), 0) FROM {TABLE} WHERE job = %s AND chunk < %s"
    return int(fetch_row(connection, sql, (job, FIRST_SEAL))[0])


def read_total(connection: Connection, job: str) -> Tally:
    """The tally of all committed chunks of a job, without its finishing step."""
    counts = ("row_count", "replaced", "skipped", "rejected", "unchanged")
    sums = ", ".join(f"COALESCE(SUM({each}), 0)" for each in counts)
    row = fetch_row(connection, f"SELECT {sums} FROM {TABLE} WHERE job = %s AND chunk < %s", (job, FIRST_SEAL))
    rows, *others = (int(value) for value in row)
    return Tally(rows - sum(others), *others)


def compare_rows(
    connection: Connection, job: str, schema: str, table: str, *, finished: bool = False
) -> tuple[int, int]:
    """The number of rows in a table, and that of the rows that a job's committed chunks have added to it.

    `finished`: that its finishing step has added. One statement reads both, so that no commit lies between them.
    Without a ledger, the second is 0.
    """
    loaded = (
        "SELECT COALESCE(SUM(row_count - replaced - unchanged - skipped - rejected), 0)"
        f" FROM {TABLE} WHERE job = %s AND chunk {'=' if finished else '<'} %s"
    )
    known, args = (loaded, (job, FINISH if finished else FIRST_SEAL)) if exists(connection) else ("0", ())
    found, known_rows = fetch_row(
        connection, f"SELECT (SELECT COUNT(*) FROM {quote_table(schema, table)}), ({known})", args
    )
    return int(found), int(known_rows)


def delete(connection: Connection, job: str) -> None:
    """Delete the rows of a job whose table is gone. Raises MySQLdb.OperationalError (1142) without the privilege."""
    if exists(connection):
        execute(connection, f"DELETE FROM {TABLE} WHERE job = %s", (job,))


def delete_if_allowed(connection: Connection, job: str) -> None:
    """Delete the rows of a job that nobody needs any more. An account without that right leaves them: they are few."""
    try:
        delete(connection, job)
    except MySQLdb.OperationalError as error:
        if error.args[0] not in DENIED:
            raise


def rows_by_chunk(connection: Connection, job: str) -> dict[int, int]:
    """The number of rows of each of a job's committed chunks, by chunk number; without its finishing step."""
    rows = fetch_all(
        connection, f"SELECT chunk, row_count FROM {TABLE} WHERE job = %s AND chunk < %s", (job, FIRST_SEAL)
    )
    return {int(chunk): int(count) for chunk, count in rows}
