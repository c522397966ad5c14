"""The page about the API: its description for people, with everything from this server."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.access.problems import status_of
from dashboard.api.openapi import ADDRESS, Description
from importer.engine.errors import Problem, WrongUsage, problem_kinds
from importer.models import Scope

# Where the problems of commands are that serve, start servers, and test.
OF_COMMANDS = ("importer.management", "bench", "tests")


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
            "problems": problems_explained(),
            "example": request.build_absolute_uri("/api/v1/imports"),
        }
        return render(request, "api/docs.html", context)

    return docs


def groups(schema: dict[str, Any]) -> dict[str, list[Operation]]:
    """All operations by the kind of thing that they are about, in the order of the description's tags.

    Those at the address of that kind of thing come first.
    """
    found: dict[str, list[Operation]] = {each["name"]: [] for each in schema["tags"]}
    for address, operations in schema["paths"].items():
        for method, operation in operations.items():
            found[operation["tags"][0]].append(_operation(method, address, operation))
    for name, operations in found.items():
        operations.sort(key=lambda each: not each.address.startswith(f"{ADDRESS}{name}"))
    return found


@dataclass(frozen=True, order=True)
class ProblemKind:
    """A kind of problem: its code and name, the status of an answer that tells it, and what it means."""

    code: int
    name: str
    status: int
    meaning: str


def problems_explained() -> list[ProblemKind]:
    """The kinds of problems that an answer may tell, by their code."""
    return sorted(
        ProblemKind(each.code, each.__name__, status_of(each), _meaning(each))
        for each in problem_kinds()
        if each is not WrongUsage and not each.__module__.startswith(OF_COMMANDS)
    )


def _meaning(kind: type[Problem]) -> str:
    """The first sentence of its docstring."""
    first, _, _ = (kind.__doc__ or "").partition("\n\n")
    return f"{' '.join(first.split()).partition('. ')[0].removesuffix('.')}."


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
