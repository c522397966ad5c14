"""Checks after every run that each table holds exactly the rows of its file."""

from bench.files import Content, Files
from bench.servers import Server
from bench.workloads.table import WorkloadTable
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.schema.table import read_table


class WrongContent(AssertionError):
    """A table does not hold the rows of its file, or does not have its keys."""


def check_tables(server: Server, files: Files, rows: int, way: str) -> None:
    """Raise WrongContent unless the tables hold the first `rows` of the workload and have their keys."""
    for table in files.workload.tables:
        where = f"{server.name}, {files.workload.name}, {way}: {table.name}"
        actual, expected = content_of(server, table, files.separator), files.content(table, rows)
        if actual != expected:
            raise WrongContent(f"{where} holds {actual}, and should hold {expected}.")
        with connect(server.address) as connection:
            keys = {key.name for key in read_table(connection, server.address.database, table.name).keys}
        expected_keys = {"PRIMARY", *(each.split()[1] for each in table.keys)}
        if keys != expected_keys:
            raise WrongContent(f"{where} has the keys {sorted(keys)}, and should have {sorted(expected_keys)}.")


def content_of(server: Server, table: WorkloadTable, separator: str) -> Content:
    """The content of a table: the server formats each row as the file does and sums the CRC-32 of these lines."""
    values = ", ".join(f"HEX({each.name})" if each.hexadecimal else each.name for each in table.fields)
    with connect(server.address) as connection:
        execute(connection, "SET SESSION time_zone = '+00:00'")
        rows, total = fetch_all(
            connection,
            f"SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('{separator}', {values}))), 0) FROM {table.name}",
        )[0]
    return Content(int(rows), int(total))
