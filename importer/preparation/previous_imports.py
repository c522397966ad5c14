"""Reads earlier imports into a table, with which the planner decides."""

from importer.engine.plan.previous_imports import Past, PastImport
from importer.models import ImportJob, Target
from importer.models.outcomes.attempts import speed_of
from importer.models.outcomes.own_pace import job_at_own_pace

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
