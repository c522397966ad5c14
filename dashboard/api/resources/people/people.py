"""People, for admins: list, add, invite and change them."""

from datetime import datetime
from typing import Annotated, Any

from django.contrib.auth.models import User
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
from importer.access import people
from importer.access.groups import group_named, set_groups
from importer.access.policy import stored_role
from importer.models import Grant, Role
from importer.notifications import invitations

router = Router(tags=["people"])

Email = Annotated[str, Field(max_length=254)]


class PersonIn(Body, json_schema_extra=example(name="eve", role="operator", email="eve@example.org")):
    """A person to add, without a password; people/{id}/invitation sends the link that sets one."""

    name: Annotated[str, Field(min_length=1, max_length=150)]
    role: Role
    email: Email = ""


class PersonChange(Body, json_schema_extra=example(role="viewer", groups=["warehouse"])):
    """What is to be changed of a person. What is left out stays."""

    role: Role | None = None
    email: Email | None = None
    active: Annotated[bool | None, Field(description="False ends the person's sessions and tokens.")] = None
    groups: Annotated[list[Annotated[str, Field(max_length=150)]] | None, Field(max_length=1000)] = None


class PersonOut(Schema):
    """A person. Nothing here tells of passwords and second factors."""

    id: int
    name: str
    role: Role
    email: str
    active: bool
    last_login: datetime | None
    groups: list[str]
    grants: list[GrantOut]


class InvitationOut(Schema):
    """Where the link was sent, and until when it works."""

    sent_to: str
    until: datetime


def show(user: User) -> dict[str, Any]:
    """A person as the API shows it."""
    return {
        "id": user.pk,
        "name": user.username,
        "role": stored_role(user),
        "email": user.email,
        "active": user.is_active,
        "last_login": user.last_login,
        "groups": sorted(each.name for each in user.groups.all()),
        "grants": [show_grant(each) for each in Grant.objects.filter(user=user).order_by("pk")],
    }


@router.get("people", response=Page[PersonOut], url_name="api_people", summary="List people")
def list_people(request: HttpRequest, page: Query[Cursor]) -> Any:
    """Everybody, the newest first."""
    return page.newest(User.objects.select_related("person").prefetch_related("groups"), show)


@router.post(
    "people", response={201: PersonOut}, url_name="api_people", summary="Add a person", openapi_extra=PARAMETER
)
@once
def add_person(request: HttpRequest, new: PersonIn, response: HttpResponse) -> Any:
    """Add a person without a password. people/{id}/invitation sends the link that sets one."""
    added = people.add(new.name, new.role, new.email)
    response.headers["Location"] = reverse("api_person", args=[added.pk])
    return Status(201, show(added))


@router.get("people/{int:id}", response=PersonOut, url_name="api_person", summary="Show a person")
def show_person(request: HttpRequest, id: int) -> Any:
    """One person, with groups and grants."""
    return show(get_object_or_404(User, pk=id))


@router.patch("people/{int:id}", response=PersonOut, url_name="api_person", summary="Change a person")
def change_person(request: HttpRequest, id: int, change: PersonChange) -> Any:
    """Change role, mail address or groups, or deactivate or activate a person.

    The address of a person who has a password or has signed in stays: an admin changes it with a browser or a command.
    """
    user = get_object_or_404(User, pk=id)
    groups = None if change.groups is None else [group_named(each) for each in change.groups]
    with transaction.atomic():
        if change.email is not None:
            people.set_email_by_token(user, change.email)
        if change.role is not None:
            people.set_role(user, change.role)
        if groups is not None:
            set_groups(user, groups)
        if change.active is not None:
            (people.activate if change.active else people.deactivate)(user)
    return show(get_object_or_404(User, pk=id))


@router.post(
    "people/{int:id}/invitation", response=InvitationOut, url_name="api_person_invitation", summary="Invite a person"
)
def invite_person(request: HttpRequest, id: int) -> Any:
    """Send the link that sets the first password to the person's mail address. The answer never has the link.

    For a person who has a password, has signed in already or has no address, an admin makes the link with a browser or
    a command.
    """
    user = get_object_or_404(User, pk=id)
    invitations.invite_by_mail(user)
    return {"sent_to": user.email, "until": invitations.link_lasts_until()}
