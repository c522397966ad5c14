"""The table people of a target, and a file for it."""

from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.models import Target
from tests.importer.management.people_file import ROWS
from tests.stack import Stack
from tests.targets import target_with


@pytest.fixture(autouse=True)
def only_the_command(request: pytest.FixtureRequest) -> None:
    """A command loads in its own processes: the workers of an earlier test would take its steps."""
    if "stack" not in request.fixturenames and Stack.started:
        Stack.started.stop_workers()


@pytest.fixture
def target(database: Address, transactional_db) -> Target:
    return target_with(database, "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40), born DATE NULL)", name="t")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = (f'{n},"Zoë ""{n}""",{"NA" if n % 3 else "1990-01-31"}\n' for n in range(ROWS))
    path.write_text("id,name,born\n" + "".join(rows))
    return path
