"""Reads earlier imports into a table: those with which the planner decides, and the one that had the same content."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef, Q, QuerySet

from importer.access.policy import seen
from importer.engine.errors import LoadedBefore
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.plan.previous_imports import EarlierLoad, Past, PastImport
from importer.engine.target.write_modes import SWAPPING
from importer.models import ImportJob, SourceFile, Target
from importer.models.outcomes import COMPLETE_IMPORTS
from importer.models.outcomes.attempts import speed_of
from importer.models.outcomes.own_pace import job_at_own_pace
from importer.sources.uploads import imports_of

# Only imports of similar size are compared: a small one ends before its second session has begun.
SMALLER, LARGER = 0.25, 4.0
MOST_RUNS = 50
# The larger values of an import that say nothing of its speed. Reading those of 50 imports takes longer than planning.
UNREAD = ("dialect_json", "mapping_json", "reading_json", "new_table_json", "lines_json", "reject_reasons", "notices")


def past(target: Target, schema: str, table: str, mode: str, data_bytes: int) -> Past:
    """The latest imports into the table that succeeded at their own pace, in the mode, with about as many bytes."""
    jobs = (
        ImportJob.objects.filter(
            target=target,
            schema_name=schema,
            table_name=table,
            status=ImportJob.Status.SUCCEEDED,
            options_json__mode=mode,
            rows_per_second__gt=0,
        )
        .select_related("source")
        .defer(*UNREAD)
    )
    latest = [job for job in jobs.order_by("-pk")[:MOST_RUNS] if job_at_own_pace(job)]
    return Past(tuple(_run(job) for job in latest if SMALLER <= job.data_bytes / max(1, data_bytes) <= LARGER))


def _run(job: ImportJob) -> PastImport:
    plan = job.plan_json
    deferred = (plan.get("arrangement") or {}).get("keys") or (plan.get("staged") or {}).get("later")
    speed = speed_of(job)
    rate = (speed and speed.overall_rows_per_second) or job.rows_per_second or 0.0
    return PastImport(plan["method"], "defer" if deferred else "keep", job.parallelism, rate)


def earlier_load(source: SourceFile, target: Target, schema: str, table: str, mode: str) -> EarlierLoad | None:
    """The newest import that has loaded this content into the table, if its rows are still meant to be there.

    One that failed, was cancelled or was restored has loaded nothing in that sense, and neither has one whose table
    another import has replaced since. Mode create makes a table without any rows. A content that is still arriving is
    not known.
    """
    if mode == "create":
        return None
    complete = imports_of_content(source, target, schema, table) & COMPLETE_IMPORTS
    job = complete.exclude(rows_gone()).select_related("created_by").order_by("-pk").first()
    if job is None:
        return None
    by = job.created_by.get_username() if job.created_by and seen(ImportJob.objects.filter(pk=job.pk)) else ""
    at = job.finished_at or job.created_at
    return EarlierLoad(job.pk, at.isoformat(timespec="seconds"), by, job.rows_in_table)


def noted(plan: ImportPlan, earlier: EarlierLoad | None) -> ImportPlan:
    """The plan, which says that there was an earlier load."""
    if earlier is None:
        return plan
    note = Reason(earlier.words, "the same content, into the same table; refused with --once", option="once")
    return replace(plan, loaded_before=earlier, reasons=(note, *plan.reasons))


def refuse_repeated(source: SourceFile, plan: ImportPlan, options: Options) -> None:
    """Raise LoadedBefore if an earlier import has loaded the content of an import that is to load it once."""
    if options.once and (earlier := plan.loaded_before):
        raise LoadedBefore(
            f"{earlier.words}, and is not to be repeated.",
            where=source.name,
            advice=f"Its rows are in {plan.schema}.{plan.final_table}. To load them once more: --no-once",
            option="once",
            earlier=earlier,
        )


def imports_of_content(source: SourceFile, target: Target, schema: str, table: str) -> QuerySet[ImportJob]:
    """All imports that read the content, by itself or with other files, into the table."""
    same = files_of_content(source.files)
    return imports_of(*same).filter(target=target, schema_name=schema, table_name=table, trial=None)


def files_of_content(files: Sequence[SourceFile]) -> QuerySet[SourceFile]:
    """The rows of all files with the content of one of these, also those whose bytes are deleted."""
    known = {(each.fingerprint, each.size) for each in files if each.fingerprint}
    found = SourceFile.objects.filter(fingerprint__in={digest for digest, _ in known})
    return found.filter(size__in={size for _, size in known})


def rows_gone() -> Exists | Q:
    """The condition for imports whose rows went away with the table: another import has put one in its place.

    That import counts if it was not restored. If it was, only those that loaded between it and its restore have lost
    their rows.
    """
    same = ImportJob.objects.filter(
        target=OuterRef("target"), schema_name=OuterRef("schema_name"), table_name=OuterRef("table_name"), trial=None
    ).exclude(pk=OuterRef("pk"))
    swapped = same.filter(options_json__mode__in=SWAPPING, staging__in=ImportJob.FINISHED)
    stays = swapped.filter(restored_at=None, loaded_at__gt=OuterRef("loaded_at"))
    between = swapped.filter(loaded_at__lt=OuterRef("loaded_at"), restored_at__gt=OuterRef("loaded_at"))
    return Q(Exists(stays)) | Q(Exists(between))
