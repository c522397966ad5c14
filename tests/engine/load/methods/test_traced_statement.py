"""The traced statement stores what the plain one does, with any type of the column that carries the trace."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address
from tests.engine.loads import Unchecked, counting_loads, load_bytes, rows_of, run_sql

pytestmark = pytest.mark.both_servers

STOP = Unchecked()
COLUMNS = (
    "first {type}, n DECIMAL(9,3), f DOUBLE, d DATETIME(3), y YEAR, e ENUM('a','b'), s SET('x','y'),"
    " b VARBINARY(9), c CHAR(9) CHARACTER SET latin1, j JSON, i BIT(8), t TEXT, u INT UNIQUE"
)
ROW = '{first},1.125,0.1,2024-02-29 12:00:00.125,2024,b,"x,y",é,é,"[1, ""é""]",A,"NULL\n",{u}\n'


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("INT", ["1", "-2"]),
        ("VARCHAR(9) CHARACTER SET utf8mb4", ["NULL", "ñ", "", '"a ""b"""']),
        ("VARBINARY(9)", ["NULL", "ñ", ""]),
        ("BIT(8)", ["A", "0"]),
        ("JSON", ['"{""a"": 1.10}"', "null"]),
        ("DATETIME(6)", ["2024-01-01 00:00:00.123456"]),
        ("DECIMAL(20,10)", ["1234567890.0123456789"]),
        ("DOUBLE", ["0.1", "1e300"]),
        ("ENUM('a','b')", ["a", "b"]),
    ],
)
def test_loads_the_same_values(database: Address, tmp_path: Path, kind: str, values: list[str]):
    run_sql(database, f"CREATE TABLE t ({COLUMNS.format(type=kind)})")
    data = "".join(ROW.format(first=value, u=u) for u, value in enumerate(values)).encode()
    fields = ("first", "n", "f", "d", "y", "e", "s", "b", "c", "j", "i", "t", "u")
    plain = load_bytes(database, tmp_path, data, fields, STOP)
    rows = rows_of(database)
    run_sql(database, "DELETE FROM t", "DELETE FROM millrace_ledger")
    with counting_loads(database) as loads:
        traced = load_bytes(database, tmp_path, data, fields, replace(STOP, on_duplicate="skip"))
    assert (plain.tally, traced.tally, loads[0]) == (Tally(len(values)), Tally(len(values)), 1)
    assert rows_of(database) == rows
