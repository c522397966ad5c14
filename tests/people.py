"""People for tests, of each role."""

from django.contrib.auth.models import Group, User

from importer.access import people
from importer.models import Grant, Level, Role


def operator(name: str, level: Level = Level.ADMINISTER) -> User:
    """An operator with a grant on every target, connection and channel."""
    user = people.add(name, Role.OPERATOR)
    grant_all(user, level)
    return user


def viewer(name: str, level: Level = Level.LOOK) -> User:
    """A viewer with a grant on everything."""
    user = people.add(name, Role.VIEWER)
    grant_all(user, level)
    return user


def admin(name: str) -> User:
    return people.add(name, Role.ADMIN)


def stranger(name: str) -> User:
    """An operator without any grant."""
    return people.add(name, Role.OPERATOR)


def grant_all(subject: User | Group, level: Level) -> None:
    for kind in Grant.Kind.values:
        people.grant(subject, kind, level)
