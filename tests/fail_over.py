"""A ledger as a server has it after a fail-over that lost commits: neither chunk nor seal knows of them."""

from collections import defaultdict

from importer.engine.load import ledger
from importer.engine.load.ledger import FIRST_SEAL, TABLE, Entry
from importer.engine.load.seal import Seal
from importer.engine.mysql.connection import Connection, execute, fetch_all


def forget(connection: Connection, job: str, lost: str) -> None:
    """Take the job's chunks that the condition `lost` names out of the ledger, and out of the seals that count them."""
    execute(connection, f"DELETE FROM {TABLE} WHERE job = %s AND chunk < %s AND {lost}", (job, FIRST_SEAL))
    left = defaultdict(list)
    columns = "job, chunk, attempt, row_count, byte_count, digest, seal"
    for row in fetch_all(connection, f"SELECT {columns} FROM {TABLE} WHERE job = %s AND chunk < %s", (job, FIRST_SEAL)):
        left[row[-1]].append(Entry(*row))
    seals = fetch_all(connection, f"SELECT chunk FROM {TABLE} WHERE job = %s AND chunk = seal", (job,))
    for (number,) in seals:
        seal = Seal(job, number).with_entries(left[number])
        execute(connection, f"DELETE FROM {TABLE} WHERE job = %s AND chunk = %s", (job, number))
        entry = Entry(job, number, seal.chunks, seal.rows, seal.bytes, f"{seal.digest:016x}", number)
        assert ledger.insert(connection, entry)
