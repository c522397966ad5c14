"""Answers polls of an import's page while nothing changes, before anything else of the request is looked at.

The whole way of a request (session, person, grants, the import, its last commits) costs several times as much as the
question whether anything has changed. Each process therefore remembers, for MOST_SECONDS, what it has last told whom
after all checks, together with the import's pulse. With the same pulse, the answer is an empty 204. Somebody who has
has lost the right to see the import learns for MOST_SECONDS that nothing has changed, and no more.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

from importer.engine.schema.alter_table import DdlProgress
from importer.models import ImportJob
from importer.worker import live_progress
from importer.worker.hosts.installation import state

MOST_SECONDS = 30.0
MOST_REMEMBERED = 10_000

_LIVE = re.compile(r"/jobs/(\d{1,18})/live/")


@dataclass(frozen=True)
class Pulse:
    """What changes with everything that the page of a running import shows, except for the time that passes."""

    version: int
    status: str
    received: int
    sent: int
    stage: DdlProgress | None
    halts: str


@dataclass(frozen=True)
class Told:
    """What a page was told: its token, the pulse before, and the moment (time.monotonic) until when both hold."""

    page_state: str
    pulse: Pulse
    until: float


# By session and import.
_told: dict[tuple[str, int], Told] = {}


def pulse_of(job_id: int) -> Pulse | None:
    """The pulse of an import, with one query; None if there is none."""
    row = ImportJob.objects.filter(pk=job_id).values_list("version", "status", "source__received").first()
    if row is None:
        return None
    version, status, received = row
    stage = live_progress.restore_progress(job_id) if status in ImportJob.RESTORING else None
    return Pulse(version, status, received, live_progress.sent_bytes(job_id), stage, state().halts)


def remember(request: HttpRequest, job_id: int, told: str, pulse: Pulse | None, steady: float) -> None:
    """Remember that the page of this session was told `told`, which holds for `steady` seconds with the same pulse."""
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not session or pulse is None or pulse.status in ImportJob.ENDED:
        return
    if len(_told) >= MOST_REMEMBERED:
        _told.clear()
    _told[session, job_id] = Told(told, pulse, time.monotonic() + min(steady, MOST_SECONDS))


class UnchangedPolls:
    """Answers a poll of a page that shows what there is to show; every other request continues."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return _unchanged(request) or self.get_response(request)


def _unchanged(request: HttpRequest) -> HttpResponse | None:
    address = _LIVE.fullmatch(request.path_info) if request.method == "GET" else None
    if address is None:
        return None
    job_id = int(address[1])
    told = _told.get((request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""), job_id))
    if told is None or told.page_state != request.GET.get("seen") or time.monotonic() > told.until:
        return None
    if pulse_of(job_id) != told.pulse:
        return None
    answer = HttpResponse(status=204)
    add_never_cache_headers(answer)
    return answer
