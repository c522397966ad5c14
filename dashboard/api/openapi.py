"""The description of the API: OpenAPI 3.1, from the operations, with what they do not tell: scopes and problems."""

import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_safe
from ninja import NinjaAPI

from config.serving.refusals import CONTENT_TYPE
from dashboard.access.api_rules import API, READING
from dashboard.api import reports
from dashboard.api.uploading import direct, tus

ADDRESS = "/api/v1/"
# The problem in the description: its type, and an example.
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "what", "where", "advice", "retryable"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "All of it in words."},
        "code": {"type": "integer", "description": "A number that never changes (docs/contracts.md)."},
        "kind": {"type": "string", "description": "The kind of the problem, as in a report. Some have none."},
        "what": {"type": "string"},
        "where": {"type": "string"},
        "advice": {"type": "string"},
        "retryable": {"type": "boolean"},
        "report": {"type": "object", "description": "Of an import that did not begin: its report."},
        "check": {"type": "object", "description": "Of a check without a result: its document."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"where": {"type": "string"}, "what": {"type": "string"}},
            },
        },
        "reading": {"type": ["object", "null"], "description": "With code 1400: the questions, in `guesses`."},
    },
    "examples": [
        {
            "type": "/api/docs/#problem-1200",
            "title": "Unknown table",
            "status": 422,
            "detail": "There is no table sales.order. Nearest: orders.",
            "code": 1200,
            "kind": "UnknownTable",
            "what": "There is no table sales.order.",
            "where": "",
            "advice": "Nearest: orders.",
            "retryable": False,
        }
    ],
}


# The kinds of things that most programs need; the others follow by name.
FIRST = ("imports", "files", "uploads", "targets")
# How an operation is described that answers with a CSV file.
CSV_FILE: dict[str, Any] = {
    "responses": {200: {"description": "The file.", "content": {"text/csv": {"schema": {"type": "string"}}}}}
}


class Description:
    """The description, which is made once."""

    def __init__(self, api: NinjaAPI, patterns: Iterable[URLPattern]) -> None:
        """`patterns`: the URLs of everything that the description has."""
        self._api = api
        self._names = {_address(each): str(each.name) for each in patterns}

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The whole description."""
        described = _with_names_of_pages(self._api.get_openapi_schema(path_prefix=ADDRESS))
        report = {"$ref": "#/components/schemas/Report"}
        made: dict[str, Any] = json.loads(described.replace(json.dumps(reports.PLACE), json.dumps(report)))
        made["paths"] |= tus.PATHS | direct.PATHS
        made["servers"] = [{"url": "/"}]
        kinds = {operation["tags"][0] for operations in made["paths"].values() for operation in operations.values()}
        made["tags"] = [{"name": each} for each in (*FIRST, *sorted(kinds - {*FIRST}))]
        made["components"]["schemas"] |= {"Problem": PROBLEM, "Report": reports.SCHEMA, **direct.SCHEMAS}
        made["components"]["responses"] = {
            "Problem": {
                "description": "A problem",
                "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
        }
        for address, operations in made["paths"].items():
            for method, operation in operations.items():
                _complete(operation, self._names[address], method.upper())
        plain: dict[str, Any] = _plain(made)
        return plain

    @cached_property
    def _body(self) -> bytes:
        return json.dumps(self.schema, separators=(",", ":")).encode()

    @method_decorator(login_not_required)
    @method_decorator(require_safe)
    def view(self, _request: HttpRequest) -> HttpResponse:
        """The description, without a sign-in: it names no import, target or person."""
        return HttpResponse(self._body, content_type="application/json")


def _address(pattern: URLPattern) -> str:
    """The address of a URL as the description has it: `<int:job>` as {job}."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))


def _with_names_of_pages(schema: dict[str, Any]) -> str:
    """The description as JSON in which a page of a list has its title as name, and not that of a class of Python."""
    described = json.dumps(schema, sort_keys=True)
    for name, each in schema["components"]["schemas"].items():
        if name.startswith("Page_"):
            described = re.sub(f'(?<=["/]){re.escape(name)}"', f'{each["title"]}"', described)
    return described


def _complete(operation: dict[str, Any], name: str, method: str) -> None:
    """Add to an operation how it refuses, and which scope a token needs for it."""
    operation["responses"]["default"] = {"$ref": "#/components/responses/Problem"}
    scope = API[name][method].rule.scope_for(method in READING)
    about = operation.get("description", "").strip()
    operation["description"] = f"{about}\n\nA token needs the scope `{scope.value}`.".strip()
    operation["security"] = [{"Bearer": []}]


def _plain(part: Any) -> Any:
    """A part of the description without what a validator, or a generator of clients, refuses.

    An object as default: each generator leaves the operation out. The object's own fields say what holds without it.
    A list of examples of a parameter: OpenAPI 3.1 has a map there (4.8.12); the parameter's schema has the same list.
    """
    if isinstance(part, list):
        return [_plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {name: _plain(value) for name, value in part.items()}
    if isinstance(kept.get("default"), dict) and "allOf" in kept:
        (schema,) = kept.pop("allOf")
        del kept["default"]
        kept |= schema
    if "in" in kept and isinstance(kept.get("examples"), list):
        del kept["examples"]
    return kept
