"""The page of one's own account: the time zone."""

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.people.form import TimeZoneForm
from importer.access.time_zones import time_zone_of, zone_names


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """One's own account; the form on it changes the time zone."""
    if request.method != "POST":
        return account_page(request)
    form = TimeZoneForm(request.POST)
    if not form.save_for(cast(User, request.user)):
        return account_page(request, form=form)
    messages.success(request, "Your time zone is saved.")
    return redirect("account_own")


def account_page(request: HttpRequest, **forms: Any) -> HttpResponse:
    """The page. A form that was refused comes in `forms`, and stands in the place of its own."""
    context = {
        "form": TimeZoneForm(initial={"time_zone": time_zone_of(request.user) or ""}),
        "zones": zone_names(),
        "default_zone": settings.TIME_ZONE,
    }
    return render(request, "people/own.html", context | forms, status=422 if forms else 200)
