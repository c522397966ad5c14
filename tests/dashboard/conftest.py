"""Somebody signed in, and a folder for what they upload."""

import pytest

from tests.people import operator


@pytest.fixture(autouse=True)
def upload_dir(settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


@pytest.fixture
def user(db):
    return operator("ann")


@pytest.fixture
def browser(user, client):
    client.force_login(user)
    return client
