"""The chunk ledger: one row per loaded chunk, in the target's database, committed together with the chunk's rows.

A second load of the same chunk fails on the primary key before it has sent a byte: that is why no chunk loads twice.
"""

from dataclasses import dataclass

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_text

TABLE = "millrace_ledger"

CREATE_SQL = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
  job CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  chunk INT UNSIGNED NOT NULL,
  attempt INT UNSIGNED NOT NULL,
  row_count BIGINT UNSIGNED NOT NULL,
  replaced BIGINT UNSIGNED NOT NULL DEFAULT 0,
  skipped BIGINT UNSIGNED NOT NULL DEFAULT 0,
  rejected BIGINT UNSIGNED NOT NULL DEFAULT 0,
  byte_count BIGINT UNSIGNED NOT NULL,
  digest CHAR(16) CHARACTER SET ascii NOT NULL,
  loaded_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (job, chunk)
) ENGINE=InnoDB COMMENT='Millrace: which chunks of which import are in'"""

# In place of a chunk's number: the finishing step of a mode that stages.
FINISH = 2**32 - 1

DENIED = (ER.TABLEACCESS_DENIED_ERROR, ER.COLUMNACCESS_DENIED_ERROR)


@dataclass(frozen=True)
class Entry:
    """What the ledger holds for one chunk: rows, bytes, and the xxh3-64 digest (hexadecimal) of the bytes."""

    job: str
    chunk: int
    attempt: int
    rows: int
    bytes: int
    digest: str

    @property
    def values(self) -> tuple[str | int, ...]:
        """In the order of the fields; as dataclasses.astuple() has them, which copies each."""
        return self.job, self.chunk, self.attempt, self.rows, self.bytes, self.digest


def create(connection: Connection) -> None:
    """Create the ledger in the connection's database if it is not there. DDL: commits implicitly.

    Raises MySQLdb.OperationalError (1142) if it is missing and the account may not create it.
    """
    if not exists(connection):
        execute(connection, CREATE_SQL)


def exists(connection: Connection) -> bool:
    found = fetch_all(
        connection,
        "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
        (TABLE,),
    )
    return bool(found)


def insert(connection: Connection, *entries: Entry) -> bool:
    """Insert the entries; False if one of the chunks has been loaded before, and then none of them is entered.

    Waits while another attempt at one is still open.
    """
    values = ", ".join(["(%s, %s, %s, %s, %s, %s)"] * len(entries))
    try:
        execute(
            connection,
            f"INSERT INTO {TABLE} (job, chunk, attempt, row_count, byte_count, digest) VALUES {values}",
            [value for each in entries for value in each.values],
        )
    except MySQLdb.IntegrityError as error:
        if error.args[0] != ER.DUP_ENTRY:
            raise
        return False
    return True


def reinsert(connection: Connection, entry: Entry) -> None:
    """Roll back what has been loaded since `enter`, and enter the same in a transaction that begins anew.

    Raises TargetProblem, to be tried again, if another attempt has brought the chunk in between the two.
    """
    execute(connection, "ROLLBACK")
    if not insert(connection, entry):
        raise TargetProblem(
            "Another attempt has loaded this chunk meanwhile.",
            advice="It is tried again, which finds it in the ledger.",
            retryable=True,
        )


def is_visible(connection: Connection, *entries: Entry) -> bool:
    """Whether the entries, of one attempt and with numbers in a row, are there, as this transaction sees it.

    False after `enter` means that the server ended the transaction in between without an error, as MariaDB's bulk
    mode did (server-behaviour.md, LOAD DATA LOCAL).
    """
    first, last = entries[0], entries[-1]
    found = fetch_all(
        connection,
        f"SELECT COUNT(*) FROM {TABLE} WHERE job = %s AND chunk BETWEEN %s AND %s AND attempt = %s",
        (first.job, first.chunk, last.chunk, first.attempt),
    )
    return int(found[0][0]) == len(entries)


def record_tally(connection: Connection, entry: Entry, tally: Tally) -> None:
    """Keep what became of the entry's rows, in the transaction that entered it.

    Needs the right to UPDATE, but only where not all of them were loaded: raises TargetProblem with the GRANT.
    """
    if tally.loaded == entry.rows:
        return
    try:
        execute(
            connection,
            f"UPDATE {TABLE} SET replaced = %s, skipped = %s, rejected = %s WHERE job = %s AND chunk = %s",
            (tally.replaced, tally.skipped, tally.rejected, entry.job, entry.chunk),
        )
    except MySQLdb.OperationalError as error:
        if error.args[0] not in DENIED:
            raise
        account, database = fetch_all(connection, "SELECT CURRENT_USER(), DATABASE()")[0]
        user, _, host = str(account).rpartition("@")
        raise TargetProblem(
            f"The account may not write into {TABLE} how many rows were replaced, skipped or rejected.",
            where=f"{database}.{TABLE}",
            advice=f"GRANT UPDATE (replaced, skipped, rejected) ON {quote_name(database)}.{TABLE}"
            f" TO {quote_text(user)}@{quote_text(host)}; and retry. Nothing of this chunk was kept.",
        ) from error


def read_tally(connection: Connection, job: str, chunk: int) -> Tally:
    """What became of the rows of a chunk that is in."""
    found = fetch_all(
        connection,
        f"SELECT row_count, replaced, skipped, rejected FROM {TABLE} WHERE job = %s AND chunk = %s",
        (job, chunk),
    )
    rows, *others = (int(value) for value in found[0])
    return Tally(rows - sum(others), *others)


def has_chunk(connection: Connection, job: str, chunk: int) -> bool:
    """Whether the chunk is committed; waits for an attempt at it that is still open.

    FOR SHARE needs no right but SELECT since MySQL 8.0.22 (manual, Locking Reads); MariaDB knows the older words only.
    """
    sql = f"SELECT 1 FROM {TABLE} WHERE job = %s AND chunk = %s LOCK IN SHARE MODE"
    return bool(fetch_all(connection, sql, (job, chunk)))


def require_known_job(connection: Connection, job: str, where: str) -> None:
    """Raise TargetProblem if the ledger knows nothing of a job that has committed chunks.

    Somebody has dropped or emptied it, or a fail-over has lost everything: nobody can tell any more which chunks are
    in, and one of them might load twice.
    """
    try:
        if fetch_all(connection, f"SELECT 1 FROM {TABLE} WHERE job = %s LIMIT 1", (job,)):
            return
    except MySQLdb.ProgrammingError as error:
        if error.args[0] != ER.NO_SUCH_TABLE:
            raise
    raise TargetProblem(
        f"The table {TABLE} has forgotten this import: it was dropped or emptied, or a fail-over lost it.",
        where=where,
        advice="Look at how many of its rows are in the target's table and delete them; then import the file as a new"
        " one. Going on could load rows twice.",
    )


def count_rows(connection: Connection, job: str) -> int:
    """How many rows of a job's chunks the ledger holds, without its finishing step."""
    sql = f"SELECT COALESCE(SUM(row_count), 0) FROM {TABLE} WHERE job = %s AND chunk <> %s"
    return int(fetch_all(connection, sql, (job, FINISH))[0][0])


def delete(connection: Connection, job: str) -> None:
    """Delete what it holds of a job whose table is gone. Raises MySQLdb.OperationalError (1142) if it must not."""
    if exists(connection):
        execute(connection, f"DELETE FROM {TABLE} WHERE job = %s", (job,))


def rows_by_chunk(connection: Connection, job: str) -> dict[int, int]:
    """The rows of each chunk that the ledger holds for a job, by chunk number; without its finishing step."""
    found = fetch_all(connection, f"SELECT chunk, row_count FROM {TABLE} WHERE job = %s AND chunk <> %s", (job, FINISH))
    return {int(chunk): int(rows) for chunk, rows in found}
