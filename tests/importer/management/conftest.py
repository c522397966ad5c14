"""The table people of a target, and a file for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandParser

from importer.engine.mysql.connection import Address
from importer.management.base_command import CheckedCommand
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


@pytest.fixture(autouse=True, scope="session")
def each_parser_is_made_once() -> Iterator[None]:
    """For calls of commands, to which parsers say nothing about earlier ones: to make them takes longer than most."""
    made: dict[tuple[type, str, str], CommandParser] = {}
    make = CheckedCommand.create_parser

    def create_parser(command: CheckedCommand, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        key = (type(command), prog_name, subcommand)
        if kwargs or command._is_a_line or key not in made:
            parser = make(command, prog_name, subcommand, **kwargs)
            if kwargs or command._is_a_line:
                return parser
            made[key] = parser
        return made[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CheckedCommand, "create_parser", create_parser)
        yield


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
