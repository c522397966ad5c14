"""What is said of a value that the column's reading does not take: the reading, not how the server was told of it."""

from pathlib import Path

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from tests.engine.loads import load_bytes, run_sql

pytestmark = pytest.mark.both_servers

READINGS = [
    ("DECIMAL(8,2)", ColumnMapping("v", transforms=("decimal-comma",)), "free", "decimal comma"),
    ("TINYINT", ColumnMapping("v", transforms=("yes-no",)), "maybe", "yes or no"),
    ("INT", ColumnMapping("v", transforms=("thousands-comma",)), "1,2,3", "thousands comma"),
    ("DECIMAL(8,2)", ColumnMapping("v", transforms=("money-$",)), "€5", "amount in $, decimal point"),
    ("DECIMAL(8,2)", ColumnMapping("v", transforms=("money-comma-€",)), "5 $", "amount in €, decimal comma"),
]


@pytest.mark.parametrize(("type_", "mapping", "value", "reading"), READINGS)
def test_the_reading_is_named(
    database: Address, tmp_path: Path, type_: str, mapping: ColumnMapping, value: str, reading: str
):
    run_sql(database, f"CREATE TABLE t (v {type_}) CHARACTER SET utf8mb4")
    [row] = load_bytes(database, tmp_path, f'"{value}"\n'.encode(), [mapping]).explained
    assert (row[2], row[3], row[5]) == ("v", value, f"The value cannot be read as {reading}.")
