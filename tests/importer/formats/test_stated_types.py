"""A new table has the types that a file states, also where its values would suggest others."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from importer.engine.mysql.connection import connect, fetch_all
from importer.engine.plan.options import Options
from importer.models import Target
from tests.importer.steps import import_of, run
from tests.targets import on_one_server

pytestmark = on_one_server


def dump(folder: Path) -> Path:
    path = folder / "dump.sql"
    columns = "id int(11) unsigned NOT NULL, code varchar(40), price decimal(12,2), note enum('1')"
    path.write_text(f"CREATE TABLE t ({columns});\nINSERT INTO t VALUES (1,'2024-01-01',1,'1'),(2,'007',NULL,NULL);\n")
    return path


def columns(folder: Path) -> Path:
    path = folder / "columns.parquet"
    rows = {"id": pa.array([1, 2], pa.int16()), "code": ["2024", "7"], "day": [date(2024, 2, 29), None]}
    parquet.write_table(pa.table(rows), path)
    return path


CASES = [
    (
        dump,
        {"id": "int(10) unsigned", "code": "varchar(40)", "price": "decimal(12,2)"},
        [(1, "2024-01-01", Decimal(1), 1), (2, "007", None, None)],
    ),
    (columns, {"id": "smallint(6)", "day": "date"}, [(1, "2024", date(2024, 2, 29)), (2, "7", None)]),
]


@pytest.mark.parametrize(("write", "types", "rows"), CASES, ids=["sql", "parquet"])
def test_a_new_table_has_them(target: Target, tmp_path: Path, write, types, rows):
    job = run(import_of(write(tmp_path), target, "fresh", options=Options(mode="create", parallelism=1)))
    assert (job.status, job.problem) == ("succeeded", {})
    with connect(target.address) as connection:
        made = {name: type_ for name, type_, *_ in fetch_all(connection, "SHOW COLUMNS FROM fresh")}
        assert fetch_all(connection, "SELECT * FROM fresh ORDER BY id") == rows
    assert {name: made[name] for name in types} == types
    assert made["code"].startswith("varchar")
