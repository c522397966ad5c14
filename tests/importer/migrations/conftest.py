"""Browsers in which people of the old version have signed in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.importer.migrations.old_database import OldDatabase


@pytest.fixture
def admin(old: OldDatabase) -> Client:
    """A browser in which the old version's admin has signed in."""
    browser = Client()
    browser.force_login(User.objects.get(username="admin"))
    return browser


@pytest.fixture
def ann(old: OldDatabase) -> Client:
    """The same of somebody who is no admin."""
    browser = Client()
    browser.force_login(User.objects.get(username="ann"))
    return browser
