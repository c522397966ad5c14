"""Why an import waits or is slow, and what its server does now: parts of its page, with a poll of their own."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseStopPolling

from importer.access.policy import may_now
from importer.diagnosis.why import RATE_SECONDS, Why, why
from importer.engine.mysql.diagnosis.snapshot import Snapshot
from importer.models import ImportJob, Level


@dataclass(frozen=True)
class ServerNow:
    """What a server does now, as its own counters say. Rates are those of the last RATE_SECONDS; None if unknown."""

    pool_bytes: int | None = None
    dirty_percent: float | None = None
    redo_percent: float | None = None
    redo_bytes: int | None = None
    running: int | None = None
    connected: int | None = None
    replica_lag: int | None = None
    rows: float | None = None
    written: int | None = None
    syncs: float | None = None


@require_safe
@never_cache
def job_why(request: HttpRequest, pk: int) -> HttpResponse:
    """The banner and the card. 286, which ends the poll, after the end of the import.

    The banner is replaced only if it says something else than `?seen=`, so that an opened statement stays open.
    """
    job = get_object_or_404(ImportJob.objects.select_related("target"), pk=pk)
    now = why(job)
    said = _token(now)
    context = {
        "job": job,
        "why": now,
        "said": said,
        "same": request.GET.get("seen", "") == said,
        "server": _server(now),
        "sees_statements": may_now(Level.ADMINISTER, job.target),
        "oob": True,
    }
    answer: HttpResponse = HttpResponseStopPolling() if job.ended else HttpResponse()
    answer.content = render(request, "jobs/why/_parts.html", context).content
    return answer


def _token(now: Why) -> str:
    """What the banner says, without the numbers that change all the time."""
    return "-".join(f"{each.cause}.{each.holder}" for each in now.explanations)


def _server(now: Why) -> ServerNow | None:
    """The server's figures; None before the first look, and while it does not answer."""
    last = now.seen.snapshot
    if last is None or last.problem:
        return None
    counters, before = last.counters, now.seen.before(RATE_SECONDS)
    written = counters.per_second("data_written", before)
    return ServerNow(
        pool_bytes=last.number("innodb_buffer_pool_size"),
        dirty_percent=_percent(counters.dirty_share),
        redo_percent=_percent(counters.redo_share),
        redo_bytes=counters.redo_capacity,
        running=_running(last),
        connected=counters.connected,
        replica_lag=counters.replica_lag,
        rows=counters.per_second("rows_written", before),
        written=None if written is None else round(written),
        syncs=counters.per_second("syncs", before),
    )


def _running(last: Snapshot) -> int:
    """The statements that run now, without the look itself."""
    return sum(bool(each.statement) for each in last.sessions)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
