"""What an import is doing, as events."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from config.serving.events import FEED, TYPE, Feed
from dashboard.access.middleware import token_of
from dashboard.api.events import JobEvents
from dashboard.api.resources.imports.imports import read

router = Router(tags=["imports"])

EVENT = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "event": {"enum": ["progress", "end"]}, "data": {"type": "string"}},
}
EVENTS = {
    "parameters": [
        {
            "in": "header",
            "name": "Last-Event-ID",
            "required": False,
            "description": "The id of the last event that was received. Another text is as if there were none.",
            "schema": {"type": "string"},
        }
    ],
    "responses": {
        200: {
            "description": "Events `progress`, each with the figures of the moment, and in the end one event `end` with"
            " the report.",
            "content": {TYPE: {"schema": EVENT}},
        },
        204: {"description": "The import has ended, and the listener has got its report."},
    },
}


@router.get("imports/{int:job}/events", url_name="api_import_events", summary="Follow an import", openapi_extra=EVENTS)
def events(request: HttpRequest, job: int) -> Any:
    """Server-sent events: the figures whenever they change, and the report when the import has ended."""
    shown, token = read(job), token_of(request)
    assert token
    last = request.headers.get("Last-Event-ID", "")
    seen = int(last) if last.isascii() and last.isdigit() and len(last) < 19 else None
    if shown.ended and not shown.leftover and seen == shown.version:
        return HttpResponse(status=204)
    source = JobEvents(job, token, seen)
    feed: Feed | None = request.META.get(FEED)
    if feed:
        feed.events = source
    answer = HttpResponse(b"" if feed else source.news(), content_type=TYPE)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"  # nginx would hold events back
    return answer
