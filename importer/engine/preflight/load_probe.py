"""Loads a few rows into the ledger's table by the method that imports into this target would use."""

from importer.engine.errors import MethodRefused
from importer.engine.load import ledger
from importer.engine.load.methods import registry
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import LoaderConnection
from importer.engine.mysql.server_info import Server
from importer.engine.plan.methods import Method, best_allowed
from importer.engine.schema.table import Column, Table
from importer.engine.source.dialect import MYSQL_TSV

PROBE_ROWS = 3
COLUMNS = ("job", "chunk", "attempt", "row_count", "byte_count", "digest")


def probe_rows(job: str) -> bytes:
    """PROBE_ROWS ledger rows for a job that does not exist, as MYSQL_TSV."""
    return "".join(f"{job}\t{chunk}\t1\t0\t0\t{'0' * 16}\n" for chunk in range(PROBE_ROWS)).encode()


def load_probe(connection: LoaderConnection, server: Server, database: str, job: str) -> Method:
    """Load the rows by the best method that the server allows, and return that method.

    Tries the next method if one is refused. Raises the server's errors.
    """
    method = best_allowed(server)
    try:
        _load(connection, server, database, job, method)
    except MethodRefused:
        return load_probe(connection, server.after_refusal(of_pipe=method.from_pipe), database, job)
    return method


def _load(connection: LoaderConnection, server: Server, database: str, job: str, method: Method) -> None:
    folder = server.shared_folder
    columns = tuple(Column(name, "varchar(64)", False, None, False, False) for name in COLUMNS)
    table = Table(database, ledger.TABLE, "InnoDB", columns)
    mapping = [ColumnMapping(name) for name in COLUMNS]
    statement = registry.statement(method.name, StatementRequest(table, MYSQL_TSV, mapping, folder=folder))
    load = registry.for_name(method.name, LoadRequest(MYSQL_TSV, len(COLUMNS), rows=PROBE_ROWS, folder=folder))
    load(connection, statement, [probe_rows(job)])
