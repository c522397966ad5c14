"""Problems of a request to the server: those in its answers, and no answer at all."""

import json
from collections.abc import Mapping
from typing import Any

from config.serving.refusals import CONTENT_TYPE, problem_of
from importer.engine.errors import Problem, problem_values

UNAUTHORIZED, FORBIDDEN, NOT_FOUND, BUSY, TOO_MUCH = 401, 403, 404, 423, 429
NOT_ANSWERED_YET = "NotAnsweredYet"  # the kind of a problem (docs/api.md, Sending a request twice)
SERVER_ERRORS = 500
WITHOUT_WORDS = "Try again. If it fails again, ask who runs Millrace to look at its log."
NOT_SIGNED_IN = (
    "Give a token that is valid: in MILLRACE_TOKEN, or in a file with --token-file. A new one is made under Your"
    " account on the server's pages."
)


class ServerProblem(Problem):
    """A problem that the server has reported (RFC 9457).

    `status`: of HTTP. `details`: the whole answer, with the number of docs/contracts.md in `code`. `seconds`: after
    which the server asks to send the request again; None if it does not say.
    """

    def __init__(self, status: int, details: Mapping[str, Any], seconds: int | None = None) -> None:
        advice = NOT_SIGNED_IN if status == UNAUTHORIZED else details["advice"]
        super().__init__(details["what"], details["where"], advice, retryable=details["retryable"])
        self.status, self.details, self.seconds = status, details, seconds

    @property
    def kind(self) -> str:
        """The kind of the problem, as documents have it; "" for one that has none."""
        return str(self.details.get("kind", ""))

    @property
    def report(self) -> dict[str, Any] | None:
        """The report of an import that did not begin because of the problem; None of another request."""
        return self.details.get("report")


class ServerUnreachable(Problem):
    """The Millrace server does not answer, or something else answers there."""


def may_be_done(problem: Problem) -> bool:
    """Whether the server may do all the same what it was asked for: its answer is lost, or is still to come."""
    if isinstance(problem, ServerProblem):
        return problem.status >= SERVER_ERRORS or problem.kind == NOT_ANSWERED_YET
    return isinstance(problem, ServerUnreachable)


def problem_in(status: int, headers: Mapping[str, str], body: bytes) -> Problem:
    """The problem in an answer. One that is no problem as JSON comes from something between here and Millrace.

    The answer to HEAD has no body: then its status says what happened.
    """
    if headers.get("Content-Type", "").partition(";")[0].strip() != CONTENT_TYPE:
        return _not_millrace(status)
    known = problem_of(status, f"The server answers {status}.", WITHOUT_WORDS)
    seconds = headers.get("Retry-After", "")
    return ServerProblem(
        status, known | (values_in(status, body) if body else {}), int(seconds) if seconds.isdecimal() else None
    )


def values_in(status: int, body: bytes) -> Any:
    """The values in an answer's JSON. Raises ServerUnreachable for a body that is none."""
    try:
        return json.loads(body)
    except ValueError as error:
        raise _not_millrace(status) from error


def _not_millrace(status: int) -> ServerUnreachable:
    return ServerUnreachable(
        f"The server answers {status}, and not as Millrace does.",
        advice="Check the address after --server, and what stands between: a proxy, or another application.",
        retryable=status in (502, 503, 504),
    )


def values_of(problem: Problem) -> dict[str, Any]:
    """The problem as documents have it: one of the server with the number and the kind that it has there."""
    values = problem_values(problem.as_json())
    if not isinstance(problem, ServerProblem):
        return values
    of_report = (problem.report or {}).get("problem")
    return {
        **values,
        "kind": problem.kind or Problem.__name__,
        "code": problem.details["code"],
        **(of_report or {}),
    }


def in_words(problem: Problem) -> str:
    """The problem for a terminal. Questions about a file are all of them, with the flags that answer them."""
    if isinstance(problem, ServerProblem) and problem.details.get("reading"):
        return str(problem.details["detail"])
    return str(problem)
