"""The page about the API: its description for people, with everything from this server."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.api.openapi import Description
from importer.engine.errors import problem_codes
from importer.models import Scope


@dataclass(frozen=True)
class Operation:
    """One operation for its reader. `body` and `answer` are their JSON schemas as text; "" for none."""

    id: str
    method: str
    address: str
    summary: str
    about: str
    parameters: list[dict[str, Any]]
    body: str
    status: str
    answer: str

    @property
    def colour(self) -> str:
        """Of its method: what changes or deletes something looks different from what only reads."""
        return {"GET": "azure", "POST": "green", "DELETE": "red"}.get(self.method, "orange")


def page_of(description: Description) -> Callable[[HttpRequest], HttpResponse]:
    """The view of the page that shows a description."""

    @require_safe
    def docs(request: HttpRequest) -> HttpResponse:
        context = {
            "groups": groups(description.schema),
            "schemas": _schemas(description.schema),
            "scopes": Scope.choices,
            "codes": sorted((code, kind) for kind, code in problem_codes().items()),
            "example": request.build_absolute_uri("/api/v1/imports"),
        }
        return render(request, "api/docs.html", context)

    return docs


def groups(schema: dict[str, Any]) -> dict[str, list[Operation]]:
    """All operations by the kind of thing that they are about, in the order of the description."""
    found: dict[str, list[Operation]] = {}
    for address, operations in schema["paths"].items():
        for method, operation in operations.items():
            found.setdefault(operation["tags"][0], []).append(_operation(method, address, operation))
    return found


def _operation(method: str, address: str, operation: dict[str, Any]) -> Operation:
    status, answer = next(iter(operation["responses"].items()))
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        address=address,
        summary=operation["summary"],
        about=operation["description"],
        parameters=operation["parameters"],
        body=_schema(operation.get("requestBody", {})),
        status=status,
        answer=_schema(answer),
    )


def _schema(holder: dict[str, Any]) -> str:
    """The schema of a body as text: the name of one that the page has below, or the schema itself."""
    content: Iterable[dict[str, Any]] = holder.get("content", {}).values()
    schema = next(iter(content), {}).get("schema", {})
    return str(schema["$ref"]).rpartition("/")[2] if "$ref" in schema else _text(schema) if schema else ""


def _schemas(schema: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, _text(each)) for name, each in sorted(schema["components"]["schemas"].items())]


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False)
