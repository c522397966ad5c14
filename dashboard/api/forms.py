"""Values of a request in the forms of the pages, which check them and say what is wrong."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse

from dashboard.access import problems
from importer.engine.errors import Problem

Form = TypeVar("Form", bound=forms.BaseForm)


class InvalidValues(Problem):
    """A value is refused, as by the form of a page."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        self.errors = [{"where": f"body.{name}", "what": text} for name, texts in errors.items() for text in texts]
        super().__init__(self.errors[0]["what"], self.errors[0]["where"], "Correct it; errors has all that is wrong.")


def checked(form: Form) -> Form:
    """The form, if its values are right. Raises InvalidValues."""
    if not form.is_valid():
        raise InvalidValues({name: [str(each) for each in texts] for name, texts in form.errors.items()})
    return form


def entered(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as a form is sent them: nothing for null."""
    return {name: "" if value is None else value for name, value in values.items()}


def tell(_request: HttpRequest, problem: Any) -> HttpResponse:
    """The answer about values that a form refuses, each with its place."""
    return problems.answer(problem, errors=problem.errors)
