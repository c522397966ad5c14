"""Approvals by another person: list what waits, show exactly what is to be approved, approve and refuse it."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, cast

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.pages import Cursor, Page
from dashboard.api.reports import Report
from dashboard.api.resources.imports.imports import read as read_import
from dashboard.api.resources.labs import read as read_lab
from dashboard.jobs.approval import why_not
from importer import lab
from importer.access.approval import LONGEST_REASON, SHORTEST_DIGEST, Approvable
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.jobs import approval, report
from importer.jobs.actions import commands
from importer.models import ImportJob, Lab
from importer.preparation.plan_sql import plan_sql

router = Router(tags=["approvals"])
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DigestIn(Body, json_schema_extra=example(digest="9f86d081884c7d659a2feaa0c55ad015")):
    """The digest of what is approved. Nothing with another digest is."""

    digest: Annotated[
        str,
        Field(
            min_length=SHORTEST_DIGEST,
            max_length=64,
            pattern="^[0-9a-f]+$",
            description=f"From `approvals`: all of it, or its first {SHORTEST_DIGEST} or more characters.",
        ),
    ]


class ReasonIn(Body, json_schema_extra=example(reason="The prices are those of last year.")):
    """Why something is refused."""

    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]


class StatementsOut(Schema):
    """Statements, and when they run."""

    when: str
    statements: str


class ApprovalOut(Schema):
    """What waits for an approval: an import by its `job`, or a lab by its `lab`; the other one is null."""

    kind: Literal["import", "lab"]
    job: int | None
    lab: int | None
    target: str
    table: str
    started_by: str | None
    asked_at: datetime
    sentence: Annotated[str, Field(description="What it does.")]
    digest: Annotated[str, Field(description="SHA-256 of everything that decides what is written.")]
    sql: Annotated[list[StatementsOut], Field(description="Of an import: what would run.")]
    why_not: Annotated[str, Field(description="Why you may not decide, and who may; empty if you may.")]


def _one(thing: Approvable) -> dict[str, Any]:
    """What is to be approved of an import or a lab. Raises Problem for one that does not wait for an approval."""
    if not _is_asked_for(thing):
        raise Problem(f"{thing} does not wait for an approval.", advice="GET approvals lists what does.")
    return _shown(thing)


def _is_asked_for(thing: Approvable) -> bool:
    return approval.is_asked_for(thing) if isinstance(thing, ImportJob) else lab.is_asked_for(thing)


def _place(thing: Approvable) -> tuple[int, ...]:
    """The place in the list: when it was asked for, in microseconds since 1970; kind and number for a tie."""
    at = cast(datetime, thing.approval_asked_at)
    return (at - EPOCH) // timedelta(microseconds=1), int(isinstance(thing, ImportJob)), thing.pk


def _shown(thing: Approvable) -> dict[str, Any]:
    is_import = isinstance(thing, ImportJob)
    of: Any = approval if is_import else lab
    statements = plan_sql(thing.plan) if isinstance(thing, ImportJob) else ()
    return {
        "kind": "import" if is_import else "lab",
        "job": thing.pk if is_import else None,
        "lab": None if is_import else thing.pk,
        "target": thing.target.name,
        "table": thing.table,
        "started_by": thing.created_by.get_username() if thing.created_by else None,
        "asked_at": thing.approval_asked_at,
        "sentence": of.sentence(thing),
        "digest": of.digest_of(thing),
        "sql": [{"when": when, "statements": text} for when, text in statements],
        "why_not": why_not(thing),
    }


@router.get("approvals", response=Page[ApprovalOut], url_name="api_approvals", summary="List what waits for approval")
def list_approvals(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The imports and labs that the person may see and that wait for another person, those asked for last first."""
    asked = {"approval_asked_at__isnull": False}
    imports = seen(ImportJob.objects.filter(**asked, status=ImportJob.Status.UNAPPROVED))
    labs = seen(Lab.objects.filter(**asked, status=Lab.Status.WAITING))
    waiting: list[Approvable] = list(imports.select_related("target", "source", "created_by"))
    waiting += [each for each in labs.select_related("target", "source", "created_by") if lab.is_asked_for(each)]
    waiting.sort(key=_place, reverse=True)
    last = page.after(3)
    return page.of([each for each in waiting if last is None or _place(each) < last], _shown, _place)


@router.get(
    "imports/{int:job}/approval", response=ApprovalOut, url_name="api_import_approval", summary="Show what to approve"
)
def import_approval(request: HttpRequest, job: int) -> Any:
    """What an import that waits for an approval would do, with the digest to approve."""
    return _one(read_import(job))


@router.post("imports/{int:job}/approve", response=Report, url_name="api_import_approve", summary="Approve an import")
def approve_import(request: HttpRequest, job: int, what: DigestIn) -> Any:
    """Approve exactly what has this digest. Those who started the import may not."""
    commands.approve(read_import(job).pk, what.digest)
    return report.report(read_import(job))


@router.post("imports/{int:job}/refuse", response=Report, url_name="api_import_refuse", summary="Refuse an import")
def refuse_import(request: HttpRequest, job: int, why: ReasonIn) -> Any:
    """End an import that waits for another person's approval."""
    commands.refuse(read_import(job).pk, why.reason)
    return report.report(read_import(job))


@router.get("labs/{int:id}/approval", response=ApprovalOut, url_name="api_lab_approval", summary="Show what to approve")
def lab_approval(request: HttpRequest, id: int) -> Any:
    """What a lab that waits for an approval would do, with the digest to approve."""
    return _one(read_lab(id))


@router.post("labs/{int:id}/approve", response=dict[str, Any], url_name="api_lab_approve", summary="Approve a lab")
def approve_lab(request: HttpRequest, id: int, what: DigestIn) -> Any:
    """Approve exactly what has this digest. Those who started the lab may not."""
    lab.approve(read_lab(id).pk, what.digest)
    return lab.outcome(read_lab(id))


@router.post("labs/{int:id}/refuse", response=dict[str, Any], url_name="api_lab_refuse", summary="Refuse a lab")
def refuse_lab(request: HttpRequest, id: int, why: ReasonIn) -> Any:
    """End a lab that waits for another person's approval."""
    lab.refuse(read_lab(id).pk, why.reason)
    return lab.outcome(read_lab(id))
