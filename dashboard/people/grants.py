"""Adds grants to a person or a group, and takes them back."""

from collections.abc import Callable
from typing import TypeVar

from django.contrib import messages
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from dashboard.people.form import GrantForm
from dashboard.people.groups import group_page
from dashboard.people.people import person_page
from importer.access import people
from importer.models import Grant

Subject = TypeVar("Subject", User, Group)


@require_POST
def person_grant(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a grant to the person."""
    return _add(request, get_object_or_404(User, pk=pk), person_page)


@require_POST
def group_grant(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a grant to the group."""
    return _add(request, get_object_or_404(Group, pk=pk), group_page)


def _add(request: HttpRequest, subject: Subject, page: Callable[..., HttpResponse]) -> HttpResponse:
    """Add the grant of the form and lead to the subject's page; `page` shows a form that was refused."""
    form = GrantForm(request.POST)
    if added := form.add_to(subject):
        messages.success(request, f"Granted: {added}.")
        return redirect("person" if isinstance(subject, User) else "group", subject.pk)
    return page(request, subject, grant_form=form)


@require_POST
def grant_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a grant back."""
    granted = get_object_or_404(Grant, pk=pk)
    people.revoke(granted)
    messages.success(request, f"Revoked: {granted}.")
    return redirect("person", granted.user_id) if granted.user_id else redirect("group", granted.group_id)
