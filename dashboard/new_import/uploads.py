"""Uploads by the tus protocol 1.0 (https://tus.io/protocols/resumable-upload): core, creation, termination.

The bytes go from the request's stream to the file in small pieces. Nothing here reads request.body or request.POST;
Django's CSRF check reads request.POST of a POST only, and takes the token from the X-CSRFToken header.
"""

import base64
import binascii
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from importer.access import audit
from importer.engine.errors import Problem
from importer.models import SourceFile
from importer.sources import uploads as sources
from importer.sources.quotas import QuotaExceeded
from importer.sources.room import DiskFull

VERSION = "1.0.0"
PART_TYPE = "application/offset+octet-stream"
STATUS: dict[type[Problem], int] = {
    sources.UploadGone: 404,
    sources.WrongOffset: 409,
    sources.SourceInUse: 409,
    sources.TooLarge: 413,
    QuotaExceeded: 413,
    sources.UploadBusy: 423,
    DiskFull: 507,
}

View = Callable[..., HttpResponse]


def _tus(view: View) -> View:
    """Decorate a view of the protocol: add its headers, and send errors as short plain text for the page to show.

    Without a sign-in the answer is 401 instead of the sign-in page, which a client of the protocol could not read.
    """

    @wraps(view)
    def speak(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            answer = _text(401, "Your session has ended. Sign in again in another tab, then resume.")
        elif request.method != "OPTIONS" and request.headers.get("Tus-Resumable") != VERSION:
            answer = _text(412, f"This server speaks tus {VERSION}.")
        else:
            try:
                answer = view(request, *args, **kwargs)
            except Problem as problem:
                answer = _text(STATUS.get(type(problem), 422), f"{problem.what} {problem.advice}".strip())
        answer.headers["Tus-Resumable"] = answer.headers["Tus-Version"] = VERSION
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return login_not_required(speak)


def _text(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


@require_http_methods(["OPTIONS", "POST"])
@_tus
def uploads(request: HttpRequest) -> HttpResponse:
    """Begin an upload: size in Upload-Length, name in Upload-Metadata; Location of the answer is its URL."""
    if request.method == "OPTIONS":
        offers = {"Tus-Extension": "creation,termination", "Tus-Max-Size": str(settings.UPLOAD_MAX_BYTES)}
        return HttpResponse(status=204, headers=offers)
    size = _header_number(request, "Upload-Length")
    if size is None:
        return _text(400, "Upload-Length must be the file's size in bytes.")
    assert request.user.is_authenticated
    source = sources.begin_upload(_filename(request), size, request.user)
    audit.about(source)
    return HttpResponse(status=201, headers={"Location": reverse("upload", args=[source.key])})


@require_http_methods(["OPTIONS", "HEAD", "PATCH", "DELETE"])
@_tus
def upload(request: HttpRequest, key: UUID) -> HttpResponse:
    """Report how much of an upload has arrived (HEAD), receive its next part (PATCH), or remove it (DELETE)."""
    source = sources.uploads_of(request.user).filter(key=key).first()
    if source is None:
        return _text(404, "There is no such upload. Upload the file again.")
    if request.method == "PATCH":
        return _receive(request, source)
    if request.method == "DELETE":
        sources.remove(source)
        return HttpResponse(status=204)
    return HttpResponse(headers={"Upload-Offset": str(source.received), "Upload-Length": str(source.size)})


def _receive(request: HttpRequest, source: SourceFile) -> HttpResponse:
    if request.content_type != PART_TYPE:
        return _text(415, f"Content-Type must be {PART_TYPE}.")
    offset, length = _header_number(request, "Upload-Offset"), _header_number(request, "Content-Length")
    if offset is None or length is None:
        return _text(400, "Upload-Offset and Content-Length must be numbers of bytes.")
    if length > settings.UPLOAD_PART_BYTES:
        return _text(413, f"A part may have {settings.UPLOAD_PART_BYTES:,} bytes at most.")
    received = sources.append(source, offset, request, length)
    if received == source.size:
        sources.finish(source)
    return HttpResponse(status=204, headers={"Upload-Offset": str(received)})


def _header_number(request: HttpRequest, name: str) -> int | None:
    text = request.headers.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _filename(request: HttpRequest) -> str:
    """The file name in Upload-Metadata, which is a comma-separated list of `key base64(value)`; "" if missing."""
    for pair in request.headers.get("Upload-Metadata", "").split(","):
        key, _, value = pair.strip().partition(" ")
        if key == "filename":
            try:
                return base64.b64decode(value, validate=True).decode(errors="replace")
            except binascii.Error:
                return ""
    return ""
