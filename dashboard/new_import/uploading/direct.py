"""Uploads that a browser, or a program, puts straight into the store (importer/sources/direct.py): JSON in and out.

The bytes never come here: this server signs the URL of each part, and joins the parts at the end.
"""

import base64
import binascii
import json
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_http_methods

from dashboard.new_import.uploading.answers import problem_answer, signed_out, text_answer
from importer.access import audit
from importer.engine.errors import Problem
from importer.models import SourceFile
from importer.sources import abandoned, direct
from importer.sources import uploads as sources
from importer.sources.store.multipart import part_bytes

SHA256_BYTES = 32
LONGEST_NAME = 1024
MOST_BYTES = 10**18

View = Callable[..., HttpResponse]


class _WrongBody(Exception):
    """The body of the request is not as described."""


def _json_view(view: View) -> View:
    """Decorate a view: its errors become short plain text. Without a sign-in the answer is 401."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return signed_out()
        try:
            answer = view(request, *args, **kwargs)
        except _WrongBody as wrong:
            return text_answer(400, str(wrong))
        except Problem as problem:
            return problem_answer(request, problem)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return login_not_required(answered)


@require_http_methods(["POST"])
@_json_view
def uploads(request: HttpRequest) -> HttpResponse:
    """Begin an upload: `name` and `size` in the body."""
    body = _body(request, "name", "size")
    name, size = body["name"], body["size"]
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise _WrongBody(f"`name` must be a text of at most {LONGEST_NAME:,} characters.")
    if not _is_number(size):
        raise _WrongBody("`size` must be the file's size in bytes.")
    assert request.user.is_authenticated
    abandoned.remove_strays_if_due()
    source = direct.begin(name, size, request.user)
    audit.about(source)
    return JsonResponse(_shown(source, []), status=201)


@require_http_methods(["GET", "POST"])
@_json_view
def upload(request: HttpRequest, key: UUID) -> HttpResponse:
    """Which parts are in the store (GET); or join those with the `sha256`, check the whole, and keep it (POST)."""
    source = _named(request, key)
    if request.method == "POST":
        listed = _body(request, "sha256")["sha256"]
        if not isinstance(listed, list):
            raise _WrongBody("`sha256` must be a list: that of each part.")
        source = direct.complete(source, [_checksum(each) for each in listed])
    return JsonResponse(_shown(source, direct.stored_parts(source)))


@require_http_methods(["POST"])
@_json_view
def part(request: HttpRequest, key: UUID) -> HttpResponse:
    """Where to send a part: its `number` and `sha256` in the body."""
    source = _named(request, key)
    body = _body(request, "number", "sha256")
    if not _is_number(body["number"]):
        raise _WrongBody("`number` must be that of a part.")
    signed = direct.sign(source, body["number"], _checksum(body["sha256"]))
    return JsonResponse({"url": signed.url, "headers": signed.headers})


def _named(request: HttpRequest, key: UUID) -> SourceFile:
    source = sources.uploads_of(request.user).filter(key=key).first()
    if source is None or not (source.store_upload or source.store_etag):
        raise sources.UploadGone("There is no such upload.", advice="Upload the file again.")
    return source


def _shown(source: SourceFile, parts: list[int]) -> dict[str, Any]:
    return {
        "file": str(source.key),
        "size": source.size,
        "part_bytes": part_bytes(source.size),
        "parts": parts,
        "status": source.status,
    }


def _body(request: HttpRequest, *names: str) -> dict[str, Any]:
    """The JSON object in the body, which has these names and no others. Raises _WrongBody."""
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise _WrongBody(f"The body is no JSON: {error}.") from error
    if not isinstance(body, dict) or set(body) != set(names):
        raise _WrongBody(f"The body must be a JSON object with {' and '.join(names)}.")
    return body


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_BYTES


def _checksum(text: object) -> str:
    """The checksum as the store wants it: Base64. Raises _WrongBody."""
    try:
        digest = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        digest = b""
    if len(digest) != SHA256_BYTES:
        raise _WrongBody("`sha256` must be the SHA-256 of the part in Base64.")
    return base64.b64encode(digest).decode()
