"""Why an import waits or is slow, and what its server does now: parts of its page, with a poll of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseStopPolling

from importer.access.policy import may_now
from importer.diagnosis.why import RATE_SECONDS, Why, why
from importer.engine.mysql.diagnosis.counters import Counters
from importer.engine.mysql.diagnosis.snapshot import Snapshot
from importer.jobs.actions.obstacles import is_stuck
from importer.models import ImportJob, Level

# The picture of the load: its size in units of the SVG, and how many looks it shows.
WIDTH, HEIGHT = 600, 80
FEWEST_LOOKS, MOST_POINTS = 4, 60
Points = Sequence[tuple[float, float | None]]


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
    # The load while it was watched, and for how many seconds that is.
    curves: tuple["Curve", ...] = ()
    seconds: float = 0


@dataclass(frozen=True)
class Curve:
    """A line of the picture of a server's load. `points`: of an SVG polyline; `most`: its largest value, in words."""

    style: str
    name: str
    points: str
    most: str


@require_safe
@never_cache
def job_why(request: HttpRequest, pk: int) -> HttpResponse:
    """The banner and the card. 286, which ends the poll, after the end of the import.

    The banner is replaced only if it says something else than `?seen=`, so that an opened statement stays open.
    """
    job = get_object_or_404(ImportJob.objects.select_related("target"), pk=pk)
    now = _shown(job, why(job))
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


# Causes that the headline tells; those whose evidence is the problem that an obstacle is, and one of another way out.
_SAID = ("paused",)
_OF_OBSTACLE = ("retry", "unreachable", "no_process")


def _shown(job: ImportJob, now: Why) -> Why:
    """What the page does not say already: that of a pause in its headline, and an obstacle in a box with ways out.

    An import that waits for a person is not slow, and does not continue by itself.
    """
    stuck = is_stuck(job)
    said = (*_SAID, *(_OF_OBSTACLE if stuck else ()))
    shown = (each for each in now.explanations if each.cause not in said and (each.waits or not stuck))
    return replace(now, explanations=tuple(shown))


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
        curves=_curves(now.seen.counters),
        seconds=counters.at - now.seen.counters[0].at if now.seen.counters else 0,
    )


def _curves(looks: Sequence[Counters]) -> tuple[Curve, ...]:
    """The shares of the redo log and the buffer pool, over the looks that are kept."""
    if len(looks) < FEWEST_LOOKS:
        return ()
    step = -(-len(looks) // MOST_POINTS)
    chosen = [*looks[:-1:step], looks[-1]]
    span = (chosen[0].at, chosen[-1].at)
    return (
        _share_curve("redo", "Redo log in use", [(each.at, each.redo_share) for each in chosen], span),
        _share_curve("dirty", "Buffer pool dirty", [(each.at, each.dirty_share) for each in chosen], span),
    )


def _share_curve(style: str, name: str, values: Points, span: tuple[float, float]) -> Curve:
    most = max((share for _, share in values if share is not None), default=0.0)
    return Curve(style, name, _points(values, span), f"up to {most:.0%}".replace("%", " %"))


def _points(values: Points, span: tuple[float, float]) -> str:
    """The points of a polyline of shares in a picture of WIDTH by HEIGHT."""
    begin, end = span
    placed = ((WIDTH * (at - begin) / (end - begin), min(1.0, share)) for at, share in values if share is not None)
    return " ".join(f"{x:.0f},{HEIGHT - 2 - (HEIGHT - 4) * share:.0f}" for x, share in placed)


def _running(last: Snapshot) -> int | None:
    """The statements that run now, without the look itself; None if the account does not see those of others."""
    return sum(bool(each.statement) for each in last.sessions) if last.sees_others else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
