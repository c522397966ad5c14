"""Filters of the list of imports that people save for themselves under a name."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.jobs.list.filters import Filters
from importer.access import saved_filters
from importer.engine.errors import Problem
from importer.models import SavedFilter


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the filters under a name. A name that the person has used before gets the new ones."""
    query = Filters.of(request.POST).query
    try:
        saved = saved_filters.save(cast(User, request.user), request.POST.get("name", ""), query)
        messages.success(request, f"{saved} is saved.")
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect(f"{reverse('jobs')}?{query}")


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of the person's own saved filters."""
    get_object_or_404(SavedFilter, pk=pk, user=request.user).delete()
    return redirect("jobs")
