"""Proves on the server itself what loading exactly once needs: a rollback, and a ledger key that holds other sessions.

Done by the target's check and before each plan, on servers that nobody has tried imports on (mysql/servers/kinds.py).
"""

import uuid

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, connect_loader, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.server_info import Server

# Seconds that the second session waits for the key; the least that the servers accept.
PATIENCE = 1


def require_exactly_once(address: Address, server: Server) -> None:
    """Raise TargetProblem if imports into this kind of server are untried, and its transactions do not hold.

    It must roll back, and hold a second session at the ledger's key. Leaves nothing on the server. Takes PATIENCE
    seconds on an untried server that is fit, no time on others.
    """
    if not server.careful:
        return
    with connect(address) as connection:
        if not ledger.exists(connection):
            raise TargetProblem(
                f"Imports into this kind of server have not been tried, and there is no table {ledger.TABLE} to test"
                " its transactions with.",
                where=str(address),
                advice="Run the target's check first, which creates it and tests them.",
            )
    if reason := unfit(address):
        raise TargetProblem(
            reason,
            where=str(address),
            advice="Use the address of a MySQL or MariaDB server. Nothing was changed on this one.",
        )


def unfit(address: Address) -> str:
    """Why rows and ledger could come apart on this server, in a sentence; "" if they cannot."""
    entry = ledger.Entry(str(uuid.uuid4()), 0, 1, 0, 0, "0" * 16)
    with (
        connect_loader(address) as first,
        connect_loader(address, session={"innodb_lock_wait_timeout": PATIENCE}) as second,
    ):
        execute(first, "START TRANSACTION")
        ledger.insert(first, entry)
        execute(second, "START TRANSACTION")
        verdict = _second_attempt(second, entry)
        execute(second, "ROLLBACK")
        execute(first, "ROLLBACK")
    with connect(address) as connection:
        if ledger.rows_by_chunk(connection, entry.job):
            return "The server cannot undo an INSERT: a chunk that fails half-way would leave rows behind."
    return verdict


def _second_attempt(second: MySQLdb.Connection, entry: ledger.Entry) -> str:
    """What is wrong with the answer to an insert of a row that the first session has not committed; "" for a wait."""
    try:
        inserted = ledger.insert(second, entry)
    except MySQLdb.Error as error:
        if error.args[0] == ER.LOCK_WAIT_TIMEOUT:
            return ""
        return (
            f"A second session that inserts the same ledger row gets another error than expected: {message_of(error)}"
        )
    if inserted:
        return "The server lets two sessions insert the same ledger row at once: a chunk could load twice."
    return "The server refuses a ledger row before the first session has committed it: a chunk could be left out."
