"""Headers for caches: pages and the API show what one person may see at this moment."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

View = Callable[..., HttpResponse]


class PrivateAnswers:
    """Adds a Cache-Control to each answer that has none: shared caches do not store it, and browsers ask again.

    On the way back, a browser may still show a page with the text that was typed into it.
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
