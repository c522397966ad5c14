"""Somebody signed in, and a folder for what they upload, with every place free."""

import shutil

import pytest

from importer.access import limits, places
from tests.people import operator
from tests.targets import tables_target


@pytest.fixture(autouse=True)
def upload_dir(settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


@pytest.fixture(autouse=True)
def free_places() -> None:
    """Free the places of downloads that an earlier test has not read to their end."""
    for kind in limits.PLACES:
        shutil.rmtree(places.folder_of(kind))


@pytest.fixture
def user(db):
    return operator("ann")


@pytest.fixture
def browser(user, client):
    client.force_login(user)
    return client


@pytest.fixture
def target(request, database, db):
    """A target with a ledger, and with what the statements TABLES of the test's module make."""
    return tables_target(request, database)
