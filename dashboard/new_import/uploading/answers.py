"""Answers to requests of uploads: short plain text, which the page shows and the API turns into problems."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse

from dashboard.access.problems import headers_of, status_of
from importer.engine.errors import Problem


def text_answer(status: int, text: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Plain text with this status."""
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8", headers=headers)


def signed_out() -> HttpResponse:
    """401 instead of the sign-in page, which a program or a script could not read."""
    return text_answer(401, "Your session has ended. Sign in again in another tab, then resume.")


def problem_answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    """The problem in words; the request keeps it for the API."""
    request.problem = problem  # type: ignore[attr-defined]
    return text_answer(status_of(type(problem)), f"{problem.what} {problem.advice}".strip(), headers_of(problem))
