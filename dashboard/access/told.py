"""Tells a Problem of a button's view on the page that has the button."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from importer.engine.errors import Problem

View = Callable[..., HttpResponseBase]


def told_on(page: str) -> Callable[[View], View]:
    """Decorates a view whose Problem is told on this page, whose address takes the arguments of the view's own."""

    def decorate(view: View) -> View:
        @wraps(view)
        def telling(request: HttpRequest, **address: Any) -> HttpResponseBase:
            try:
                return view(request, **address)
            except Problem as problem:
                messages.error(request, str(problem))
                told: HttpResponseBase = redirect(page, **address)
                return told

        return telling

    return decorate
