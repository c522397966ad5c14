"""The waits of an import for locks of others: recorded while they last, and named afterwards.

An import waits for a lock while all its connections do: as long as one of them loads, it goes on.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer.engine.mysql.connection import Connection
from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.causes.locks import lock_of_all
from importer.engine.mysql.diagnosis.facts import Facts
from importer.engine.mysql.diagnosis.snapshot import read_snapshot
from importer.lease import change
from importer.models import Chunk, ImportJob
from importer.models.outcomes.phases import LOCKABLE, locked_in

# Waits for the same lock with less between them are one; a job keeps so many of them.
LEAST_GAP = timedelta(seconds=5)
MOST_KEPT = 100


def connections_into(target_id: int) -> dict[int, int]:
    """The connections of all imports into the target, with the import's number."""
    steps = ImportJob.objects.filter(target=target_id, step_connection_id__isnull=False)
    runs = Chunk.objects.filter(status=Chunk.Status.LOADING, job__target=target_id).order_by()
    found = (*steps.values_list("step_connection_id", "pk"), *runs.values_list("connection_id", "job_id").distinct())
    return {connection: number for connection, number in found if connection}


def look(job: ImportJob, connection_id: int, server: Connection, since: datetime) -> None:
    """Look at the server once. If the import waits for a lock, record that it has done so, from `since` on at most.

    `connection_id`: that of the caller's work.
    """
    every = {**connections_into(job.target_id), connection_id: job.pk}
    own = tuple(each for each, number in every.items() if number == job.pk)
    others = {each: number for each, number in every.items() if number != job.pk}
    facts = Facts(
        job.pk, schema=job.schema_name, table=job.table_name, target=job.target.name, connections=own, others=others
    )
    evidence = Evidence(facts, read_snapshot(server))
    if lock := lock_of_all(evidence):
        # The server counts whole seconds.
        waited = timedelta(seconds=min(each.seconds for each in evidence.own) + 1)
        _record(job.pk, lock, max(since, timezone.now() - waited))


def _record(job_id: int, lock: Explanation, since: datetime) -> None:
    """Count the time from `since` until now as waiting for the lock, and no more as that of the job's status."""
    now = timezone.now()
    rows = ImportJob.objects.filter(pk=job_id, status__in=LOCKABLE, phase_since__isnull=False)
    with transaction.atomic():
        fields = ("status", "attempts", "phases_json", "phase_since", "lock_waits_json")
        job = rows.select_for_update().only(*fields).first()
        if job is None or job.phase_since is None:
            return
        waits = list(job.lock_waits_json or [])
        last = waits[-1] if waits else None
        # Several workers may have seen the same wait.
        counted = datetime.fromisoformat(last["until"]) if last else since
        began = max(since, job.phase_since, counted)
        seconds = round((now - began).total_seconds(), 3)
        if seconds <= 0:
            return
        if last and began - counted < LEAST_GAP and _is_of(last, job, lock):
            waits[-1] = {**last, "seconds": round(last["seconds"] + seconds, 3), "until": now.isoformat()}
        else:
            waits.append(_wait(job, lock, began, now, seconds))
        status, locked = str(job.status), locked_in(job.status)
        spent = {status: 0.0, locked: 0.0, **job.phases_json}
        spent |= {status: round(spent[status] - seconds, 6), locked: round(spent[locked] + seconds, 6)}
        building = {"index_seconds": F("index_seconds") - seconds} if job.status == ImportJob.Status.INDEXING else {}
        change(rows, phases_json=spent, lock_waits_json=waits[-MOST_KEPT:], **building)


def _is_of(wait: dict[str, Any], job: ImportJob, lock: Explanation) -> bool:
    same = (wait["cause"], wait["holder"]) == (lock.cause, lock.holder)
    return same and (wait["attempt"], wait["during"]) == (job.attempts, job.status)


def _wait(job: ImportJob, lock: Explanation, began: datetime, until: datetime, seconds: float) -> dict[str, Any]:
    """As the report has it. Statements of others are not kept: they can contain their data."""
    return {
        "cause": lock.cause,
        "what": lock.what,
        "holder": lock.holder,
        "account": lock.account,
        "attempt": job.attempts,
        "during": str(job.status),
        "since": began.isoformat(),
        "until": until.isoformat(),
        "seconds": seconds,
    }
