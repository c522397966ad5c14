"""Values that their column has to shorten are notices; values that something else has shortened are differences."""

from pathlib import Path

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from tests.engine.loads import load_bytes, run_sql
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers

DIALECT = Dialect(header=False, delimiter=";", quote="")
FULL = Options(verify="full")
# The type of a column, a value that goes into it, and what a trigger makes of the value.
SHORTENED = [
    ("VARCHAR(20)", "abc  ", "RTRIM(NEW.v)"),
    ("VARCHAR(5)", "abc      ", "RTRIM(NEW.v)"),
    ("CHAR(5)", "abc  ", "'ab'"),
    ("TEXT", "abc  ", "RTRIM(NEW.v)"),
    ("TINYTEXT", "a" * 250 + " " * 9, "RTRIM(NEW.v)"),
    ("TINYTEXT CHARACTER SET latin1", "é" * 250 + " " * 9, "RTRIM(NEW.v)"),
    ("DATETIME(6)", "2024-01-02 10:11:12.5", "NEW.v - INTERVAL 500000 MICROSECOND"),
    ("DATETIME(3)", "2024-01-02 10:11:12.1256", "NEW.v + INTERVAL 4000 MICROSECOND"),
    ("TIME(3)", "10:11:12.5", "'10:11:12'"),
    ("DECIMAL(10,3)", "1.234", "ROUND(NEW.v, 2)"),
    ("DOUBLE(10,3)", "1.2341", "ROUND(NEW.v, 2)"),
    ("DOUBLE", "1.234", "ROUND(NEW.v, 2)"),
    ("FLOAT", "1.234", "ROUND(NEW.v, 2)"),
    ("VARBINARY(9)", "ab ", "'ab'"),
    ("JSON", "true", "'1'"),
    ("ENUM('a','A') COLLATE utf8mb4_bin", "a", "'A'"),
    ("SET('a','A') COLLATE utf8mb4_bin", "a,A", "'A'"),
]


@pytest.mark.parametrize(("type_", "text", "change"), SHORTENED)
def test_a_value_that_a_trigger_shortens_is_refused(database: Address, tmp_path: Path, type_, text, change):
    run_sql(database, f"CREATE TABLE t (id INT PRIMARY KEY, v {type_}) CHARACTER SET utf8mb4")
    data = f"1;{text}\n".encode()
    assert load_bytes(database, tmp_path, data, ["id", "v"], FULL, dialect=DIALECT).tally.loaded == 1
    trigger = f"CREATE TRIGGER shorten BEFORE INSERT ON t FOR EACH ROW SET NEW.v = {change}"
    run_sql(database, "DELETE FROM t", "DELETE FROM millrace_ledger", trigger)
    with pytest.raises(RowsRefused, match="is another one: the table has"):
        load_bytes(database, tmp_path, data, ["id", "v"], FULL, dialect=DIALECT)


@pytest.mark.parametrize("document", ['{"x":12345678901234567890123}', "[-9223372036854775809]"])
def test_digits_of_a_json_number_are_a_notice_on_mysql(
    server: TestServer, database: Address, tmp_path: Path, document: str
):
    run_sql(database, "CREATE TABLE t (id INT PRIMARY KEY, v JSON)")
    loaded = load_bytes(database, tmp_path, f"1;{document}\n".encode(), ["id", "v"], FULL, dialect=DIALECT)
    assert loaded.tally.loaded == 1
    notices = [(each.column, each.code, each.values) for outcome in loaded.outcomes for each in outcome.notices]
    assert notices == ([("v", "digits", 1)] if server.flavour == "mysql" else [])
