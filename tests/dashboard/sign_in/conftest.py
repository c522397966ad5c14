"""Ann, who signs in with a password."""

import pytest
from django.contrib.auth.models import User

PASSWORD = "mill-race-9"


@pytest.fixture
def user(db):
    return User.objects.create_user("ann", password=PASSWORD)
