"""Password hashers of the tests: the application's own, whose million rounds take half a second, with fewer rounds."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """One round: for each test that signs in or is refused."""

    iterations = 1


class OverlappingHasher(PBKDF2PasswordHasher):
    """So many rounds that evaluations of passwords that come at the same time overlap."""

    iterations = 100_000
