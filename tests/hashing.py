"""A fast password hasher for the tests."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """The application's own with one round: a million take half a second for each test that signs in or is refused."""

    iterations = 1
