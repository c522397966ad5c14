"""People, their grants and tokens, for admins; and the person of the token itself."""

from datetime import datetime
from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.access.middleware import token_of
from dashboard.api.once import PARAMETER, once
from dashboard.api.pages import Cursor, Page
from importer.access import people, tokens
from importer.access.groups import group_named, set_groups
from importer.access.policy import stored_role
from importer.engine.errors import Problem
from importer.models import AccessToken, Grant, Level, Role

router = Router(tags=["people"])

LEVELS = {each.label: each for each in Level}
Email = Annotated[str, Field(max_length=254)]


class PersonIn(Schema, extra="forbid"):
    """A person to add. An admin makes the link that sets the password with a browser or a command."""

    name: Annotated[str, Field(min_length=1, max_length=150)]
    role: Role
    email: Email = ""


class PersonChange(Schema, extra="forbid"):
    """What is to be changed of a person. What is left out stays."""

    role: Role | None = None
    email: Email | None = None
    active: Annotated[bool | None, Field(description="False ends the person's sessions and tokens.")] = None
    groups: Annotated[list[Annotated[str, Field(max_length=150)]] | None, Field(max_length=1000)] = None


class GrantIn(Schema, extra="forbid"):
    """What is granted: a level on a thing, or on every thing of its kind."""

    kind: Grant.Kind
    thing: Annotated[str | None, Field(max_length=64, description="A name; null: all of this kind.")] = None
    level: Annotated[str, Field(pattern=f"^({'|'.join(LEVELS)})$")]
    tables: Annotated[list[Annotated[str, Field(max_length=130)]], Field(max_length=1000, examples=[["shop.*"]])] = []


class TokenOut(Schema):
    """A token. Its text was shown once, when it was made."""

    id: int
    name: str
    scopes: list[str]
    expires_at: datetime
    last_used_at: datetime | None


class AccountOut(Schema):
    """Who the token acts for, and what it is for."""

    name: str
    role: Role
    token: TokenOut


class GrantOut(Schema):
    """A grant of a person."""

    id: int
    on: str
    level: str
    tables: list[str]


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
        "grants": [_grant(each) for each in Grant.objects.filter(user=user).order_by("pk")],
    }


def _grant(grant: Grant) -> dict[str, Any]:
    return {"id": grant.pk, "on": grant.object_name, "level": grant.get_level_display(), "tables": grant.tables}


@router.get("account", response=AccountOut, url_name="api_account", summary="Show who you are")
def account(request: HttpRequest) -> Any:
    """The person of the token, and what the token is for."""
    user = cast(User, request.user)
    return {"name": user.username, "role": stored_role(user), "token": token_of(request)}


@router.get("people", response=Page[PersonOut], url_name="api_people", summary="List people")
def list_people(request: HttpRequest, page: Query[Cursor]) -> Any:
    """Everybody, the newest first."""
    return page.newest(User.objects.select_related("person").prefetch_related("groups"), show)


@router.post(
    "people", response={201: PersonOut}, url_name="api_people", summary="Add a person", openapi_extra=PARAMETER
)
@once
def add_person(request: HttpRequest, new: PersonIn, response: HttpResponse) -> Any:
    """Add a person without a password. No token makes the link that sets one."""
    added = people.add(new.name, new.role, new.email)
    response.headers["Location"] = reverse("api_person", args=[added.pk])
    return Status(201, show(added))


@router.get("people/{int:id}", response=PersonOut, url_name="api_person", summary="Show a person")
def show_person(request: HttpRequest, id: int) -> Any:
    """One person, with groups and grants."""
    return show(get_object_or_404(User, pk=id))


@router.patch("people/{int:id}", response=PersonOut, url_name="api_person", summary="Change a person")
def change_person(request: HttpRequest, id: int, change: PersonChange) -> Any:
    """Change role, mail address or groups, or deactivate or activate a person."""
    user = get_object_or_404(User, pk=id)
    groups = None if change.groups is None else [group_named(each) for each in change.groups]
    with transaction.atomic():
        if change.email is not None:
            people.set_email(user, change.email)
        if change.role is not None:
            people.set_role(user, change.role)
        if groups is not None:
            set_groups(user, groups)
        if change.active is not None:
            (people.activate if change.active else people.deactivate)(user)
    return show(get_object_or_404(User, pk=id))


@router.post(
    "people/{int:id}/grants", response={201: GrantOut}, url_name="api_person_grants", summary="Grant to a person"
)
def grant(request: HttpRequest, id: int, new: GrantIn) -> Any:
    """Grant a level on a thing, in place of an earlier grant on it."""
    things = people.THINGS[new.kind].objects
    thing = None if new.thing is None else things.filter(name=new.thing).first()
    if thing is None and new.thing is not None:
        raise Problem(f"There is no {new.kind.value} {new.thing}.", "body.thing", "Take a name of the list.")
    made = people.grant(get_object_or_404(User, pk=id), new.kind, LEVELS[new.level], thing, new.tables)
    return Status(201, _grant(made))


@router.delete("grants/{int:id}", response={204: None}, url_name="api_grant", summary="Take a grant back")
def revoke_grant(request: HttpRequest, id: int) -> Any:
    """Take a grant back."""
    people.revoke(get_object_or_404(Grant, pk=id))
    return Status(204, None)


@router.get("people/{int:id}/tokens", response=Page[TokenOut], url_name="api_person_tokens", summary="List tokens")
def list_tokens(request: HttpRequest, id: int, page: Query[Cursor]) -> Any:
    """The tokens of a person, the newest first."""
    return page.newest(AccessToken.objects.filter(user=id), lambda each: each)


@router.delete("tokens/{int:id}", response={204: None}, url_name="api_token", summary="Revoke a token")
def revoke_token(request: HttpRequest, id: int) -> Any:
    """End a token, also one of somebody else."""
    tokens.revoke(get_object_or_404(AccessToken, pk=id))
    return Status(204, None)
