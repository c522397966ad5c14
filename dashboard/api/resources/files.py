"""Uploaded files: what is there. They arrive by tus, or in the store (dashboard/new_import/uploading/)."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.api.body import Body, example
from dashboard.api.pages import LARGEST, Cursor, Page
from importer.access import audit
from importer.models import SourceFile
from importer.sources import uploads
from importer.sources.continuing import BeingCompared, take_over

router = Router(tags=["files"])


class FileOut(Schema):
    """An uploaded file."""

    file: UUID
    name: str
    size: Annotated[int, Field(description="Bytes.")]
    received: Annotated[int, Field(description="Bytes that have arrived.")]
    status: Annotated[str, Field(json_schema_extra={"enum": SourceFile.Status.values})]
    created_at: datetime
    fingerprint: Annotated[str, Field(description="XXH3 of all bytes, 128 bits in hexadecimal; empty before that.")]
    imports: Annotated[list[int], Field(description="The imports of the file, by their `job`.")]


def show(source: SourceFile) -> dict[str, Any]:
    """A file as the API shows it."""
    names = ("name", "size", "received", "status", "created_at", "fingerprint")
    return {name: getattr(source, name) for name in names} | {
        "file": source.key,
        "imports": [job.pk for job in uploads.imports_of(source)],
    }


class FilesIn(Schema):
    """What a list of files is narrowed to."""

    name: Annotated[str, Field(max_length=255, description="The whole name.")] = ""
    size: Annotated[int | None, Field(ge=1, le=LARGEST, description="Bytes.")] = None
    arriving: Annotated[bool, Field(description="Only uploads that are not complete.")] = False
    unused: Annotated[bool, Field(description="Only the person's own that no import reads.")] = False

    def of(self, user: User | AnonymousUser) -> models.QuerySet[SourceFile]:
        """Those of the uploads that the user may see."""
        files = uploads.uploads_of(user)
        if self.unused:
            files = uploads.not_imported(user).filter(uploaded_by_id=user.pk)
        if self.name:
            files = files.filter(name=uploads.clean_name(self.name))
        if self.size:
            files = files.filter(size=self.size)
        return files.filter(status=SourceFile.Status.UPLOADING) if self.arriving else files


class ContinueIn(
    Body,
    json_schema_extra=example(
        received=8388608, sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    ),
):
    """The beginning of the sender's own file, which is to be continued."""

    received: Annotated[int, Field(ge=1, le=LARGEST, description="Bytes that have arrived.")]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="Of these bytes of the sender's file.")]


@router.get("files", response=Page[FileOut], url_name="api_files", summary="List files")
def list_files(request: HttpRequest, page: Query[Cursor], wanted: Query[FilesIn]) -> Any:
    """The person's uploads, the newest first; of all people for an admin."""
    return page.newest(wanted.of(request.user), show)


@router.get("files/{uuid:file}", response=FileOut, url_name="api_file", summary="Show a file")
def show_file(request: HttpRequest, file: UUID) -> Any:
    """One upload, also while it arrives."""
    return show(get_object_or_404(uploads.uploads_of(request.user), key=file))


@router.post("files/{uuid:file}/continue", response=FileOut, url_name="api_file_continue", summary="Continue an upload")
def continue_upload(request: HttpRequest, file: UUID, known: ContinueIn) -> Any:
    """Take over an upload of the person that nobody sends any more, and send its rest by `uploads/{file}`.

    It gets another key, which is in the answer: its earlier sender cannot continue it. Answered with 409 if another
    number of bytes has arrived, with 423 while somebody sends it or has just done so, with 460 if its bytes are others.

    More than 64 MiB are compared after the answer, which is then a problem with 423 of the `kind` BeingCompared. Send
    the same request again after the seconds in `Retry-After`, until it has another answer.
    """
    own = uploads.uploads_of(request.user).filter(uploaded_by_id=request.user.pk)
    source = get_object_or_404(own, key=file)
    try:
        take_over(source, known.received, bytes.fromhex(known.sha256))
    except BeingCompared:
        audit.leave_out()  # The last one of the same requests is recorded.
        raise
    audit.about(source)
    return show(source)


@router.delete("files/{uuid:file}", response={204: None}, url_name="api_file", summary="Delete a file")
def delete_file(request: HttpRequest, file: UUID) -> Any:
    """Delete an upload that has no imports."""
    uploads.remove(get_object_or_404(uploads.uploads_of(request.user), key=file))
    return Status(204, None)
