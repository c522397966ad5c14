"""Groups of people, for admins: their members share the grants of the group."""

from typing import Annotated, Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import Cursor, Page
from dashboard.api.resources.people.grants import GrantOut
from dashboard.api.resources.people.grants import show as show_grant
from importer.access import groups, people
from importer.models import Grant

router = Router(tags=["people"])

Name = Annotated[str, Field(min_length=1, max_length=150)]
Members = Annotated[list[Name] | None, Field(max_length=1000, description="Names of people: these and nobody else.")]


class GroupIn(Body, json_schema_extra=example(name="warehouse", members=["ann", "bob"])):
    """A group to add."""

    name: Name
    members: Members = None


class GroupChange(Body, json_schema_extra=example(members=["ann", "bob"])):
    """What is to be changed of a group. What is left out stays."""

    name: Name | None = None
    members: Members = None


class GroupOut(Schema):
    """A group."""

    id: int
    name: str
    members: list[str]
    grants: list[GrantOut]


def show(group: Group) -> dict[str, Any]:
    """A group as the API shows it."""
    return {
        "id": group.pk,
        "name": group.name,
        "members": sorted(each.username for each in group.user_set.all()),
        "grants": [show_grant(each) for each in Grant.objects.filter(group=group).order_by("pk")],
    }


@router.get("groups", response=Page[GroupOut], url_name="api_groups", summary="List groups")
def list_groups(request: HttpRequest, page: Query[Cursor]) -> Any:
    """All groups, the newest first."""
    return page.newest(Group.objects.prefetch_related("user_set"), show)


@router.post("groups", response={201: GroupOut}, url_name="api_groups", summary="Add a group", openapi_extra=PARAMETER)
@once
def add_group(request: HttpRequest, new: GroupIn, response: HttpResponse) -> Any:
    """Add a group of people."""
    members = people.named(new.members or [])
    with transaction.atomic():
        added = groups.add_group(new.name)
        groups.set_members(added, members)
    response.headers["Location"] = reverse("api_group", args=[added.pk])
    return Status(201, show(added))


@router.get("groups/{int:id}", response=GroupOut, url_name="api_group", summary="Show a group")
def show_group(request: HttpRequest, id: int) -> Any:
    """One group, with its members and grants."""
    return show(get_object_or_404(Group, pk=id))


@router.patch("groups/{int:id}", response=GroupOut, url_name="api_group", summary="Change a group")
def change_group(request: HttpRequest, id: int, change: GroupChange) -> Any:
    """Give a group another name, or other members."""
    group = get_object_or_404(Group, pk=id)
    members = None if change.members is None else people.named(change.members)
    with transaction.atomic():
        if change.name is not None:
            groups.rename_group(group, change.name)
        if members is not None:
            groups.set_members(group, members)
    return show(group)


@router.delete("groups/{int:id}", response={204: None}, url_name="api_group", summary="Delete a group")
def delete_group(request: HttpRequest, id: int) -> Any:
    """Delete a group and its grants. Its members stay."""
    groups.remove_group(get_object_or_404(Group, pk=id))
    return Status(204, None)
