"""Loads single values through a mapping on a real server, and shows what is stored."""

from importer.engine.load.methods import load_data_local
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.load.rejects.server_warnings import read_warnings
from importer.engine.mapping.columns import ColumnMapping, check_mapping
from importer.engine.mysql.connection import Address, connect, connect_loader, execute, fetch_all
from importer.engine.schema.table import read_table
from importer.engine.source.dialect import Dialect

# The delimiter is in no value of the tests, so that each record is one value.
DIALECT = Dialect(delimiter="\x01", quote="", line_end="\n", header=False)


class Loaded:
    """The values that the server stored, by the text in the file; "bad" if the server warned of the row."""

    def __init__(self, address: Address, column: str, mapping: ColumnMapping, values: list[str | bytes]) -> None:
        raw = [value.encode() if isinstance(value, str) else value for value in values]
        with connect(address) as connection:
            execute(connection, "DROP TABLE IF EXISTS t")
            execute(connection, f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v {column}) CHARSET utf8mb4")
            table = read_table(connection, address.database, "t")
        check_mapping((mapping,), table)
        statement = load_data_local.statement(StatementRequest(table, DIALECT, (mapping,)))
        with connect_loader(address) as connection:
            self.report = load_data_local.load(connection, statement, [value + b"\n" for value in raw])
            warnings = [warning for _, warning in read_warnings(self.report.warning_rows).all]
            rows = fetch_all(connection, "SELECT v FROM t ORDER BY id")
        assert self.report.records == len(values)
        self.numbered = {warning.row for warning in warnings} - {0}
        self.stored = {
            value: "bad" if row in self.numbered else stored[0]
            for row, (value, stored) in enumerate(zip(values, rows, strict=True), start=1)
        }
        assert bool(warnings) == bool(self.numbered), "a bad row without a number"


def stored(address: Address, column: str, mapping: ColumnMapping, values: list) -> dict:
    return Loaded(address, column, mapping, values).stored


def read(*transforms: str, **more) -> ColumnMapping:
    return ColumnMapping("v", transforms=transforms, **more)
