"""Some chunks of an import, as the chunk map shows them on a click: who loaded them, when, how, and what went wrong."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.jobs.chunk_timings import lap_title, seconds_of
from importer.engine.load.chunk_load import statements_of
from importer.history.chunks.timings import LAPS
from importer.models import Chunk, ImportJob

MOST_SHOWN = 50


@dataclass(frozen=True)
class Process:
    """A process that loads chunks: its id and its host."""

    number: str
    host: str


def process_of(worker: str) -> Process | None:
    """The process that Chunk.worker names; None before one has claimed the chunk."""
    number, _, host = worker.partition("@")
    return Process(number, host) if host else None


@dataclass(frozen=True)
class ChunkDetails:
    """A chunk with what its page part computes from it."""

    chunk: Chunk
    job: ImportJob

    @property
    def seconds(self) -> float | None:
        """The seconds of its load, with the connecting before it; None if it is not loaded."""
        return seconds_of(self.chunk) if self.is_loaded else None

    @property
    def colour(self) -> str:
        """The chunk map's class for its status."""
        return "speed-3" if self.is_loaded else self.chunk.status

    @property
    def started_at(self) -> datetime | None:
        """When its last attempt began; None before the first one. A claim that was given back has left its time."""
        return self.chunk.started_at if self.chunk.attempt else None

    @property
    def is_loaded(self) -> bool:
        return self.chunk.status == Chunk.Status.LOADED

    @property
    def rows_per_second(self) -> float | None:
        return self.chunk.rows / self.seconds if self.seconds else None

    @property
    def process(self) -> Process | None:
        """Who loads or has loaded it. A chunk that waits for its next attempt names the process of the last one."""
        return process_of(self.chunk.worker)

    @property
    def laps(self) -> list[tuple[str, float]]:
        """What its load consisted of: titles and seconds."""
        spent = self.chunk.timings
        return [(lap_title(each), spent[each]) for each in LAPS if each in spent]

    @cached_property
    def sql(self) -> str:
        """The statement that loads it."""
        return statements_of(self.job.plan, self.job.options, self.chunk.range).plain


@require_safe
@never_cache
def chunks(request: HttpRequest, pk: int, first: int, last: int) -> HttpResponse:
    """The chunks from `first` to `last`: one with all its details, several as a table."""
    job = get_object_or_404(ImportJob.objects.select_related("source", "target"), pk=pk)
    found = job.chunks.filter(number__gte=first, number__lte=last)
    shown = [ChunkDetails(each, job) for each in found[:MOST_SHOWN]]
    if shown:
        first, last = shown[0].chunk.number, shown[-1].chunk.number
    context = {"job": job, "first": first, "last": last, "shown": shown, "found": found.count()}
    htmx = request.htmx  # type: ignore[attr-defined]
    return render(request, "jobs/cards/_chunks.html" if htmx else "jobs/cards/chunks.html", context)
