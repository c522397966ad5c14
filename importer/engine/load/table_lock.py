"""Locks the target's table for the load of one chunk."""

from importer.engine.load import ledger
from importer.engine.mysql.connection import LoaderConnection, execute
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.plan.plan import ImportPlan


def lock(connection: LoaderConnection, plan: ImportPlan) -> None:
    """Lock the plan's table and the ledger for writing; releases earlier locks of the connection.

    The locks last until the next LOCK TABLES or the end of the connection; COMMIT and ROLLBACK do not release them.
    START TRANSACTION would; without autocommit the transaction begins by itself (manual, LOCK TABLES and UNLOCK TABLES
    Statements).
    """
    table = quote_table(plan.schema, plan.table)
    execute(connection, f"LOCK TABLES {table} WRITE, {quote_name(ledger.TABLE)} WRITE")
