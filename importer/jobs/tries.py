"""The tries of a job: the first one, and one for each retry. A retry stores the try that it follows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from importer.engine.stored import from_json
from importer.models import Chunk, ImportJob
from importer.models.outcomes import outcome


@dataclass(frozen=True)
class TryChunks:
    """The chunks that a try has loaded, and those on which it failed."""

    loaded: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Try:
    """One try of a job.

    `started`: when it got the table, as ISO 8601, None before that. `ended`, `outcome`: None while it is under way.
    `problem`: what went wrong, as ImportJob.problem, or empty.
    """

    number: int
    started: str | None
    ended: str | None
    outcome: str | None
    problem: Mapping[str, Any] = field(default_factory=dict)
    chunks: TryChunks = TryChunks()


def tries_of(job: ImportJob) -> tuple[Try, ...]:
    """The tries of the job, the first one first. Of jobs of older versions only the last one is known."""
    return *(from_json(Try, each) for each in job.past_tries_json), present_try(job)


def present_try(job: ImportJob) -> Try:
    """The last try of the job, which may be under way."""
    ended = outcome(job)
    # Older versions have no time of the try; that of the job is the first try's.
    started = job.tried_at or (job.started_at if job.tries == 1 else None)
    return Try(
        job.tries,
        _text(started),
        _text(job.finished_at),
        ended.words if ended else None,
        job.problem,
        _chunks(job, started),
    )


def _chunks(job: ImportJob, started: datetime | None) -> TryChunks:
    if started is None:
        return TryChunks()
    if job.chunks_removed_at:
        kept = job.record.kept_chunks
        return TryChunks(kept["loaded"], kept["failed"])
    loaded = job.chunks.filter(status=Chunk.Status.LOADED, finished_at__gte=started)
    return TryChunks(loaded.count(), job.chunks.filter(status=Chunk.Status.FAILED).count())


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
