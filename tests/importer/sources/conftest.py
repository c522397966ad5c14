"""Folders for uploads, and somebody who uploads."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from tests.people import operator


@pytest.fixture(autouse=True)
def upload_dir(settings, tmp_path: Path) -> Path:
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


@pytest.fixture
def ann(db: None) -> User:
    return operator("ann")
