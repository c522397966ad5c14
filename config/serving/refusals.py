"""Problems as JSON (RFC 9457) about requests that are refused for their form alone."""

from http import HTTPStatus
from typing import Any

CONTENT_TYPE = "application/problem+json"
API = "/api/"  # the beginning of the addresses whose errors are problems as JSON
RETRYABLE = (408, 423, 429, 503)  # the same request may succeed later
ANY_OTHER = 1000  # the code of a problem without one of its own (docs/contracts.md)


def problem_of(status: int, what: str = "", advice: str = "") -> dict[str, Any]:
    """The problem that a status tells, with the parts of docs/contracts.md."""
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Refused"
    what = what or f"{phrase}."
    return {
        "type": "about:blank",
        "title": phrase,
        "status": status,
        "detail": f"{what} {advice}".strip(),
        "code": ANY_OTHER,
        "what": what,
        "where": "",
        "advice": advice,
        "retryable": status in RETRYABLE,
    }
