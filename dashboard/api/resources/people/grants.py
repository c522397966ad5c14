"""Grants: given to people and groups, and taken back."""

from typing import Annotated, Any

from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from importer.access import people
from importer.engine.errors import Problem
from importer.models import Grant, Level

router = Router(tags=["people"])

LEVELS = {each.label: each for each in Level}


class GrantIn(Body, json_schema_extra=example(kind="target", thing="shop", level="load", tables=["shop.*"])):
    """What is granted: a level on a thing, or on every thing of its kind."""

    kind: Grant.Kind
    thing: Annotated[str | None, Field(max_length=64, description="A name; null: all of this kind.")] = None
    level: Annotated[str, Field(pattern=f"^({'|'.join(LEVELS)})$")]
    tables: Annotated[list[Annotated[str, Field(max_length=130)]], Field(max_length=1000, examples=[["shop.*"]])] = []


class GrantOut(Schema):
    """A grant of a person or a group."""

    id: int
    on: str
    level: str
    tables: list[str]


def show(grant: Grant) -> dict[str, Any]:
    """A grant as the API shows it."""
    return {"id": grant.pk, "on": grant.object_name, "level": grant.get_level_display(), "tables": grant.tables}


def _grant(subject: User | Group, new: GrantIn) -> Status[Any]:
    things = people.THINGS[new.kind].objects
    thing = None if new.thing is None else things.filter(name=new.thing).first()
    if thing is None and new.thing is not None:
        raise Problem(f"There is no {new.kind.value} {new.thing}.", "body.thing", f"GET {new.kind.value}s lists them.")
    return Status(201, show(people.grant(subject, new.kind, LEVELS[new.level], thing, new.tables)))


@router.post(
    "people/{int:id}/grants", response={201: GrantOut}, url_name="api_person_grants", summary="Grant to a person"
)
def grant_to_person(request: HttpRequest, id: int, new: GrantIn) -> Any:
    """Grant a level on a thing, in place of an earlier grant on it."""
    return _grant(get_object_or_404(User, pk=id), new)


@router.post(
    "groups/{int:id}/grants", response={201: GrantOut}, url_name="api_group_grants", summary="Grant to a group"
)
def grant_to_group(request: HttpRequest, id: int, new: GrantIn) -> Any:
    """Grant a level on a thing to all members of a group, in place of an earlier grant on it."""
    return _grant(get_object_or_404(Group, pk=id), new)


@router.delete("grants/{int:id}", response={204: None}, url_name="api_grant", summary="Take a grant back")
def revoke_grant(request: HttpRequest, id: int) -> Any:
    """Take a grant back."""
    people.revoke(get_object_or_404(Grant, pk=id))
    return Status(204, None)
