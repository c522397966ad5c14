"""Writes the record of a job that has ended: the facts by which the history compares settings with timings.

Its attempt in the trace of the import as well, if traces are on.
"""

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from config.telemetry import traces
from importer.history.chunks import timings
from importer.history.collect import chunks_of, facts_of
from importer.history.facts import FACTS, Value
from importer.history.regressions import compare_with_peers
from importer.jobs.bulk import insert_each
from importer.models import ImportJob, JobFact, JobRecord
from importer.models.outcomes import outcome_words
from importer.notifications.import_events import import_recorded

log = logging.getLogger(__name__)

MOST_AT_ONCE = 50


def write_record_on_commit(job: ImportJob) -> None:
    """Write the record of the ended job after the commit of its end. An error in it does not undo the end."""
    transaction.on_commit(partial(_write, job), robust=True)


def trace_on_commit(job: ImportJob) -> None:
    """Add the attempt that has ended to the import's trace, after the commit of its end."""
    if traces.are_sent():
        transaction.on_commit(partial(_trace, job), robust=True)


def _trace(job: ImportJob) -> None:
    times = job.attempt_started_at or job.created_at, job.finished_at or timezone.now()
    about: dict[str, traces.Attribute] = {
        "job": job.pk,
        "attempt": job.attempts,
        "target": job.target.name,
        "table": f"{job.schema_name}.{job.table_name}",
        "outcome": outcome_words(job),
        "bytes": job.committed_bytes,
        "rows": job.accounted_rows,
    }
    traces.add_attempt(job.trace, times, about, str(job.problem.get("kind", "")))


def write_record(job_id: int) -> None:
    """Write the record of a job that has ended. It replaces the record of an earlier try."""
    job = ImportJob.objects.select_related("target", "source").filter(pk=job_id).first()
    if job and job.ended:  # It may have been retried since.
        _write(job)


def _write(job: ImportJob) -> None:
    if job.trial_id:
        return  # The lab stores its figures.
    try:
        facts, details = _facts_and_details(job)
    except Exception:
        # An empty record, so that the sweeper does not retry it for ever.
        log.exception("%s: its record stays empty", job)
        facts, details = {"job": job.pk}, {"reasons": [], "changed": [], "chunk_timings": {}}
    with transaction.atomic():
        defaults = details | of_job(job) | {"past_keys": _past_keys(job)}
        record, _ = JobRecord.objects.update_or_create(job=job, defaults=defaults)
        record.facts.all().delete()
        named = fact_values(facts)
        insert_each(
            JobFact, [{"name": name, "record": record.pk, "number": n, "text": text} for name, n, text in named]
        )
        if facts.get("slower_than_like"):
            import_recorded(job)


def record_backup_restored(job_id: int) -> None:
    """Change the job's record, if there is one: the old table is back, which happens long after the end."""
    for record in JobRecord.objects.filter(pk=job_id):
        ((name, number, text),) = fact_values({"restored": True})
        record.facts.update_or_create(name=name, defaults={"number": number, "text": text})


def _facts_and_details(job: ImportJob) -> tuple[dict[str, Value], dict[str, Any]]:
    """The job's facts, and the other fields of its record."""
    facts = facts_of(job, chunks_of(job))
    judged = compare_with_peers(facts)
    changed = [each.as_json() for each in judged.changed] if judged else []
    details = {
        "reasons": job.plan_json.get("reasons", []),
        "changed": changed,
        "chunk_timings": timings.to_keep(job),
    }
    return facts | (judged.facts if judged else {}), details


def _past_keys(job: ImportJob) -> list[str]:
    """The keys that the job had in the target's ledger before its present one."""
    earlier = JobRecord.objects.filter(pk=job.pk).first()
    if earlier is None or earlier.key in (None, job.key):
        return earlier.past_keys if earlier else []
    return [*earlier.past_keys, str(earlier.key)]


def of_job(job: ImportJob) -> dict[str, Any]:
    """The values of the job that its record keeps in addition to facts, because the record outlives the job."""
    return {
        "target_id": job.target_id,
        "schema_name": job.schema_name,
        "table_name": job.table_name,
        "created_by_id": job.created_by_id,
        "key": job.key,
        "ended_at": job.finished_at,
        "ledger_removed": False,
    }


def fact_values(facts: dict[str, Value]) -> Iterator[tuple[str, float | None, str]]:
    """Name, number and text of each fact, as JobFact stores them."""
    for name, value in facts.items():
        if FACTS[name].kind.is_number:
            yield name, float(value), ""
        else:
            yield name, None, str(value)[: JobFact.LONGEST_TEXT]


def jobs_without_record(most: int = MOST_AT_ONCE) -> list[int]:
    """At most `most` jobs that have ended without a record, the latest first.

    Writing failed when they ended, or they are older than records: then they lack the initial conditions of table and
    server, which newer plans store (planner/initial_conditions.py).
    """
    ended = ImportJob.objects.filter(status__in=ImportJob.ENDED, trial=None, record=None)
    return list(ended.order_by("-pk").values_list("pk", flat=True)[:most])
