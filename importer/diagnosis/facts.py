"""What the application knows about an import, in plain values for the engine's causes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Max, Min, Q
from django.utils import timezone

from importer import queue
from importer.engine.mysql.diagnosis.facts import Facts, Recent, Sessions, Workers
from importer.engine.plan.option_specs import LOW
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import format_of
from importer.jobs.lifecycle import table_owner
from importer.jobs.lock_waits import connections_into
from importer.models import Chunk, ImportJob
from importer.models.outcomes.phases import last_sign, seconds_ahead
from importer.models.outcomes.step_kinds import QUEUED
from importer.queue import queue_of
from importer.sources.room import fullest_disk, in_words
from importer.worker import live_progress
from importer.worker.hosts import presence

Status = ImportJob.Status
# The figures of recent chunks are those of the last RECENT_SECONDS.
RECENT_SECONDS = 30


def facts_of(job: ImportJob) -> Facts:
    """The facts of an import, with a few short queries. The import has its target and source."""
    now = timezone.now()
    known = Facts(job.pk, job.status, job.schema_name, job.table_name, job.target.name, ahead=seconds_ahead(job, now))
    if job.status in (Status.WAITING, Status.UNAPPROVED, Status.PAUSED):
        owner = table_owner(job)
        silent = None if job.status != Status.WAITING else silent_since(job, now)
        return replace(known, owner=owner.pk if owner else 0, silent_since=silent)
    connections = connections_into(job.target_id)
    sessions = _sessions(job)
    disk = fullest_disk()
    arriving = job.source.arriving
    return replace(
        known,
        connections=tuple(each for each, number in connections.items() if number == job.pk),
        others={each: number for each, number in connections.items() if number != job.pk},
        workers=_workers(job, now),
        sessions=sessions,
        recent=_recent(job, now),
        problem=_problem(job, now),
        arrived=job.source.received if arriving else 0,
        size=job.source.size if arriving else 0,
        full_disk=in_words(disk.folder) if disk.is_full else "",
        busy=live_progress.busy_share(job.pk),
        work=tuple(_work(job)),
        network=job.target.bytes_per_second,
        low=job.options.priority == LOW,
        left_to_command=_left_to_command(job),
        registered=not job.target.by_url,
        silent_since=silent_since(job, now),
        still=still_seconds(job, now),
        age=(now - job.started_at).total_seconds() if job.started_at else 0,
    )


def still_seconds(job: ImportJob, now: datetime) -> float:
    """For how long no byte of the import has moved although workers load it; 0 if none does, or if nobody knows."""
    if job.status != Status.LOADING or not queue.is_running():
        return 0.0
    chunks = job.chunks.aggregate(
        begun=Max("started_at", filter=Q(status=Chunk.Status.LOADING)), loaded=Max("finished_at")
    )
    if chunks["begun"] is None:
        return 0.0
    moved = max(live_progress.moved_at(job.pk), *(each.timestamp() for each in chunks.values() if each))
    return float(max(0.0, now.timestamp() - moved))


def silent_since(job: ImportJob, now: datetime) -> datetime | None:
    """When a process last worked on the import, if that is longer ago than a lease, and no worker runs; else None."""
    last = last_sign(job, now)
    if job.ended or 0 <= (now - last).total_seconds() < settings.LEASE_SECONDS or job.source.arriving:
        return None
    return None if presence.parallel_loads(job.target.label) else last


def _left_to_command(job: ImportJob) -> bool:
    """Whether nobody works on the import, and this process lacks its target's password, as workers do."""
    idle = not job.step or job.step in QUEUED
    return idle and job.target.lacks_password and not job.chunks.filter(status=Chunk.Status.LOADING).exists()


def _sessions(job: ImportJob) -> Sessions:
    loading = Chunk.objects.filter(status=Chunk.Status.LOADING, job__target=job.target_id)
    by_job = Counter(number for number, _ in loading.order_by().values_list("job_id", "run").distinct())
    pending = job.chunks.filter(status=Chunk.Status.PENDING).count() if job.status == Status.LOADING else 0
    return Sessions(job.parallelism, by_job[job.pk], job.target.ceiling, by_job.total(), pending)


def _workers(job: ImportJob, now: datetime) -> Workers:
    """What is known about the workers for the import's next work."""
    queued = job.chunks.filter(status=Chunk.Status.QUEUED).aggregate(Min("lease"))["lease__min"]
    task = "load_run"
    if not queued and job.step in QUEUED:
        queued, task = job.step_lease, QUEUED[job.step].task
    label = job.target.label
    places, older = presence.parallel_loads(label), _older_workers(job)
    if not queued:
        return Workers(places=places, older=older, label=label)
    # Queued work has a lease, too: after that it is queued again.
    waited = settings.LEASE_SECONDS - (queued - now).total_seconds()
    served: bool | None = None
    with live_progress.ignoring_redis_errors():
        served = queue_of(task, label) in presence.served_queues()
    loading = Chunk.objects.filter(status=Chunk.Status.LOADING, job__target__label=label)
    taken = loading.order_by().values("run").distinct().count()
    return Workers(max(0.0, waited), served, places, taken, older, label)


def _older_workers(job: ImportJob) -> tuple[str, ...]:
    """The names and versions of the live workers for the job's target if none of them knows its plan; else none."""
    workers: list[presence.Worker] = []
    if queue.is_running():
        with live_progress.ignoring_redis_errors():
            workers = [each for each in presence.live_workers() if each.works_for(job.target.label)]
    needed = format_of(job.plan_json)
    if any(each.plan_format >= needed for each in workers):
        return ()
    return tuple(f"{each.name} ({each.version or 'of an unknown version'})" for each in workers)


def _recent(job: ImportJob, now: datetime) -> Recent:
    """The chunks that were loaded within the last RECENT_SECONDS."""
    if job.status != Status.LOADING:
        return Recent()
    since = now - timedelta(seconds=RECENT_SECONDS)
    loaded = job.chunks.filter(status=Chunk.Status.LOADED, finished_at__gt=since)
    found = list(loaded.order_by().values_list("length", "rows", "timings"))
    phases: Counter[str] = Counter()
    for _, _, timings in found:
        phases.update(timings)
    return Recent(len(found), sum(each[0] for each in found), sum(each[1] for each in found), dict(phases))


def _work(job: ImportJob) -> Iterator[str]:
    """What the table that the chunks load into adds to each row, in words."""
    plan = job.plan
    counts = {"secondary key": _keys(plan)}
    # A staging table has neither (manual, CREATE TABLE ... LIKE).
    if not plan.staged:
        unchecked = job.unchecked_json or not job.options.foreign_key_checks
        counts["foreign key"] = 0 if unchecked else int(plan.seen.get("table_foreign_keys", 0))
        counts["trigger"] = int(plan.seen.get("insert_triggers", 0))
    return (f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count)


def _keys(plan: ImportPlan) -> int:
    """The secondary keys that are on during the load."""
    staged, changes = plan.staged, plan.temporary_changes
    # Only these modes load into a table with the keys of the target table; `settle` enables keys afterwards.
    if staged and (staged.settle or staged.mode not in ("create", "replace")):
        return 0
    off = len(staged.later) if staged else len(changes.keys) if changes else 0
    return max(0, int(plan.seen.get("secondary_keys", 0)) - off)


def _problem(job: ImportJob, now: datetime) -> Mapping[str, Any]:
    """Why the last attempt failed, if it is going to be repeated."""
    if job.obstacle:
        found: Mapping[str, Any] = job.obstacle
        return found
    again = job.chunks.filter(~Q(problem={}), status=Chunk.Status.PENDING, lease__gt=now)
    failed: Mapping[str, Any] = again.values_list("problem", flat=True).first() or {}
    return failed
