"""Storage: used and free space, how long things are kept, kept tables, and the deletion of files by hand."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field

from config.environment import MOST_DAYS
from dashboard.api.body import Body, example
from dashboard.api.pages import Cursor, Page
from importer.access.policy import is_admin, seen
from importer.jobs.steps.table_backup import why_backup_stays
from importer.models import ImportJob
from importer.retention import files, policies
from importer.retention.overview import Overview, overview
from importer.sources import quotas
from importer.sources.uploads import uploads_of

router = Router(tags=["storage"])

Bytes = Annotated[int | None, Field(description="Null: not known.")]


class PolicyIn(Body, json_schema_extra=example(days=30)):
    """How many days something is kept."""

    days: (
        Annotated[int, Field(ge=0, le=MOST_DAYS)]
        | Annotated[Literal["keep", "default"], Field(description="keep: for ever; default: as the setting says.")]
    )


class PolicyOut(Schema):
    """How long something is kept. `deletes`: since when its days count, in words. `days`: null for ever. `least`: the
    fewest days. `source`: who decided.
    """

    name: str
    title: str
    deletes: str
    days: int | None
    least: int
    source: str


class OwnOut(Schema):
    """What is kept for you, in bytes; a quota of 0 is none."""

    files: int
    bytes: int
    quota_files: int
    quota_bytes: int


class TakenOut(Schema):
    """The bytes that something takes, and its count."""

    name: str
    about: str
    bytes: Bytes
    count: int | None


class DiskOut(Schema):
    """A disk with the folders on it; sizes in bytes."""

    folders: list[str]
    free: int
    total: int


class JobBytesOut(Schema):
    """The rejected rows of an import, in bytes."""

    job: int
    bytes: int


class StayingOut(Schema):
    """An import whose days are over, and why it stays."""

    job: int
    why: str


class UnreachedOut(Schema):
    """A target whose ledger could not be cleaned, and why."""

    target: str
    problem: str


class ServerOut(Schema):
    """The use of disk and memory, for admins. `memory`: of Redis. `warned`: a warning is shown below this."""

    taken: list[TakenOut]
    memory: Bytes
    warned: int
    disks: list[DiskOut]
    rejects: list[JobBytesOut]
    staying: list[StayingOut]
    unreached: list[UnreachedOut]


class StorageOut(Schema):
    """What is kept for you; for admins also the use of disk and memory, which is null for others."""

    own: OwnOut
    server: ServerOut | None


class KeptTableOut(Schema):
    """The old table that an import in mode replace has kept."""

    job: int
    target: str
    table: str
    kept_table: str
    restored: Annotated[bool, Field(description="It is the table now, and the import's is the one that is kept.")]
    why_no_restore: Annotated[str, Field(description="Empty: imports/{job}/restore gives it its name back.")]


@router.get("storage", response=StorageOut, url_name="api_storage", summary="Show used and free space")
def show_storage(request: HttpRequest) -> Any:
    """What is kept for you, and your quota; for admins the use of disk and memory, too."""
    kept = quotas.kept_for(request.user)
    own = {"quota_files": settings.UPLOAD_QUOTA_FILES, "quota_bytes": settings.UPLOAD_QUOTA_BYTES}
    server = _server(overview(timezone.now())) if is_admin(request.user) else None
    return {"own": vars(kept) | own, "server": server}


def _server(found: Overview) -> dict[str, Any]:
    return {
        "taken": [vars(each) for each in found.taken],
        "memory": found.memory,
        "warned": settings.WARN_FREE_BYTES,
        "disks": [{**vars(each), "folders": [str(folder) for folder in each.folders]} for each in found.disks],
        "rejects": [{"job": each.job.pk, "bytes": each.bytes} for each in found.rejects],
        "staying": [{"job": each.pk, "why": getattr(each, "why", "")} for each in found.staying],
        "unreached": [{"target": each.name, "problem": each.ledger_problem} for each in found.unreached],
    }


def _policy(found: policies.InForce) -> dict[str, Any]:
    about = {name: getattr(found.policy, name) for name in ("name", "title", "deletes", "least")}
    return about | {"days": found.days, "source": found.source}


@router.get(
    "storage/policies", response=list[PolicyOut], url_name="api_policies", summary="Show how long things are kept"
)
def list_policies(request: HttpRequest) -> Any:
    """How long files, rejected rows, imports and other things are kept."""
    return [_policy(each) for each in policies.all_in_force()]


@router.patch(
    "storage/policies/{str:name}", response=PolicyOut, url_name="api_policy", summary="Change how long things are kept"
)
def change_policy(request: HttpRequest, name: str, change: PolicyIn) -> Any:
    """Change for how many days something is kept."""
    return _policy(policies.change(name, "" if change.days == "default" else str(change.days)))


@router.get("storage/kept-tables", response=Page[KeptTableOut], url_name="api_kept_tables", summary="List kept tables")
def kept_tables(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The old tables and rows that imports have kept on their targets, those of the newest import first.

    imports/{job}/restore gives one its name back, or puts the rows back, and imports/{job}/drop-backup drops it.
    """
    found = seen(ImportJob.objects.exclude(kept_table="").filter(trial=None)).select_related("target")
    return page.newest(found, _kept_table)


def _kept_table(job: ImportJob) -> dict[str, Any]:
    return {
        "job": job.pk,
        "target": job.target.name,
        "table": job.table,
        "kept_table": job.kept_table,
        "restored": job.restored_at is not None,
        "why_no_restore": why_backup_stays(job),
    }


@router.delete(
    "storage/files/{uuid:file}", response={204: None}, url_name="api_storage_file", summary="Delete a file for good"
)
def delete_stored_file(request: HttpRequest, file: UUID) -> Any:
    """Delete the bytes of an upload that may have been imported. Its imports stay, and cannot be retried."""
    files.remove_by_hand(get_object_or_404(uploads_of(request.user), key=file))
    return Status(204, None)
