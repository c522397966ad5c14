"""The API: its resources, how a request is read, and how a problem is answered."""

import json
from collections.abc import Sequence
from functools import wraps
from inspect import unwrap
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.operation import Operation
from ninja.params.models import QueryModel
from ninja.parser import Parser

from dashboard.access import problems
from dashboard.access.errands import too_much
from dashboard.access.middleware import token_of
from dashboard.api import forms, planning
from dashboard.api.once import View
from dashboard.api.resources import (
    approvals,
    audit,
    channels,
    connections,
    files,
    history,
    labs,
    presets,
    storage,
    targets,
    workers,
)
from dashboard.api.resources.imports import checks, details, filters, following, imports, plans, rejects
from dashboard.api.resources.people import account, grants, groups, people
from dashboard.api.resources.schedules import decisions, preview, runs, schedules
from importer.engine.errors import Problem
from importer.models import AccessToken

PREFIX = "api/v1/"
# In the order of the description.
RESOURCES = (
    imports, following, details, rejects, plans, checks, filters, approvals, files, targets, schedules, runs, decisions,
    preview, presets, connections, channels, labs, history, workers, storage, people, groups, grants, account, audit,
)  # fmt: skip
ABOUT = """Loads files into MySQL and MariaDB, and proves that every row arrived.

A program signs each request in with a token of a person (`Authorization: Bearer`), and may do what the person may do,
as far as the token's scopes allow. Errors are problems as JSON (RFC 9457)."""


class Bearer:
    """The token of a request, which dashboard/sign_in/tokens.py has found valid."""

    openapi_security_schema = {
        "type": "http",
        "scheme": "bearer",
        "description": "A token, created under Your account or with `millrace user token`.",
    }

    def __call__(self, request: HttpRequest) -> AccessToken | None:
        return token_of(request)


class JsonParser(Parser):
    """Reads bodies of JSON, and no others."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body. Raises HttpError for another type of content, or a body that is no JSON."""
        if request.content_type != "application/json":
            raise HttpError(415, f"The body is {request.content_type or 'of no type'}, not application/json.")
        try:
            return json.loads(request.body, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise HttpError(400, f"The body is no JSON: {error}.") from error


def _no_number(text: str) -> None:
    """NaN and Infinity are no JSON (RFC 8259, 6)."""
    raise ValueError(f"{text} is no number of JSON")


class _Api(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """An operation is named as its function."""
        return operation.view_func.__name__


def _with_known_parameters(run: View) -> View:
    """Let an operation refuse parameters in the query that it does not have: a list would not be narrowed by them."""
    operation: Operation = unwrap(run).__self__
    of_query = (each for each in operation.models if issubclass(each, QueryModel))
    known = sorted(name for each in of_query for name in each.__ninja_flatten_map__)

    @wraps(run)
    def running(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        unknown = [f"query.{name}" for name in request.GET if name not in known]
        if not unknown:
            return run(request, *args, **named)
        advice = f"Known: {', '.join(known)}." if known else "Leave it out: this address takes none."
        problem = Problem("There is no such parameter.", unknown[0], advice)
        return problems.answer(problem, errors=[{"where": each, "what": problem.what} for each in unknown])

    return running


def make_api() -> NinjaAPI:
    """The API with all its resources, and the answers to their problems."""
    made = _Api(
        title="Millrace",
        version=settings.VERSION,
        description=ABOUT,
        openapi_url=None,
        docs_url=None,
        auth=Bearer(),
        parser=JsonParser(),
        urls_namespace="api",
    )
    made.add_decorator(_with_known_parameters, "view")
    made.add_exception_handler(Problem, _problem)
    made.add_exception_handler(MemoryError, _too_much)
    made.add_exception_handler(planning.NotBegun, planning.tell)
    made.add_exception_handler(forms.InvalidValues, forms.tell)
    made.add_exception_handler(Http404, _missing)
    made.add_exception_handler(ObjectDoesNotExist, _missing)
    made.add_exception_handler(HttpError, _refused)
    made.add_exception_handler(ValidationError, _invalid)
    for resource in RESOURCES:
        made.add_router("", resource.router)
    return made


def _too_much(_request: HttpRequest, _error: Any) -> HttpResponse:
    return problems.answer(too_much())


def _problem(_request: HttpRequest, problem: Any) -> HttpResponse:
    return problems.answer(problem)


def _missing(_request: HttpRequest, _error: Any) -> HttpResponse:
    return HttpResponse("There is nothing at this address.", status=404, content_type="text/plain")


def _refused(_request: HttpRequest, error: Any) -> HttpResponse:
    # ninja answers with one sentence to everything that a parser raises.
    if isinstance(error.__cause__, HttpError):
        error = error.__cause__
    return HttpResponse(str(error), status=error.status_code, content_type="text/plain")


def _invalid(_request: HttpRequest, error: Any) -> HttpResponse:
    """Every wrong value with its place, such as body.options.mode."""
    wrong = [{"where": _place(each["loc"]), "what": each["msg"]} for each in error.errors]
    first = wrong[0]
    problem = Problem(first["what"], first["where"], "Correct it; errors has all that is wrong.")
    return problems.answer(problem, errors=wrong)


def _place(loc: Sequence[str | int]) -> str:
    """Where a value is: in the body without the name that its operation has for it."""
    return ".".join(map(str, (loc[0], *loc[2:]) if loc[0] == "body" else loc))
