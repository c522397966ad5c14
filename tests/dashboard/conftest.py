"""Somebody signed in, and a folder for what they upload."""

import pytest
from django.contrib.auth.models import User


@pytest.fixture(autouse=True)
def upload_dir(settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


@pytest.fixture
def user(db):
    return User.objects.create_user("ann")


@pytest.fixture
def browser(user, client):
    client.force_login(user)
    return client
