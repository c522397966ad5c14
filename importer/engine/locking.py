"""How the transaction of a chunk begins: as usual, or with the table to itself."""

from importer.engine import ledger
from importer.engine.connection import LoaderConnection, execute
from importer.engine.plan import ImportPlan
from importer.engine.sql import quote_name


def begin(connection: LoaderConnection, plan: ImportPlan) -> None:
    """Begin a chunk's transaction; with ImportPlan.lock_table also lock the table and the ledger.

    The locks stay until the next LOCK TABLES or the end of the connection, COMMIT and ROLLBACK leave them. START
    TRANSACTION would release them; without autocommit the transaction begins by itself (manual, LOCK TABLES and UNLOCK
    TABLES Statements).
    """
    if not plan.lock_table:
        execute(connection, "START TRANSACTION")
        return
    table = f"{quote_name(plan.schema)}.{quote_name(plan.table)}"
    execute(connection, f"LOCK TABLES {table} WRITE, {quote_name(ledger.TABLE)} WRITE")
