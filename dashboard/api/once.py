"""Idempotency-Key: a request that creates something, and is sent again, is not carried out again."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from ninja.decorators import decorate_view

from dashboard.access import problems
from importer.access import audit, idempotency
from importer.access.idempotency import KEY, LONGEST_KEY, Answer, digest_of
from importer.engine.errors import Problem

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
# How an operation with the header is described.
PARAMETER = {
    "parameters": [
        {
            "in": "header",
            "name": HEADER,
            "required": False,
            "description": "A key of the sender's own, such as a UUID. The same request with the same key is carried"
            " out once, and gets the same answer for 24 hours.",
            "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": f"^{KEY}$"},
        }
    ]
}

View = Callable[..., HttpResponse]


def _once(view: View) -> View:
    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None:
            return view(request, *args, **named)
        user = cast(User, request.user)
        try:
            digest = digest_of((request.method or "").encode(), request.path.encode(), request.body)
            earlier = idempotency.begin(user, key, digest)
        except Problem as problem:
            return problems.answer(problem)
        if earlier:
            return _again(earlier)
        return _kept(user, key, lambda: view(request, *args, **named))

    return answered


# Decorates an operation below its route.
once = decorate_view(_once)


def _kept(user: User, key: str, view: Callable[[], HttpResponse]) -> HttpResponse:
    """Carry the request out, and keep its answer. Of a refused one nothing is kept, so that it can be corrected."""
    response = view()
    done = response.status_code < 300
    body = response.content.decode() if done else ""
    answer = Answer(response.status_code, response.headers.get("Location", ""), body) if done else None
    idempotency.finish(user, key, answer)
    return response


def _again(earlier: Answer) -> HttpResponse:
    audit.leave_out()
    response = HttpResponse(earlier.body, status=earlier.status, content_type="application/json; charset=utf-8")
    response.headers[REPLAYED] = "true"
    if earlier.location:
        response.headers["Location"] = earlier.location
    return response
