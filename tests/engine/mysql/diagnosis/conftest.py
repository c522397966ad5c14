from collections.abc import Iterator

import pytest

from importer.engine.mysql.connection import Address
from tests.engine.mysql.diagnosis.scene import Scene, scene


@pytest.fixture
def on_table(database: Address) -> Iterator[Scene]:
    """A table on each server, for locks."""
    with scene(database) as made:
        yield made
