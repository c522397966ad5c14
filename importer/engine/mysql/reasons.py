"""Who is told why there is no connection to a server.

The reason tells a closed port from an open one, and what answers there. Whoever may enter a host and a port could look
around in the network with it. The application decides who is told (importer/apps.py).
"""

from collections.abc import Callable

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem, TargetUnreachable

UNTOLD = "There is no connection to the target's server."
WHO_KNOWS = "An admin sees the reason in the target's check."
# The server accepted the account: that tells its owner nothing about the network.
SIGNED_IN = (ER.BAD_DB_ERROR, ER.DBACCESS_DENIED_ERROR)


class SignInRefused(TargetProblem):
    """A server answered, but there is no connection to it."""


# The kinds of problems that have the reason in them, as stored problems name them.
KINDS = ("TargetUnreachable", "SignInRefused", "PasswordWithheld", "NotEncrypted")

_is_told: list[Callable[[], bool]] = []


def tell_only_if(allowed: Callable[[], bool]) -> None:
    """Tell reasons from now on only where `allowed` holds at the time of connecting."""
    _is_told[:] = [allowed]


def is_told() -> bool:
    """Whether the reason may be told now."""
    return all(allowed() for allowed in _is_told)


def untold(problem: TargetProblem) -> TargetProblem | None:
    """The problem without its reason, if that may not be told now."""
    cause = problem.__cause__
    signed_in = isinstance(cause, MySQLdb.Error) and cause.args[:1] in [(number,) for number in SIGNED_IN]
    if signed_in or is_told():
        return None
    return TargetUnreachable(UNTOLD, advice=WHO_KNOWS, retryable=problem.retryable)
