"""Uploaded files: what is there. They arrive by tus (dashboard/new_import/uploads.py)."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.pages import Cursor, Page
from importer.models import SourceFile
from importer.sources import uploads

router = Router(tags=["files"])


class FileOut(Schema):
    """An uploaded file."""

    file: UUID
    name: str
    size: Annotated[int, Field(description="Bytes.")]
    received: Annotated[int, Field(description="Bytes that have arrived.")]
    status: Annotated[str, Field(json_schema_extra={"enum": SourceFile.Status.values})]
    created_at: datetime
    imports: Annotated[list[int], Field(description="The imports of the file, by their `job`.")]


def show(source: SourceFile) -> dict[str, Any]:
    """A file as the API shows it."""
    names = ("name", "size", "received", "status", "created_at")
    return {name: getattr(source, name) for name in names} | {
        "file": source.key,
        "imports": [job.pk for job in uploads.imports_of(source)],
    }


@router.get("files", response=Page[FileOut], url_name="api_files", summary="List files")
def list_files(request: HttpRequest, page: Query[Cursor]) -> Any:
    """The person's uploads, the newest first; of all people for an admin."""
    return page.newest(uploads.uploads_of(request.user), show)


@router.get("files/{uuid:file}", response=FileOut, url_name="api_file", summary="Show a file")
def show_file(request: HttpRequest, file: UUID) -> Any:
    """One upload, also while it arrives."""
    return show(get_object_or_404(uploads.uploads_of(request.user), key=file))


@router.delete("files/{uuid:file}", response={204: None}, url_name="api_file", summary="Delete a file")
def delete_file(request: HttpRequest, file: UUID) -> Any:
    """Delete an upload that has no imports."""
    uploads.remove(get_object_or_404(uploads.uploads_of(request.user), key=file))
    return Status(204, None)
