"""Browsers in which people of the filled database have signed in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.filled.filled_database import FilledDatabase


@pytest.fixture
def admin(filled: FilledDatabase) -> Client:
    """A browser in which the admin has signed in."""
    browser = Client()
    browser.force_login(User.objects.get(username="admin"))
    return browser


@pytest.fixture
def ann(filled: FilledDatabase) -> Client:
    """The same of somebody who is no admin."""
    browser = Client()
    browser.force_login(User.objects.get(username="ann"))
    return browser
