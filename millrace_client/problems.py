"""Problems: what can go wrong with a request, as exceptions with what happened, where, and what to do next."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

UNAUTHORIZED, FORBIDDEN, NOT_FOUND, BUSY, TOO_MUCH = 401, 403, 404, 423, 429
PROBLEM = "application/problem+json"  # RFC 9457
RETRYABLE = (408, 423, 429, 503)  # the same request may succeed later
NOT_ANSWERED_YET = "NotAnsweredYet"  # the kind of a problem (docs/api.md, Sending a request twice)
SERVER_ERRORS = 500
WITHOUT_WORDS = "Try again. If it fails again, ask who runs Millrace to look at its log."
NOT_SIGNED_IN = (
    "Give a token that is valid: in MILLRACE_TOKEN, or in a file with --token-file. A new one is made under Your"
    " account on the server's pages."
)


@dataclass
class Problem(Exception):
    """What happened, where, and what to do next. `retryable`: the same call may succeed a little later."""

    what: str
    where: str = ""
    advice: str = ""
    retryable: bool = False

    # The number of docs/contracts.md.
    code: ClassVar[int] = 1000

    def __str__(self) -> str:
        located = f"{self.where}: {self.what}" if self.where else self.what
        return f"{located} {self.advice}".strip()


class SourceProblem(Problem):
    """The file cannot be read, or has nothing in it."""

    code = 1100


class SourceChanged(SourceProblem):
    """The file has changed while it was uploaded."""

    code = 1102


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


class NotLoaded(Problem):
    """An import has ended, or waits for another person, without all rows in the table. `report`: its report."""

    def __init__(self, report: Mapping[str, Any]) -> None:
        known, rejected = report["problem"] or {}, report["rows"]["rejected"]
        what = known.get("what") or ("1 row was rejected." if rejected == 1 else f"{rejected:,} rows were rejected.")
        super().__init__(
            f"Import {report['job']}: {report['outcome']}. {what}",
            known.get("where", ""),
            known.get("advice", ""),
            retryable=bool(known.get("retryable")),
        )
        self.report = report


def may_be_done(problem: BaseException) -> bool:
    """Whether the server may do all the same what it was asked for: its answer is lost, or is still to come."""
    if isinstance(problem, ServerProblem):
        return problem.status >= SERVER_ERRORS or problem.kind == NOT_ANSWERED_YET
    return isinstance(problem, ServerUnreachable)


def problem_in(status: int, headers: Mapping[str, str], body: bytes) -> Problem:
    """The problem in an answer. One that is no problem as JSON comes from something between here and Millrace.

    The answer to HEAD has no body: then its status says what happened.
    """
    if headers.get("Content-Type", "").partition(";")[0].strip() != PROBLEM:
        return _not_millrace(status)
    known = {"code": Problem.code, "where": "", "advice": WITHOUT_WORDS, "retryable": status in RETRYABLE}
    known["what"] = f"The server answers {status}."
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
        advice="Check the address of the server, and what stands between: a proxy, or another application.",
        retryable=status in (502, 503, 504),
    )
