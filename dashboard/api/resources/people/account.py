"""The account that a token belongs to, and tokens: one's own, and for admins those of everybody."""

from datetime import datetime
from typing import Annotated, Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.access.middleware import token_of
from dashboard.api.body import Body, example
from dashboard.api.pages import Cursor, Page
from importer.access import tokens
from importer.access.policy import stored_role
from importer.access.time_zones import set_time_zone, time_zone_of
from importer.models import AccessToken, Role

router = Router(tags=["people"])


class AccountChange(Body, json_schema_extra=example(time_zone="Europe/Vienna")):
    """What is to be changed of one's own account."""

    time_zone: Annotated[str, Field(max_length=64, description="Of exported times. Empty: that of the installation.")]


class TokenOut(Schema):
    """A token. Its text was shown once, when it was made."""

    id: int
    name: str
    scopes: list[str]
    expires_at: datetime
    last_used_at: datetime | None


class AccountOut(Schema):
    """The person that the token acts for, and the token."""

    name: str
    role: Role
    time_zone: Annotated[str, Field(description="Empty: that of the installation.")]
    token: TokenOut


def _show(request: HttpRequest, user: User) -> dict[str, Any]:
    zone = str(time_zone_of(user) or "")
    return {"name": user.username, "role": stored_role(user), "time_zone": zone, "token": token_of(request)}


@router.get("account", response=AccountOut, url_name="api_account", summary="Show who you are")
def account(request: HttpRequest) -> Any:
    """The person of the token, and what the token is for."""
    return _show(request, cast(User, request.user))


@router.patch("account", response=AccountOut, url_name="api_account", summary="Change your account")
def change_account(request: HttpRequest, change: AccountChange) -> Any:
    """Choose the time zone of exported times. Password and second factor take a browser."""
    set_time_zone(cast(User, request.user), change.time_zone)
    return _show(request, User.objects.select_related("person").get(pk=cast(User, request.user).pk))


@router.get("account/tokens", response=Page[TokenOut], url_name="api_account_tokens", summary="List your tokens")
def list_own_tokens(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The tokens of the token's person, the newest first. To make one takes a browser or a command."""
    return page.newest(AccessToken.objects.filter(user=request.user.pk), lambda each: each)


@router.delete("account/tokens/{int:id}", response={204: None}, url_name="api_account_token", summary="End your token")
def revoke_own_token(request: HttpRequest, id: int) -> Any:
    """End a token of the token's person, also this one."""
    tokens.revoke(get_object_or_404(AccessToken, pk=id, user=request.user.pk))
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
