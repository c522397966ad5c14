"""Answers of the API that tell a problem: application/problem+json (RFC 9457), with the parts of docs/contracts.md."""

import json
import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url

from config.serving.refusals import CONTENT_TYPE, RETRYABLE, problem_of
from dashboard.access.api_rules import is_api
from dashboard.access.errands import TookTooLong, TookTooMuch
from importer.access.idempotency import NotAnsweredYet
from importer.access.limits import TooMany, TooManyAtOnce, TooOften
from importer.access.policy import Forbidden
from importer.engine.errors import DiskFull, Problem, TargetUnreachable
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import reading_to_json
from importer.sources import direct, parts
from importer.sources import uploads as sources
from importer.sources.quotas import QuotaExceeded
from importer.sources.store.file_store import StoreAway

DOCS = "/api/docs/#problem-"
# The status of each kind of problem; the others are those of a request that cannot be carried out.
STATUS: dict[type[Problem], int] = {
    Forbidden: 403,
    TooOften: 429,
    TooManyAtOnce: 429,
    TookTooLong: 424,
    TookTooMuch: 413,
    TooMany: 409,
    NotAnsweredYet: 409,
    # 503 would say that Millrace itself does not answer.
    TargetUnreachable: 424,
    sources.UploadGone: 404,
    sources.WrongOffset: 409,
    direct.NotOffered: 409,
    direct.PartsMissing: 409,
    sources.SourceInUse: 409,
    sources.TooLarge: 413,
    QuotaExceeded: 413,
    sources.UploadBusy: 423,
    StoreAway: 503,
    parts.ChecksumMismatch: 460,
    DiskFull: 507,
}
OTHERWISE = 422
# What to do about an answer that names no problem.
ADVICE = {
    400: "Correct the request; /api/docs/ describes it.",
    401: "Send the header Authorization: Bearer TOKEN. Create a token under Your account.",
    404: "Look at the list of what there is: what you may not see does not exist for you.",
    405: "Use one of the methods in the header Allow.",
    413: "Send a file by /api/v1/uploads, in parts.",
    415: "Send JSON, with Content-Type: application/json.",
    429: "Wait as many seconds as the header Retry-After says.",
    500: "Try again. If it fails again, ask who runs Millrace to look at its log.",
}


def status_of(kind: type[Problem]) -> int:
    """The HTTP status of a kind of problem."""
    return next((STATUS[each] for each in kind.__mro__ if each in STATUS), OTHERWISE)


def told(problem: Problem, status: int, **more: Any) -> dict[str, Any]:
    """A problem as its answer has it. `detail` is all of it in words; `what`, `where` and `advice` are its parts."""
    values = {
        "type": f"{DOCS}{problem.code}",
        "title": _words(type(problem)),
        "status": status,
        "detail": str(problem),
        "code": problem.code,
        "kind": type(problem).__name__,
        "what": problem.what,
        "where": problem.where,
        "advice": problem.advice,
        "retryable": problem.retryable or isinstance(problem, TargetUnreachable) or status in RETRYABLE,
    }
    if isinstance(problem, NeedsAnswer):
        values["reading"] = reading_to_json(problem.reading)
    return values | more


def answer(problem: Problem, status: int | None = None, **more: Any) -> HttpResponse:
    """The answer that tells a problem."""
    status = status or status_of(type(problem))
    body = json.dumps(told(problem, status, **more))
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers_of(problem))


def headers_of(problem: Problem) -> dict[str, str]:
    """The headers of an answer that tells the problem: the seconds until it may be gone, where that is known."""
    seconds = getattr(problem, "seconds", None)
    return {} if seconds is None else {"Retry-After": str(seconds)}


class ApiProblems:
    """Turns every answer of the API that tells an error into a problem as JSON, also those of other middlewares."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not is_api(request.path_info) or not isinstance(response, HttpResponse):
            return response
        if response.headers.get("Location", "").startswith(resolve_url(settings.LOGIN_URL)):
            response = HttpResponse("Nobody is signed in.", status=401, content_type="text/plain")
        if response.status_code >= 400 and response.headers.get("Content-Type") != CONTENT_TYPE:
            _tell(request, response)
        return response


def _tell(request: HttpRequest, response: HttpResponse) -> None:
    problem: Problem | None = getattr(request, "problem", None)
    is_text = response.headers.get("Content-Type", "").startswith("text/plain")
    if problem:
        body = told(problem, response.status_code)
    else:
        what = response.content.decode() if is_text else ""
        body = problem_of(response.status_code, what, ADVICE.get(response.status_code, ""))
    response.content = json.dumps(body).encode()
    response.headers["Content-Type"] = CONTENT_TYPE
    if response.status_code == 401:
        response.headers.setdefault("WWW-Authenticate", "Bearer")
    if "Content-Length" in response.headers:
        response.headers["Content-Length"] = str(len(response.content))


def _words(kind: type[Problem]) -> str:
    """The name of a kind of problem in words: TargetUnreachable as "Target unreachable"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__)
    return words[:1] + words[1:].lower()
