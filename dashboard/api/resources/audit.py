"""The audit log, for admins: who did what to which thing, from where, with what outcome."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api.body import Day
from dashboard.api.openapi import CSV_FILE
from dashboard.api.pages import Cursor, Page
from dashboard.system.audit.filters import Filters
from dashboard.system.audit.views import lines
from dashboard.system.audit.words import action_words
from importer.access import audit as log
from importer.models import AuditEvent

router = Router(tags=["audit"])

Text = Annotated[str, Field(max_length=255)]


class AuditIn(Schema):
    """Which events; an empty text does not narrow them."""

    person: Text = ""
    action: Text = ""
    target: Text = ""
    outcome: Text = ""
    first: Annotated[Day | None, Field(description="The first day.")] = None
    last: Annotated[Day | None, Field(description="The last day.")] = None

    def filters(self) -> Filters:
        """The filters of the page."""
        texts = {name: str(value or "") for name, value in self.dict().items()}
        return Filters(**texts)


class EventOut(Schema):
    """An event. `action` is its name, `words` the same in words."""

    id: int
    at: datetime
    person: str
    address: str
    action: str
    words: str
    object_kind: str
    object_id: str
    object_name: str
    target: str
    table: str
    outcome: str
    details: dict[str, Any]


def show(event: AuditEvent) -> dict[str, Any]:
    """An event as the API shows it."""
    same = (
        "at",
        "address",
        "action",
        "object_kind",
        "object_id",
        "object_name",
        "target",
        "table",
        "outcome",
        "details",
    )
    return {name: getattr(event, name) for name in same} | {
        "id": event.pk,
        "person": event.actor_name,
        "words": action_words(event.action),
    }


@router.get("audit", response=Page[EventOut], url_name="api_audit", summary="Read the audit log")
def audit(request: HttpRequest, page: Query[Cursor], asked: Query[AuditIn]) -> Any:
    """The events of the audit log, the newest first."""
    return page.newest(asked.filters().events(), show)


@router.get("audit.csv", url_name="api_audit_csv", summary="Export the audit log", openapi_extra=CSV_FILE)
def audit_csv(request: HttpRequest, asked: Query[AuditIn]) -> Any:
    """The same, all of it, as CSV."""
    log.note(**{name: value for name, value in asked.dict(include={"person", "action", "target"}).items() if value})
    return StreamingHttpResponse(lines(asked.filters()), content_type="text/csv; charset=utf-8")
