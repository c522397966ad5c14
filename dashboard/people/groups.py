"""Pages of groups: the list, and one group's page with its name, members and grants."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import Group
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.access.confirmed import check_confirmed
from dashboard.access.told import told_on
from dashboard.people.form import GrantForm, GroupForm, MembersForm
from dashboard.people.people import WITH_THINGS
from importer.access.groups import add_group, remove_group, rename_group, set_members
from importer.engine.errors import Problem


@require_http_methods(["GET", "HEAD", "POST"])
def groups(request: HttpRequest) -> HttpResponse:
    """All groups by name, and the form that adds one."""
    form = GroupForm(request.POST or None)
    if form.is_valid():
        try:
            added = add_group(form.cleaned_data["name"])
        except Problem as problem:
            form.add_error("name", str(problem))
        else:
            messages.success(request, f"The group {added.name} is added. Now choose its members and grants.")
            return redirect("group", added.pk)
    counts = {"member_count": Count("user", distinct=True), "grant_count": Count("grants", distinct=True)}
    rows = Group.objects.annotate(**counts).order_by("name")
    return render(request, "people/groups.html", {"groups": rows, "form": form}, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """One group; the form on it renames it."""
    changed = get_object_or_404(Group, pk=pk)
    if request.method != "POST":
        return group_page(request, changed)
    form = GroupForm(request.POST)
    if form.is_valid():
        try:
            rename_group(changed, form.cleaned_data["name"])
        except Problem as problem:
            form.add_error("name", str(problem))
        else:
            messages.success(request, f"The group is called {changed.name} now.")
            return redirect("group", pk)
    return group_page(request, changed, form=form)


@require_POST
def group_members(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the ticked people, and nobody else, the members of the group."""
    changed = get_object_or_404(Group, pk=pk)
    form = _members_form(changed, request.POST)
    if not form.is_valid():
        return group_page(request, changed, members_form=form)
    set_members(changed, form.cleaned_data["members"])
    messages.success(request, f"The members of {changed.name} are saved.")
    return redirect("group", pk)


@require_POST
@told_on("group")
def group_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the group and its grants."""
    deleted = get_object_or_404(Group, pk=pk)
    check_confirmed(request, deleted)
    remove_group(deleted)
    messages.success(request, f"The group {deleted.name} is deleted, with its grants. Its members stay.")
    return redirect("groups")


def _members_form(shown: Group, sent: QueryDict | None = None) -> MembersForm:
    return MembersForm(sent, initial={"members": shown.user_set.all()})


def group_page(request: HttpRequest, shown: Group, **forms: Any) -> HttpResponse:
    """The page of a group. A form that was refused comes in `forms`, and stands in the place of its own."""
    context = {
        "group": shown,
        "form": GroupForm(initial={"name": shown.name}),
        "members_form": _members_form(shown),
        "grant_form": GrantForm(),
        "grant_url": reverse("group_grant", args=[shown.pk]),
        "grants": shown.grants.select_related(*WITH_THINGS).order_by("kind", "pk"),
    }
    return render(request, "people/group.html", context | forms, status=422 if forms else 200)
