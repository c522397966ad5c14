"""Requires a second factor of everybody, if settings.REQUIRE_SECOND_FACTOR says so."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard.sign_in.second_factor import lacks_second_factor
from dashboard.sign_in.urls import urlpatterns

ALWAYS = {each.name for each in urlpatterns} | {"healthz", "readyz"}


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
