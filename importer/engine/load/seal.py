"""Seals: rows of the ledger that show whether other rows of an import are missing from it.

Each connection that loads has a seal of its own, committed before its first chunk. In each chunk's transaction it
counts the chunk, its rows and its digest. A fail-over takes seal and chunks back together, so that the two still agree.
Somebody who deletes or changes some of the rows breaks the agreement. A seal that is deleted, too, is still known to
the application by its number.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import ProofBroken
from importer.engine.load import ledger
from importer.engine.load.ledger import FINISH, FIRST_SEAL, TABLE, Entry
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.target.table_identity import TableIdentity
from importer.engine.units import count_of

_COUNT_SQL = (
    f"UPDATE {TABLE} SET attempt = %s, row_count = %s, byte_count = %s, digest = %s"
    " WHERE job = %s AND chunk = %s AND attempt = %s"
)
# A seal's own row has its number as chunk and as seal. One statement sees one state of the ledger.
_COMPARE_SQL = (
    "SELECT seal, SUM(chunk = seal), SUM(IF(chunk = seal, attempt, 0)), SUM(chunk <> seal),"
    " SUM(IF(chunk = seal, row_count, 0)), SUM(IF(chunk = seal, 0, row_count)),"
    " BIT_XOR(CAST(CONV(digest, 16, 10) AS UNSIGNED))"
    f" FROM {TABLE} WHERE job = %s AND seal <> 0 GROUP BY seal"
)


@dataclass(frozen=True)
class Seal:
    """The seal of one connection: the chunks it has committed, their rows and bytes, and the XOR of their digests.

    `number` is its chunk number in the ledger, from FIRST_SEAL up, unique in its job.
    """

    job: str
    number: int
    chunks: int = 0
    rows: int = 0
    bytes: int = 0
    digest: int = 0

    def with_entries(self, entries: Sequence[Entry]) -> "Seal":
        """The seal once these entries, too, are committed."""
        digest = self.digest
        for each in entries:
            digest ^= int(each.digest, 16)
        return replace(
            self,
            chunks=self.chunks + len(entries),
            rows=self.rows + sum(each.rows for each in entries),
            bytes=self.bytes + sum(each.bytes for each in entries),
            digest=digest,
        )


def open_seal(connection: Connection, job: str, identity: TableIdentity) -> Seal | None:
    """Commit a new seal, with the identity of the table that its connection loads into.

    None if the account may not UPDATE the ledger: it then loads without one.
    """
    seal = Seal(job, FIRST_SEAL + secrets.randbelow(FINISH - FIRST_SEAL))
    entry = Entry(job, seal.number, 0, 0, 0, f"{0:016x}", seal.number)
    if not ledger.insert(connection, entry):
        execute(connection, "ROLLBACK")
        return open_seal(connection, job, identity)  # Another connection has this number.
    known = ledger.record_identity(connection, job, seal.number, identity)
    execute(connection, "COMMIT" if known else "ROLLBACK")
    return seal if known else None


def count(connection: Connection, seal: Seal, entries: Sequence[Entry], where: str) -> Seal:
    """Count entries of the open transaction in the seal; the seal once they are committed.

    Raises ProofBroken if the ledger does not have the seal as this connection has committed it.
    """
    new = seal.with_entries(entries)
    values = (new.chunks, new.rows, new.bytes, f"{new.digest:016x}", seal.job, seal.number, seal.chunks)
    if execute(connection, _COUNT_SQL, values) != 1:
        raise broken(seal.job, where, "A row that this connection has committed is gone.")
    return new


def take_out(connection: Connection, job: str, chunks: Collection[int]) -> None:
    """Delete the entries of these chunks, which their seals then do not count, in the open transaction."""
    numbers = ", ".join(map(str, chunks))
    entries = fetch_all(
        connection,
        f"SELECT seal, row_count, byte_count, digest FROM {TABLE} WHERE job = %s AND chunk IN ({numbers}) FOR UPDATE",
        (job,),
    )
    execute(connection, f"DELETE FROM {TABLE} WHERE job = %s AND chunk IN ({numbers})", (job,))
    for number in {int(seal) for seal, *_ in entries if int(seal)}:
        own = [each for each in entries if int(each[0]) == number]
        ((digest,),) = fetch_all(
            connection, f"SELECT digest FROM {TABLE} WHERE job = %s AND chunk = %s FOR UPDATE", (job, number)
        )
        left = reduce(xor, (int(each, 16) for *_, each in own), int(digest, 16))
        rows, size = sum(int(each[1]) for each in own), sum(int(each[2]) for each in own)
        execute(
            connection,
            f"UPDATE {TABLE} SET attempt = attempt - %s, row_count = row_count - %s, byte_count = byte_count - %s,"
            " digest = %s WHERE job = %s AND chunk = %s",
            (len(own), rows, size, f"{left:016x}", job, number),
        )


def require_agreement(connection: Connection, job: str, where: str) -> None:
    """Raise ProofBroken unless each seal of the job agrees with the chunks that it counts."""
    for _, seals, sealed, chunks, sealed_rows, rows, digest in fetch_all(connection, _COMPARE_SQL, (job,)):
        if (int(seals), int(sealed), int(sealed_rows), int(digest)) == (1, int(chunks), int(rows), 0):
            continue
        if not int(seals):
            raise broken(job, where, f"The row is gone that counts {count_of(int(chunks), 'chunk')} of one connection.")
        raise broken(
            job,
            where,
            f"One connection committed {count_of(int(sealed), 'chunk')} with {count_of(int(sealed_rows), 'row')};"
            f" of these, {count_of(int(chunks), 'chunk')} with {count_of(int(rows), 'row')} are there.",
        )


def present(connection: Connection, job: str) -> set[int]:
    """The numbers of the job's seals; none if there is no ledger."""
    sql = f"SELECT chunk FROM {TABLE} WHERE job = %s AND chunk >= %s AND chunk < %s"
    try:
        return {int(number) for (number,) in fetch_all(connection, sql, (job, FIRST_SEAL, FINISH))}
    except MySQLdb.ProgrammingError as error:
        if error.args[0] != ER.NO_SUCH_TABLE:
            raise
        return set()


def table_identities(connection: Connection, job: str, *, finished: bool = False) -> set[TableIdentity]:
    """The identities of the table that the job's connections have loaded into; `finished`: its finishing step."""
    sql = f"SELECT DISTINCT table_identity FROM {TABLE} WHERE job = %s AND chunk BETWEEN %s AND %s"
    numbers = (FINISH, FINISH) if finished else (FIRST_SEAL, FINISH - 1)
    return {TableIdentity.parse(text) for (text,) in fetch_all(connection, sql, (job, *numbers))}


def broken(job: str, where: str, found: str) -> ProofBroken:
    """The problem that somebody has changed the ledger; `found` is a sentence with figures."""
    return ProofBroken(
        f"Somebody has changed the table {TABLE} during the import: it no longer tells which rows are in. {found}",
        where=where,
        advice=f"If no row is in the table twice, restore the rows of {TABLE} (WHERE job = '{job}') from a backup, and"
        " retry. Else take the import's rows out of the table, and import the file as a new one.",
    )
