"""A table with a foreign key, as target of labs, and a file for it."""

from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.models import Target
from tests.importer.labs import write_rows
from tests.targets import tables_target

PARENT = "CREATE TABLE parent (id INT PRIMARY KEY)"
TABLE = """CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT, KEY word (word),
  CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)"""


@pytest.fixture
def target(request: pytest.FixtureRequest, database: Address, transactional_db) -> Target:
    return tables_target(request, database, PARENT, "INSERT INTO parent VALUES (0), (1), (2)", TABLE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.csv")
