"""A target on a real server, and a program that may do everything with it."""

import pytest

from importer.models import Target
from importer.targets import TargetUrl, add_or_replace
from tests.dashboard.api.program import Program
from tests.engine.loads import run_sql
from tests.people import admin, operator

CREATE = "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, amount DECIMAL(8,2))"


def make_target(address, name: str = "warehouse") -> Target:
    """A target for this database, with the table orders in it."""
    run_sql(address, CREATE)
    url = TargetUrl(address.host, address.port, address.user, address.database)
    return add_or_replace(name, url, password=address.password)


@pytest.fixture
def target(mariadb, transactional_db, no_workers) -> Target:
    return make_target(mariadb)


@pytest.fixture
def program(db) -> Program:
    """Of an operator with grants on everything."""
    return Program(operator("ann"))


@pytest.fixture
def root(db) -> Program:
    """Of an admin."""
    return Program(admin("root"))
