"""Shows times in the zone that the reader has chosen."""

from collections.abc import Callable, Iterable, Iterator
from typing import cast
from zoneinfo import ZoneInfo

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone

from importer.access.time_zones import time_zone_of


class TimeZoneMiddleware:
    """Makes the zone of the request's person the current one: of pages, data of charts, filters and exports."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = time_zone_of(request.user)
        with timezone.override(zone):
            response = self.get_response(request)
        if response.streaming and not isinstance(response, FileResponse):
            streamed = cast(StreamingHttpResponse, response)
            streamed.streaming_content = _made_in(zone, cast(Iterable[bytes], streamed.streaming_content))
        return response


def _made_in(zone: ZoneInfo | None, parts: Iterable[bytes]) -> Iterator[bytes]:
    source = iter(parts)
    while True:
        with timezone.override(zone):
            part = next(source, None)
        if part is None:
            return
        yield part
