"""Keeps caches from answers: pages and the API show what one person may see, now."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

View = Callable[..., HttpResponse]


class PrivateAnswers:
    """Gives each answer without a Cache-Control one by which no cache of others keeps it, and a browser asks again.

    Its own pages a browser may show again, with what was typed into them, on the way back.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "Cache-Control" not in response:
            patch_cache_control(response, private=True, no_cache=True)
        return response


def empties_cache(view: View) -> View:
    """The view, after which the browser shows no earlier page again (W3C, Clear Site Data)."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response

    return answer
