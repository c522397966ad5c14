"""Other imports into one table: those under way, of which one at a time loads, and those that have worked on it."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from importer.access.policy import seen
from importer.engine.errors import LoadedInPart, Problem
from importer.engine.target.write_modes import SWAPPING
from importer.models import Attempt, Chunk, ImportJob, SourceFile, Target
from importer.models.job import ROWS_IN_TABLE
from importer.preparation.prepare import PreparedImport
from importer.preparation.previous_imports import (
    earlier_load,
    files_of_content,
    imports_of_content,
    noted,
    refuse_repeated,
    rows_gone,
)

MOST_NAMED = 3
# Of an import that has ended and is not complete.
_INCOMPLETE: dict[str, str] = {
    ImportJob.Status.SUCCEEDED: "does not balance",
    ImportJob.Status.FAILED: "has failed",
    ImportJob.Status.CANCELLED: "was cancelled",
}
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
    # Of an import that was retried and has not got the table since, only earlier attempts have begun.
    earlier = Exists(Attempt.objects.filter(job=OuterRef("pk"), started_at__gte=moment))
    begun = Q(started_at__gte=moment) | Q(attempt_started_at__gte=moment) | Q(earlier)
    return others_of_table(job).filter(begun)


def why_rows_are_gone(job: ImportJob) -> Problem | None:
    """The problem if the rows that the job has committed went away with its table; None if a retry can count on them.

    Another import has put a table in the place of the one that they went into, and that one was not restored.
    """
    if job.restored_at:
        return Problem(
            f"What was there before was put back after this import: its rows are no longer in {job.table}.",
            where=str(job),
            advice=_AS_NEW,
        )
    if job.stages and not job.finished:
        return None
    first = job.chunks.filter(status=Chunk.Status.LOADED).aggregate(at=Min("finished_at"))["at"]
    swapped = others_of_table(job).filter(options_json__mode__in=SWAPPING, staging__in=ImportJob.FINISHED)
    later = swapped.filter(restored_at=None, loaded_at__gte=first).order_by("pk").last() if first else None
    if later is None:
        return None
    return Problem(
        f"Import {later.pk} has put another table in the place of {job.table}, and the rows that this import had loaded"
        " before went away with the old one.",
        where=str(job),
        advice=_AS_NEW,
    )


def require_once(prepared: PreparedImport) -> None:
    """Raise LoadedBefore or LoadedInPart unless the import is the first of its content into the table.

    Until the transaction ends, no other request looks whether it is.
    """
    source, target, options = prepared.source, prepared.target, prepared.options
    schema, table = prepared.table.schema, prepared.table.name
    list(files_of_content(source.files).select_for_update().order_by("pk").values_list("pk"))
    earlier = earlier_load(source, target, schema, table, options.mode)
    refuse_repeated(source, noted(prepared.plan, earlier), options)
    if options.mode != "create":
        _refuse_begun(source, target, schema, table)


def _refuse_begun(source: SourceFile, target: Target, schema: str, table: str) -> None:
    """Raise LoadedInPart if an import of the content is under way, or has ended with some of its rows in the table.

    A second import could load rows twice. Raises it also while the content is not known.
    """
    if not source.fingerprint:
        raise LoadedInPart(
            "The file is still arriving, and only the whole of it shows whether it was loaded before.",
            where=source.name,
            advice="Start the import when all of it has arrived.",
            retryable=True,
            option="once",
        )
    incomplete = imports_of_content(source, target, schema, table).exclude(
        status=ImportJob.Status.SUCCEEDED, balanced=True
    )
    begun = incomplete.exclude(rows_gone()).alias(rows=ROWS_IN_TABLE)
    left_rows = Q(rows__gt=0) & (Q(options_json__mode="append") | Q(staging__in=ImportJob.FINISHED))
    job = begun.filter(~Q(status__in=ImportJob.ENDED) | left_rows).order_by("-pk").first()
    if job:
        raise _in_part(job, source)


def _in_part(job: ImportJob, source: SourceFile) -> Problem:
    if not job.ended:
        return LoadedInPart(
            f"Import {job.pk} is loading the same content into {job.table}, and this import is to load it once.",
            where=source.name,
            advice=f"Wait until import {job.pk} has ended.",
            retryable=True,
            option="once",
        )
    ended = f"Import {job.pk} of the same content {_INCOMPLETE[job.status]}"
    return LoadedInPart(
        f"{ended}, and {job.rows_in_table:,} of its rows are in {job.table}.",
        where=source.name,
        advice=f"Retry it, which loads the rest: millrace job retry {job.pk}. To load all rows once more: --no-once",
        option="once",
    )
