"""The description of uploads straight into the store, whose operations are views (dashboard/new_import/uploading/)."""

from typing import Any

from dashboard.new_import.uploading.direct import LONGEST_NAME, MOST_BYTES
from importer.models import SourceFile
from importer.sources.store.presigned_upload import CHECKSUM, SIGNED_SECONDS

_KEY = {"in": "path", "name": "key", "required": True, "schema": {"type": "string", "format": "uuid"}}
_SHA256 = {
    "type": "string",
    "pattern": "^[A-Za-z0-9+/]{43}=$",
    "description": "The SHA-256 of a part in Base64.",
}
_EXAMPLE = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="


def _object(properties: dict[str, Any], example: dict[str, Any] | None = None) -> dict[str, Any]:
    made = {"type": "object", "required": list(properties), "properties": properties}
    return {**made, "additionalProperties": False, "examples": [example]} if example else made


SCHEMAS = {
    "DirectUploadIn": _object(
        {
            "name": {"type": "string", "maxLength": LONGEST_NAME, "description": "The file's name."},
            "size": {"type": "integer", "minimum": 1, "maximum": MOST_BYTES, "description": "Its bytes."},
        },
        {"name": "orders.csv", "size": 300_000_000},
    ),
    "DirectPartIn": _object(
        {
            "number": {"type": "integer", "minimum": 1, "maximum": MOST_BYTES, "description": "The part's, from 1."},
            "sha256": _SHA256,
        },
        {"number": 1, "sha256": _EXAMPLE},
    ),
    "DirectPartsIn": _object(
        {"sha256": {"type": "array", "items": _SHA256, "description": "That of each part, in order."}},
        {"sha256": [_EXAMPLE]},
    ),
    "DirectUpload": _object(
        {
            "file": {"type": "string", "format": "uuid", "description": "The `file` of an import."},
            "size": {"type": "integer", "description": "Bytes of the file."},
            "part_bytes": {"type": "integer", "description": "Bytes of each part but the last."},
            "parts": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "The numbers of the parts that are in the store.",
            },
            "status": {"type": "string", "enum": SourceFile.Status.values},
        }
    ),
    "SignedPart": _object(
        {
            "url": {"type": "string", "format": "uri"},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        }
    ),
}


def _operation(
    summary: str, about: str, body: str, answer: tuple[str, str], status: str = "200", named: bool = True
) -> dict[str, Any]:
    """`body`: the schema of the request, "" for none. `answer`: what the answer is, and its schema."""
    said, schema = answer
    made: dict[str, Any] = {
        "operationId": summary.lower().replace(" ", "_"),
        "tags": ["uploads"],
        "summary": summary,
        "description": about,
        "parameters": [_KEY] if named else [],
        "responses": {status: {"description": said, **_json(schema)}},
    }
    return {**made, "requestBody": {"required": True, **_json(body)}} if body else made


def _json(schema: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}}


PATHS: dict[str, Any] = {
    "/api/v1/uploads/direct": {
        "post": _operation(
            "Begin an upload into the store",
            "Where FILE_STORE_BROWSER_URL is set; answered with 409 elsewhere: then send the file to POST"
            " /api/v1/uploads. The file is cut into parts of `part_bytes`, the last one is shorter.",
            "DirectUploadIn",
            ("Begun.", "DirectUpload"),
            "201",
            named=False,
        ),
    },
    "/api/v1/uploads/direct/{key}": {
        "get": _operation(
            "Ask which parts are in the store", "To continue an upload.", "", ("Its parts.", "DirectUpload")
        ),
        "post": _operation(
            "Complete an upload into the store",
            "Joins the parts, checks size and kind of the whole, and reads it once for its fingerprint; then it is a"
            " file like others. May be repeated. Answered with 409 while parts are missing, with 503 while the store is"
            " away.",
            "DirectPartsIn",
            ("The whole file.", "DirectUpload"),
        ),
    },
    "/api/v1/uploads/direct/{key}/parts": {
        "post": _operation(
            "Ask where to send a part",
            f"Send the part with PUT to `url`, with the `headers` (`{CHECKSUM}`) and no token. The store refuses other"
            f" bytes than those with this SHA-256. The URL is valid for {SIGNED_SECONDS:,} seconds; parts may be sent"
            " in any order, several at once, and again.",
            "DirectPartIn",
            ("Where to send it.", "SignedPart"),
        ),
    },
}
