"""Other imports into one table: those under way, of which one at a time loads, and those that have worked on it."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min, Q, QuerySet

from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.target.write_modes import SWAPPING
from importer.models import Chunk, ImportJob, Target
from importer.models.outcomes.attempts import past_attempts

MOST_NAMED = 3
_AS_NEW = "Import the file as a new one: a retry would load only the rows that were missing before."


@dataclass(frozen=True)
class SameTable:
    """Imports under way into one table: at most MOST_NAMED that the acting person may see, the number of all others."""

    named: tuple[ImportJob, ...]
    further: int


def imports_under_way(target: Target, schema: str, table: str, other_than: ImportJob | None = None) -> SameTable:
    """The imports into this table that have not ended, without `other_than`; first the one that has the table."""
    of_table = ImportJob.objects.filter(target=target, schema_name=schema, table_name=table, trial=None)
    others = of_table.exclude(status__in=ImportJob.ENDED).exclude(pk=other_than.pk if other_than else 0)
    keys = list(others.order_by().values_list("pk", flat=True))
    if not keys:
        return SameTable((), 0)
    named = seen(ImportJob.objects.filter(pk__in=keys).select_related("source")).defer("plan_json", "reading_json")
    first = sorted(named, key=lambda job: (job.table_claim is None, job.pk))[:MOST_NAMED]
    return SameTable(tuple(first), len(keys) - len(first))


def others_of_table(job: ImportJob) -> QuerySet[ImportJob]:
    """All other imports into the job's table."""
    of_table = ImportJob.objects.filter(target=job.target_id, schema_name=job.schema_name, table_name=job.table_name)
    return of_table.exclude(pk=job.pk)


def at_work_since(job: ImportJob, moment: datetime) -> QuerySet[ImportJob]:
    """The other imports into the job's table of which an attempt began at that moment or later."""
    others = others_of_table(job)
    # Of an import that was retried and has not got the table since, only the earlier attempts have begun.
    retried = others.filter(attempts__gt=1, attempt_started_at=None).only("past_attempts_json")
    begun = [each.pk for each in retried if any(start >= moment for start in _past_starts(each))]
    return others.filter(Q(started_at__gte=moment) | Q(attempt_started_at__gte=moment) | Q(pk__in=begun))


def why_rows_are_gone(job: ImportJob) -> Problem | None:
    """The problem if the rows that the job has committed went away with its table; None if a retry can count on them.

    Another import has put a table in the place of the one that they went into, and that one was not restored.
    """
    if job.restored_at:
        return Problem(
            f"The old table was restored after this import had replaced it: its rows are no longer in {job.table}.",
            where=str(job),
            advice=_AS_NEW,
        )
    if job.stages and not job.finished:
        return None
    first = job.chunks.filter(status=Chunk.Status.LOADED).aggregate(at=Min("finished_at"))["at"]
    swapped = others_of_table(job).filter(options_json__mode__in=SWAPPING, finished=True, restored_at=None)
    later = swapped.filter(loaded_at__gte=first).order_by("pk").last() if first else None
    if later is None:
        return None
    return Problem(
        f"Import {later.pk} has put another table in the place of {job.table}, and the rows that this import had loaded"
        " before went away with the old one.",
        where=str(job),
        advice=_AS_NEW,
    )


def _past_starts(job: ImportJob) -> list[datetime]:
    return [datetime.fromisoformat(each.started) for each in past_attempts(job) if each.started]
