"""The table people of a target, and a file for it."""

from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.models import Target
from tests.importer.management.people_file import ROWS
from tests.stack import Stack
from tests.targets import target_with

PEOPLE = "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40), born DATE NULL)"


@pytest.fixture(autouse=True)
def only_the_command(request: pytest.FixtureRequest) -> None:
    """A command loads in its own processes: the workers of an earlier test would take its steps."""
    if "stack" not in request.fixturenames and Stack.started:
        Stack.started.stop_workers()


@pytest.fixture
def target(mariadb: Address, transactional_db) -> Target:
    """On one server: options, exit codes, reports and the ends of processes do not depend on its kind."""
    return target_with(mariadb, PEOPLE, name="t")


@pytest.fixture
def target_on_each(database: Address, transactional_db) -> Target:
    """On each server in turn, for whole imports and for loads that a server must end."""
    return target_with(database, PEOPLE, name="t")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = (f'{n},"Zoë ""{n}""",{"NA" if n % 3 else "1990-01-31"}\n' for n in range(ROWS))
    path.write_text("id,name,born\n" + "".join(rows))
    return path
