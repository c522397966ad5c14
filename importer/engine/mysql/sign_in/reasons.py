"""Who sees why a connection to a server, or to a place of files, failed.

The reason tells a closed port from an open one, and what answers there. A person who may enter a host and a port could
explore the network with it. So the time that a failure takes must not tell the reason either. The application decides
who sees the reason (importer/apps.py).
"""

import time
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import NoConnection, TargetProblem, TargetUnreachable

REASON_HIDDEN = "There is no connection to the target's server."
WHO_SEES_REASONS = "An admin sees the reason in the target's check."
PLACE_REASON_HIDDEN = "There is no connection to the place of the files."
WHO_SEES_PLACE_REASONS = "An admin sees the reason in the connection's check."
# The server accepted the account: that tells its owner nothing about the network.
SIGNED_IN = (ER.BAD_DB_ERROR, ER.DBACCESS_DENIED_ERROR)


# Where the reason is hidden: seconds that a server has for its first answer, and after which each failure is told. In
# between a library may try again.
FIRST_ANSWER_SECONDS, TOLD_SECONDS = 15.0, 20.0


class SignInRefused(TargetProblem):
    """A server answered, but there is no connection to it."""


# The kinds of problems that have the reason in them, as stored problems name them.
KINDS = ("TargetUnreachable", "SignInRefused", "PasswordWithheld", "NotEncrypted", "TlsRequired", "CertificateRefused")

_conditions: list[Callable[[], bool]] = []


def show_reasons_if(allowed: Callable[[], bool]) -> None:
    """Show reasons from now on only where `allowed` holds at the time of connecting."""
    _conditions[:] = [allowed]


def shows_reasons() -> bool:
    """Whether the reason may be shown now."""
    return all(allowed() for allowed in _conditions)


def first_answer_seconds() -> float:
    """Seconds that a server has for its first answer, beside all other bounds."""
    return inf if shows_reasons() else FIRST_ANSWER_SECONDS


def wait_alike(began: float) -> None:
    """Wait until a failure may be told of what began at this time (time.monotonic())."""
    if not shows_reasons():
        time.sleep(max(0.0, began + TOLD_SECONDS - time.monotonic()))


def shown(problem: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored problem (Problem as JSON), without its reason if it has one that may not be shown now."""
    kind = problem.get("kind")
    if shows_reasons() or kind not in (*KINDS, NoConnection.__name__):
        return problem
    hidden = (PLACE_REASON_HIDDEN, WHO_SEES_PLACE_REASONS) if kind not in KINDS else (REASON_HIDDEN, WHO_SEES_REASONS)
    return {**problem, "where": "", "what": hidden[0], "advice": hidden[1]}


def without_reason(problem: TargetProblem) -> TargetProblem | None:
    """The problem without its reason, if that may not be shown now."""
    cause = problem.__cause__
    signed_in = isinstance(cause, MySQLdb.Error) and cause.args[:1] in [(number,) for number in SIGNED_IN]
    if signed_in or shows_reasons():
        return None
    return TargetUnreachable(REASON_HIDDEN, advice=WHO_SEES_REASONS, retryable=problem.retryable)
