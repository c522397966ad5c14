"""Uploads by the tus protocol 1.0 (https://tus.io/protocols/resumable-upload).

Of its extensions: creation, termination, checksum and expiration.
config/serving receives the bytes of a part, so that a slow sender takes no thread: it calls upload() before and after.
A server without it leaves them in the request's stream. Nothing here reads request.body or request.POST; Django's CSRF
check reads request.POST of a POST only, and takes the token from the X-CSRFToken header.
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
from django.utils.http import http_date
from django.views.decorators.http import require_http_methods

from config.serving.intake import ANNOUNCED_TYPES, INTAKE, Ended, Intake
from dashboard.access.api_rules import is_api
from dashboard.new_import.uploading.answers import problem_answer, signed_out, text_answer
from importer.access import audit
from importer.engine.errors import Problem
from importer.models import SourceFile
from importer.sources import abandoned, parts
from importer.sources import uploads as sources

VERSION = "1.0.0"
# The name of the URL of one upload, for pages and for the API.
_NAMES = {False: "upload", True: "api_upload"}

View = Callable[..., HttpResponse]


def _tus(view: View) -> View:
    """Decorate a view of the protocol: add its headers, and send errors as short plain text for the page to show.

    Without a sign-in the answer is 401.
    """

    @wraps(view)
    def speak(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            answer = signed_out()
        elif request.method != "OPTIONS" and request.headers.get("Tus-Resumable") != VERSION:
            answer = text_answer(412, f"This server speaks tus {VERSION}.")
        else:
            try:
                answer = view(request, *args, **kwargs)
            except Problem as problem:
                answer = problem_answer(request, problem)
        answer.headers["Tus-Resumable"] = answer.headers["Tus-Version"] = VERSION
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return login_not_required(speak)


@require_http_methods(["OPTIONS", "POST"])
@_tus
def uploads(request: HttpRequest) -> HttpResponse:
    """Begin an upload: size in Upload-Length, name in Upload-Metadata; Location of the answer is its URL."""
    if request.method == "OPTIONS":
        offers = {
            "Tus-Extension": "creation,termination,checksum,expiration",
            "Tus-Checksum-Algorithm": ",".join(parts.ALGORITHMS),
            "Tus-Max-Size": str(settings.UPLOAD_MAX_BYTES),
        }
        return HttpResponse(status=204, headers=offers)
    size = _header_number(request, "Upload-Length")
    if size is None:
        return text_answer(400, "Upload-Length must be the file's size in bytes.")
    assert request.user.is_authenticated
    abandoned.remove_strays_if_due()
    source = sources.begin_upload(_filename(request), size, request.user)
    audit.about(source)
    headers = {"Location": reverse(_NAMES[is_api(request.path)], args=[source.key]), **_expires(source)}
    return HttpResponse(status=201, headers=headers)


@require_http_methods(["OPTIONS", "HEAD", "PATCH", "DELETE"])
@_tus
def upload(request: HttpRequest, key: UUID) -> HttpResponse:
    """Report how much of an upload has arrived (HEAD), receive its next part (PATCH), or remove it (DELETE)."""
    source = sources.uploads_of(request.user).filter(key=key).first()
    if source is None:
        return text_answer(404, "There is no such upload. Upload the file again.")
    if request.method == "PATCH":
        return _receive(request, source)
    if request.method == "DELETE":
        sources.remove(source)
        return HttpResponse(status=204)
    if source.arriving and source.received == source.size:  # The process that was to finish it has died.
        sources.finish(source)
    sizes = {"Upload-Offset": str(source.received), "Upload-Length": str(source.size)}
    return HttpResponse(headers=sizes | _expires(source))


def _expires(source: SourceFile) -> dict[str, str]:
    """When the upload is removed if nothing more of it arrives; nothing for one that is complete."""
    at = sources.expires_at(source)
    return {"Upload-Expires": http_date(at.timestamp())} if at else {}


def _receive(request: HttpRequest, source: SourceFile) -> HttpResponse:
    if request.content_type not in ANNOUNCED_TYPES:
        return text_answer(415, f"Content-Type must be {' or '.join(ANNOUNCED_TYPES)}.")
    intake: Intake = request.META.get(INTAKE) or Intake()
    if intake.ended:
        assert isinstance(intake.sink, parts.Part)
        return _received(intake.sink, intake.ended)
    offset, length = _header_number(request, "Upload-Offset"), _header_number(request, "Content-Length")
    if offset is None or length is None:
        return text_answer(400, "Upload-Offset and Content-Length must be numbers of bytes.")
    if length > settings.UPLOAD_PART_BYTES:
        return text_answer(413, f"A part may have {settings.UPLOAD_PART_BYTES:,} bytes at most.")
    try:
        checksum = _checksum(request)
    except ValueError:
        return text_answer(400, f"Upload-Checksum must be {' or '.join(parts.ALGORITHMS)}, and the checksum in Base64.")
    assert request.user.is_authenticated
    part = parts.open_part(source, offset, length, checksum, request.user)
    if INTAKE in request.META:
        intake.sink = part
        return HttpResponse(status=204)  # The server keeps it to itself, and receives the part.
    try:
        parts.fill(part, request, length)
        return _received(part, Ended.WHOLE)
    finally:
        part.close()


def _received(part: parts.Part, ended: Ended) -> HttpResponse:
    """The answer to a part whose bytes have ended."""
    received = part.finish()
    part.close()
    if received == part.source.size:
        sources.finish(part.source)
    if ended is Ended.SLOW:
        rate, grace = settings.BODY_MIN_BYTES_PER_SECOND, settings.BODY_GRACE_SECONDS
        answer = text_answer(
            408, f"In {grace:g} seconds fewer than {rate * grace:,.0f} bytes arrived. Resume the upload."
        )
    else:
        answer = HttpResponse(status=204)
    for name, value in ({"Upload-Offset": str(received)} | _expires(part.source)).items():
        answer.headers[name] = value
    return answer


def _checksum(request: HttpRequest) -> parts.Checksum | None:
    """The checksum in Upload-Checksum: its algorithm, and it in Base64. Raises ValueError if it is none."""
    if "Upload-Checksum" not in request.headers:
        return None
    algorithm, _, digest = request.headers["Upload-Checksum"].partition(" ")
    if algorithm not in parts.ALGORITHMS:
        raise ValueError(algorithm)
    return parts.Checksum(algorithm, base64.b64decode(digest, validate=True))


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
