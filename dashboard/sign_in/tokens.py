"""Signs a request in by the token in its header, for this request alone (docs/people.md)."""

from collections.abc import Callable
from importlib import import_module

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse

from dashboard.access.bearer import bearer_of, wrong_token
from dashboard.sign_in.address import client_address
from dashboard.sign_in.guesses import count_wrong
from importer.access import audit, tokens
from importer.access.acting import acting_from


class TokenMiddleware:
    """Makes the person of a token the request's user.

    Cookies of such a request are ignored, so that no session is read or opened, and no other site can have a browser
    send it: it needs no CSRF token. Another bearer than ours is left alone: some proxies send one of their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        text = bearer_of(request)
        if not text.startswith(tokens.PREFIX):
            return self.get_response(request)
        with acting_from(client_address(request)):
            token = tokens.valid(text)
            if token is None:
                return _refused(request)
        request.user = token.user
        request.access_token = token  # type: ignore[attr-defined]
        request.COOKIES = {}
        request.session = _no_session()
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        response = self.get_response(request)
        request.session = _no_session()
        return response


def _refused(request: HttpRequest) -> HttpResponse:
    """Answer 401. After too many wrong tokens: 429, and no further event."""
    if count_wrong(request, "token"):
        audit.record("wrong_token", outcome=audit.Outcome.REFUSED, who=AnonymousUser())
        return wrong_token()
    answer = HttpResponse("Too many wrong tokens from this address.", status=429, content_type="text/plain")
    answer.headers["Retry-After"] = str(settings.SIGN_IN_SECONDS)
    return answer


def _no_session() -> SessionBase:
    """An empty session, which is not stored."""
    store: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore()
    return store
