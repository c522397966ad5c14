"""A table for files of all formats, and what is loaded into it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.models import ImportJob, Target
from importer.preparation.prepare import ImportRequest
from tests.importer.steps import import_of, run
from tests.targets import target_with

TABLE = (
    "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(60), price DECIMAL(24,6), day DATE, at DATETIME(6),"
    " data VARBINARY(20), more TEXT) CHARSET utf8mb4"
)


@pytest.fixture
def target(database: Address, transactional_db, no_workers, plain_dir) -> Target:
    return target_with(database, TABLE)


@pytest.fixture
def load(target: Target) -> Callable[..., ImportJob]:
    """Load a file into the table, and return the job at its end."""

    def load(file: Path, known: dict[str, Any] | None = None, **options: Any) -> ImportJob:
        request = ImportRequest(options=Options(**{"parallelism": 1, **options}), known_format=known or {})
        return run(import_of(file, target, "items", request))

    return load


@pytest.fixture
def rows(target: Target) -> Callable[[str], list[tuple]]:
    """The rows of the table with these columns."""

    def rows(columns: str = "*") -> list[tuple]:
        with connect(target.address) as connection:
            return list(fetch_all(connection, f"SELECT {columns} FROM items ORDER BY id"))

    return rows
