"""The description of uploads by tus, whose operations are views of their own (dashboard/new_import/uploading/)."""

from typing import Any

from config.serving.intake import ANNOUNCED_TYPES
from dashboard.new_import.uploading.tus import VERSION
from importer.sources.parts import ALGORITHMS

_KEY = {"in": "path", "name": "key", "required": True, "schema": {"type": "string", "format": "uuid"}}
_RESUMABLE = {
    "in": "header",
    "name": "Tus-Resumable",
    "required": True,
    "schema": {"type": "string", "enum": [VERSION]},
}


def _header(name: str, about: str, schema: dict[str, Any], required: bool = True) -> dict[str, Any]:
    return {"in": "header", "name": name, "required": required, "description": about, "schema": schema}


def _operation(
    summary: str,
    about: str,
    parameters: list[dict[str, Any]],
    answer: str,
    status: str = "204",
    headers: dict[str, Any] | None = None,
) -> Any:
    return {
        "operationId": summary.lower().replace(" ", "_"),
        "tags": ["uploads"],
        "summary": summary,
        "description": about,
        "parameters": [_RESUMABLE, *parameters],
        "responses": {status: {"description": answer, "headers": headers or {}}},
    }


_BYTES = {"type": "integer", "minimum": 0, "maximum": 10**18}
_ARRIVED = {"description": "The bytes that have arrived.", "required": True, "schema": _BYTES}
_ADDRESS = {"description": "The address of the upload.", "required": True, "schema": {"type": "string"}}
TUS_TYPE, GENERAL_TYPE = ANNOUNCED_TYPES
PATHS: dict[str, Any] = {
    "/api/v1/uploads": {
        "post": _operation(
            "Begin an upload",
            "tus 1.0: the answer's Location is the address for the parts, and its last piece the `file` of an import.",
            [
                _header("Upload-Length", "The file's size in bytes.", {**_BYTES, "minimum": 1}),
                _header("Upload-Metadata", "`filename` and the file's name in Base64.", {"type": "string"}, False),
            ],
            "Begun.",
            "201",
            {"Location": _ADDRESS},
        ),
    },
    "/api/v1/uploads/{key}": {
        "head": _operation(
            "Ask how much has arrived",
            "tus 1.0.",
            [_KEY],
            "Upload-Offset has the bytes that have arrived.",
            "200",
            {"Upload-Offset": _ARRIVED},
        ),
        "patch": _operation(
            "Send a part",
            f"tus 1.0, as {GENERAL_TYPE}, or as {TUS_TYPE}, which programs for tus send. With a checksum"
            " the part counts whole or not at all: a wrong one is answered with 460, and nothing of the part is kept.",
            [
                _KEY,
                _header("Upload-Offset", "Where the part begins: the bytes that have arrived.", _BYTES),
                _header(
                    "Upload-Checksum",
                    f"{' or '.join(ALGORITHMS)}, a blank, and the checksum in Base64.",
                    {"type": "string"},
                    False,
                ),
            ],
            "Kept.",
            headers={"Upload-Offset": _ARRIVED},
        ),
        "delete": _operation("End an upload", "tus 1.0: what has arrived is removed.", [_KEY], "Removed."),
    },
}
_PART = {"schema": {"type": "string", "format": "binary"}}
PATHS["/api/v1/uploads/{key}"]["patch"]["requestBody"] = {
    "required": True,
    # Generators of clients leave an operation out whose body has a type that they do not know.
    "content": {GENERAL_TYPE: _PART},
}
