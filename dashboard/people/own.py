"""The page of one's own account: the time zone, and tokens for programs."""

from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.people.form import TimeZoneForm, TokenForm
from importer.access import audit, tokens
from importer.access.time_zones import time_zone_of, zone_names
from importer.models import AccessToken


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """One's own account; the form on it changes the time zone."""
    if request.method != "POST":
        return _account_page(request)
    form = TimeZoneForm(request.POST)
    if not form.save_for(_person(request)):
        return _account_page(request, form=form)
    messages.success(request, "Your time zone is saved.")
    return redirect("account_own")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required  # type: ignore[untyped-decorator] # allauth has no types.
def token_new(request: HttpRequest) -> HttpResponse:
    """The form of a new token; the answer shows it, once."""
    form = TokenForm(request.POST or None)
    if form.is_bound and (made := form.make_for(_person(request))):
        token, text = made
        audit.about(token)
        audit.done()
        example = f'curl -H "Authorization: Bearer {text}" {request.build_absolute_uri("/history.csv")}'
        return render(request, "people/token.html", {"token": token, "text": text, "example": example})
    return render(request, "people/token_new.html", {"form": form}, status=422 if form.is_bound else 200)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own tokens."""
    token = get_object_or_404(AccessToken, pk=pk, user=_person(request))
    tokens.revoke(token)
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("account_own")


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)


def _account_page(request: HttpRequest, **forms: Any) -> HttpResponse:
    """The page. A form that was refused comes in `forms`, and stands in the place of its own."""
    context = {
        "form": TimeZoneForm(initial={"time_zone": time_zone_of(request.user) or ""}),
        "zones": zone_names(),
        "default_zone": settings.TIME_ZONE,
        "tokens": AccessToken.objects.filter(user=_person(request)).order_by("name"),
        "now": timezone.now(),
    }
    return render(request, "people/own.html", context | forms, status=422 if forms else 200)
