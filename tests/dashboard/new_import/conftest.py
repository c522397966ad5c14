"""The pages of a new import are the same for both kinds of server."""

import pytest

from importer.engine.mysql.connection import Address


@pytest.fixture
def database(mariadb: Address) -> Address:
    """What is tested here is decided before the server has a say: one kind of it is enough."""
    return mariadb
