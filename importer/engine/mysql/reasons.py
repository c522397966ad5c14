"""Who sees why a connection to a server failed.

The reason tells a closed port from an open one, and what answers there. Whoever may enter a host and a port could look
around in the network with it. The application decides who sees the reason (importer/apps.py).
"""

from collections.abc import Callable

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem, TargetUnreachable

REASON_HIDDEN = "There is no connection to the target's server."
WHO_SEES_REASONS = "An admin sees the reason in the target's check."
# The server accepted the account: that tells its owner nothing about the network.
SIGNED_IN = (ER.BAD_DB_ERROR, ER.DBACCESS_DENIED_ERROR)


class SignInRefused(TargetProblem):
    """A server answered, but there is no connection to it."""


# The kinds of problems that have the reason in them, as stored problems name them.
KINDS = ("TargetUnreachable", "SignInRefused", "PasswordWithheld", "NotEncrypted")

_conditions: list[Callable[[], bool]] = []


def show_reasons_if(allowed: Callable[[], bool]) -> None:
    """Show reasons from now on only where `allowed` holds at the time of connecting."""
    _conditions[:] = [allowed]


def shows_reasons() -> bool:
    """Whether the reason may be shown now."""
    return all(allowed() for allowed in _conditions)


def without_reason(problem: TargetProblem) -> TargetProblem | None:
    """The problem without its reason, if that may not be shown now."""
    cause = problem.__cause__
    signed_in = isinstance(cause, MySQLdb.Error) and cause.args[:1] in [(number,) for number in SIGNED_IN]
    if signed_in or shows_reasons():
        return None
    return TargetUnreachable(REASON_HIDDEN, advice=WHO_SEES_REASONS, retryable=problem.retryable)
