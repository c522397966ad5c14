"""The URLs of the API: those of its resources, and of uploads; and its description, as JSON and as a page."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from dashboard.api.api import PREFIX, make_api
from dashboard.api.docs import page_of
from dashboard.api.openapi import Description
from dashboard.new_import.uploading import direct, tus

api = make_api()


def _resources() -> Iterator[URLPattern]:
    """One URL for each address. It asks for a token itself, and is not led to the page to sign in."""
    known = set()
    for each in api.urls[0]:
        route = str(getattr(each.pattern, "_route", ""))
        if not route or route in known:
            continue
        known.add(route)
        view: Any = each.callback
        view.login_required = False
        yield path(f"{PREFIX}{route}", view, name=each.name)  # type: ignore[union-attr]


urlpatterns = [
    # No page of another site has a browser send the token that each needs.
    path(f"{PREFIX}uploads", csrf_exempt(tus.uploads), name="api_uploads"),
    path(f"{PREFIX}uploads/direct", csrf_exempt(direct.uploads), name="api_direct_uploads"),
    path(f"{PREFIX}uploads/direct/<uuid:key>", csrf_exempt(direct.upload), name="api_direct_upload"),
    path(f"{PREFIX}uploads/direct/<uuid:key>/parts", csrf_exempt(direct.part), name="api_direct_part"),
    path(f"{PREFIX}uploads/<uuid:key>", csrf_exempt(tus.upload), name="api_upload"),
    *_resources(),
]
description = Description(api, urlpatterns)
docs = page_of(description)
