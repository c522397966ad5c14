"""Filters of the list of imports that people save for themselves."""

from typing import Annotated, Any, cast
from urllib.parse import parse_qsl

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.pages import Cursor, Page
from dashboard.api.resources.imports.imports import FiltersIn
from importer.access import saved_filters
from importer.models import SavedFilter

router = Router(tags=["imports"])


class FilterIn(
    Body,
    json_schema_extra=example(name="failed of mine", filters={"status": "failed", "owner": "me"}),
):
    """A filter to save. A name that you have used before gets the new one."""

    name: Annotated[str, Field(min_length=1, max_length=SavedFilter.LONGEST_NAME)]
    filters: FiltersIn


class FilterOut(Schema):
    """A saved filter. Send `filters` as the query of `imports`."""

    id: int
    name: str
    filters: dict[str, str]


def show(saved: SavedFilter) -> dict[str, Any]:
    """A saved filter as the API shows it."""
    return {"id": saved.pk, "name": saved.name, "filters": dict(parse_qsl(saved.query))}


@router.get("filters", response=Page[FilterOut], url_name="api_filters", summary="List saved filters")
def list_filters(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The filters that you have saved, the newest first."""
    return page.newest(SavedFilter.objects.filter(user=request.user.pk), show)


@router.post("filters", response={201: FilterOut}, url_name="api_filters", summary="Save a filter")
def save_filter(request: HttpRequest, new: FilterIn) -> Any:
    """Save a filter of the list of imports for yourself. Nobody else sees it."""
    query = new.filters.filters().query
    return Status(201, show(saved_filters.save(cast(User, request.user), new.name, query)))


@router.delete("filters/{int:id}", response={204: None}, url_name="api_filter", summary="Delete a saved filter")
def delete_filter(request: HttpRequest, id: int) -> Any:
    """Delete one of your saved filters."""
    get_object_or_404(SavedFilter, pk=id, user=request.user.pk).delete()
    return Status(204, None)
