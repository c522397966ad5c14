"""Compresses pages and their parts. Static files are compressed when they are collected."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

COMPRESSED = ("text/html", "application/json")


class CompressPages(GZipMiddleware):
    """Compresses HTML and JSON for browsers that accept it; files go out as they are.

    Secrets in a page do not leak by its length (BREACH): each answer has another CSRF token, and Django adds a random
    number of bytes.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.streaming or kind not in COMPRESSED:
            return response
        return super().process_response(request, response)
