"""Requires a person for each page; and of everybody a second factor, if settings.REQUIRE_SECOND_FACTOR says so."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect

from dashboard.sign_in.second_factor import lacks_second_factor
from dashboard.sign_in.urls import urlpatterns

ALWAYS = {each.name for each in urlpatterns} | {"healthz", "readyz"}


NOT_DONE = "You were signed out, so what you sent last was not done. Sign in, and do it again."


class SignInMiddleware(LoginRequiredMiddleware):
    """Sends who is signed out to the sign-in page, which leads back to the page.

    What was sent is lost with the session: the page says so, and leads back to where the form is.
    """

    def handle_no_permission(  # type: ignore[override]  # htmx is sent elsewhere by a header
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponseRedirectBase:
        by_script = bool(request.htmx)  # type: ignore[attr-defined]
        reads = request.method in ("GET", "HEAD")
        if not reads:
            messages.warning(request, NOT_DONE)
        elif not by_script:
            return super().handle_no_permission(request, view_func)
        names = self.get_login_url(view_func), self.get_redirect_field_name(view_func)
        way = redirect_to_login(_page_of(request), *names)
        # A script would follow a redirect, and show the sign-in page, with its message, inside the page.
        return HttpResponseClientRedirect(way.url) if by_script else way


def _page_of(request: HttpRequest) -> str:
    """The address of the page with the form that was sent, as far as the browser names it; else that of Home."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure()):
        return reverse("home")
    parts = urlsplit(page)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


class SecondFactorMiddleware:
    """Sends a person without the required second factor to the page that adds one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """The way to the page, or None if the request may continue."""
        name = request.resolver_match.url_name if request.resolver_match else None
        return redirect("mfa_index") if name not in ALWAYS and lacks_second_factor(request) else None
