"""What imports go into whose steps the tests take themselves."""

import pytest

from importer.engine.mysql.connection import Address
from importer.models import Target
from tests.targets import target_with


@pytest.fixture
def target(request: pytest.FixtureRequest, database: Address, transactional_db) -> Target:
    """A target with a ledger, and with what the statements TABLES of the test's module make."""
    return target_with(database, *getattr(request.module, "TABLES", ()))
