"""Filters of the list of imports that people save for themselves under a name."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.jobs.list.filters import Filters
from importer.models import SavedFilter

MOST = 30  # of one person: more would fill the page


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the filters under a name. A name that the person has used before gets the new ones."""
    user, name = cast(User, request.user), request.POST.get("name", "").strip()
    query = Filters.of(request.POST).query
    if not name or not query or len(name) > SavedFilter.LONGEST_NAME:
        messages.error(request, f"Choose a filter, and a name of at most {SavedFilter.LONGEST_NAME} characters.")
    elif not user.saved_filters.filter(name=name).exists() and user.saved_filters.count() >= MOST:
        messages.error(request, f"You have {MOST} saved filters. Delete one first.")
    else:
        SavedFilter.objects.update_or_create(user=user, name=name, defaults={"query": query})
        messages.success(request, f"{name} is saved.")
    return redirect(f"{reverse('jobs')}?{query}")


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of the person's own saved filters."""
    get_object_or_404(SavedFilter, pk=pk, user=request.user).delete()
    return redirect("jobs")
