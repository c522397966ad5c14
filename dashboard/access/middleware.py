"""Runs each request on behalf of its person, and enforces the rule of its URL before the view."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from ipaddress import ip_address, ip_network
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from config.serving.events import FEED, Feed
from config.serving.shares import PERSON
from dashboard.access import errands, problems
from dashboard.access.api_rules import READING, asked
from dashboard.access.bearer import bearer_of, unauthorized, wrong_token
from dashboard.access.errands import TookTooLong, TookTooMuch
from importer.access import places, tokens
from importer.access.acting import Somebody, acting_address, acting_as
from importer.access.limits import TooManyAtOnce, TooOften
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.models import AccessToken

# The title and the first line of the page about each kind of refusal that has one.
TITLES: dict[type[Problem], tuple[str, str]] = {
    TooManyAtOnce: ("Too many at once", "This is more than one person may have at a time"),
    TooOften: ("Too often", "This was done too often"),
    TookTooLong: ("Too long", "This took too long"),
    TookTooMuch: ("Too much", "This needed too much memory"),
}
# Headers that proxies add to the requests that they pass on (RFC 7239, RFC 9110; the others by custom).
OF_PROXIES = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")


def token_of(request: HttpRequest) -> AccessToken | None:
    """The token that has signed the request in (dashboard/sign_in/tokens.py); None if a session has, or nothing."""
    return getattr(request, "access_token", None)


class PolicyMiddleware:
    """Sets the acting person of a request, and answers 404 or 403 where the rule of the URL says so."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user, sender = request.user, request.META.get(PERSON)
        if sender and user.pk:
            sender.name = str(user.pk)
        with ExitStack() as held:
            request.held = held  # type: ignore[attr-defined]
            with acting_as(user):
                response = self.get_response(request)
            feed: Feed | None = request.META.get(FEED)
            if feed and feed.events:
                feed.held = held.pop_all()
            if response.streaming and not isinstance(response, FileResponse):
                # The content is made later, after the request: on behalf of the same person.
                streamed = cast(StreamingHttpResponse, response)
                content = cast(Iterable[bytes], streamed.streaming_content)
                streamed.streaming_content = _Content(user, content, held.pop_all())
        return response

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]) -> HttpResponse | None:
        """Check the rule of the URL. Raises Http404 and PermissionDenied, whose reason the page shows.

        What is done too often is answered with 429 and the time until it may continue.
        """
        name = request.resolver_match.url_name if request.resolver_match else None
        wanted = asked(name or "", request.method)
        if wanted is None:
            raise PermissionDenied(f"The address {request.path} has no rule that says who may use it.")
        token, reads = token_of(request), request.method in READING
        if wanted.rule.no_token and token:
            raise PermissionDenied("A token opens no page of accounts, people and approvals: use the API or a browser.")
        if wanted.by_token and not token:
            return _without_token(request)
        if not wanted.rule.public and request.user.is_anonymous:
            if wanted.rule.machines and not (reads and _is_from(request, getattr(settings, wanted.rule.machines))):
                return _without_token(request)
            return None  # LoginRequiredMiddleware redirects to the sign-in page.
        try:
            if token and not wanted.rule.public:
                tokens.require_scope(token, wanted.rule.scope_for(reads))
            if errands.begin(request, name or ""):
                request.audit_entry.action = ""  # type: ignore[attr-defined]
                return HttpResponse()
            wanted.rule.check(reads, kwargs)
            if wanted.rule.places and (place := places.take(wanted.rule.places, cast(User, request.user))):
                request.held.enter_context(place)  # type: ignore[attr-defined]
        except tuple(TITLES) as refused:
            return _refused(request, refused)
        except Forbidden as forbidden:
            request.problem = forbidden  # type: ignore[attr-defined]
            raise PermissionDenied(str(forbidden)) from forbidden
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Say what an errand needed, if that was too much memory."""
        return _refused(request, errands.too_much()) if isinstance(error, MemoryError) else None


def _is_from(request: HttpRequest, networks: list[str]) -> bool:
    """Whether the request comes from one of the networks.

    If a proxy has passed it on that is not trusted or does not say for whom, its address is that of the proxy, and says
    nothing.
    """
    told = settings.TRUSTED_PROXIES and settings.PROXY_HEADER in request.headers
    if not told and any(each in request.headers for each in (settings.PROXY_HEADER, *OF_PROXIES)):
        return False
    try:
        address = ip_address(acting_address())
    except ValueError:  # A web server at a Unix socket knows none.
        return False
    return any(address in ip_network(each) for each in networks)


def _without_token(request: HttpRequest) -> HttpResponse:
    """The answer to a request that must bring a token: a session does not do, since other sites could use it.

    One that brings another bearer, such as a token that was copied in part, gets the answer to an invalid token.
    """
    return wrong_token() if bearer_of(request) else unauthorized("The request has no token.", "Bearer")


def _refused(request: HttpRequest, refused: Problem) -> HttpResponse:
    """A page for who asks for one; the reason alone for scripts, which show it themselves."""
    request.problem = refused  # type: ignore[attr-defined]
    status = problems.STATUS[type(refused)]
    # A script that names no type says */*.
    if "text/html" in request.headers.get("Accept", "") and not request.htmx:  # type: ignore[attr-defined]
        title, what = TITLES[type(refused)]
        answer = render(request, "refused.html", {"title": title, "what": what, "reason": str(refused)}, status=status)
    else:
        answer = HttpResponse(str(refused), status=status, content_type="text/plain; charset=utf-8")
    for name, value in problems.headers_of(refused).items():
        answer.headers[name] = value
    return answer


class _Content:
    """The parts of an answer, each made on behalf of the person. The places are held until the last, or close()."""

    def __init__(self, user: Somebody, parts: Iterable[bytes], held: ExitStack) -> None:
        self._user, self._parts, self._held = user, iter(parts), held

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with acting_as(self._user):
            part = next(self._parts, None)
        if part is None:
            self.close()
            raise StopIteration
        return part

    def close(self) -> None:
        """Let go of the places."""
        self._held.close()
