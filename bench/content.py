"""Whether a way has loaded what it was given: every table is read and compared with its file after every run."""

from bench.files import Content, Files
from bench.servers import Server
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.schema.table import read_table
from importer.experiments.workloads.table import WorkloadTable


class LoadedSomethingElse(AssertionError):
    """A table does not hold the rows of its file, or not the keys that it should have."""


def check_tables(server: Server, files: Files, rows: int, way: str) -> None:
    """Raise LoadedSomethingElse unless the tables hold the first `rows` of the workload and have their keys."""
    for table in files.workload.tables:
        where = f"{server.name}, {files.workload.name}, {way}: {table.name}"
        found, wanted = content_of(server, table, files.separator), files.content(table, rows)
        if found != wanted:
            raise LoadedSomethingElse(f"{where} holds {found}, and should hold {wanted}.")
        with connect(server.address) as connection:
            keys = {key.name for key in read_table(connection, server.address.database, table.name).keys}
        wanted_keys = {"PRIMARY", *(each.split()[1] for each in table.keys)}
        if keys != wanted_keys:
            raise LoadedSomethingElse(f"{where} has the keys {sorted(keys)}, and should have {sorted(wanted_keys)}.")


def content_of(server: Server, table: WorkloadTable, separator: str) -> Content:
    """What is in a table: the server writes each row as the file does, and sums up the CRC-32 of these lines."""
    values = ", ".join(f"HEX({each.name})" if each.hexadecimal else each.name for each in table.fields)
    with connect(server.address) as connection:
        execute(connection, "SET SESSION time_zone = '+00:00'")
        rows, total = fetch_all(
            connection,
            f"SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('{separator}', {values}))), 0) FROM {table.name}",
        )[0]
    return Content(int(rows), int(total))
