"""What is said of a value that the column's reading does not take: the reading, not how the server was told of it."""

from pathlib import Path

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
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


BLANK = "The value is blank. --null '' reads blanks as NULL, in all columns that take NULL."
FOR_NULL = "The value is blank, and the column takes no NULL."
CHECKED = [
    (
        "DATE",
        ColumnMapping("v", datetime_format="%d.%m.%Y"),
        "31.2.2024",
        "The value cannot be read as 31.12.2026 (day.month.year).",
    ),
    (
        "DATE",
        ColumnMapping("v", transforms=("excel-date",)),
        "60",
        "The value cannot be read as Excel's day number. There is no day 60, which Excel shows as 29 February 1900.",
    ),
    ("INT NOT NULL", ColumnMapping("v"), "", FOR_NULL),
    ("DATE NOT NULL DEFAULT '2024-01-01'", ColumnMapping("v"), "", FOR_NULL),
    ("INT", ColumnMapping("v"), "", BLANK),
    ("INT AUTO_INCREMENT PRIMARY KEY", ColumnMapping("v"), "", BLANK),
]


@pytest.mark.parametrize(("type_", "mapping", "value", "reason"), CHECKED)
def test_what_the_import_checks_itself_is_said_in_its_own_words(
    database: Address, tmp_path: Path, type_: str, mapping: ColumnMapping, value: str, reason: str
):
    run_sql(database, f"CREATE TABLE t (v {type_}, w INT) CHARACTER SET utf8mb4")
    options = Options(on_error="reject")
    [row] = load_bytes(database, tmp_path, f"{value},2\n".encode(), [mapping, "w"], options).explained
    assert (row[2], row[3], row[5]) == ("v", value, reason)
