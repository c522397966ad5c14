"""The imports that have slots or want some, as the database knows them (sharing/shares.py decides)."""

from collections.abc import Iterator
from dataclasses import replace

from django.db.models import Count, Exists, Min, OuterRef, QuerySet
from django.utils import timezone

from importer.engine.plan.option_specs import NORMAL
from importer.jobs.sharing.shares import Claimant, fair_shares, must_yield, next_in_line
from importer.jobs.transitions import Status
from importer.models import Chunk, ImportJob

# Of an import, in the application's database.
PRIORITY = "options_json__priority"


def others_wait(job: ImportJob, *, loading: bool) -> bool:
    """Whether a slot of the job must go to another job, whose chunks wait for one.

    `loading`: a run of the job still loads in the slot.
    """
    if not _in_flight(job.target.label).filter(status=Chunk.Status.QUEUED).exclude(job=job).exists():
        return False
    claimants = {each.job: each for each in _claimants(job.target.label)}
    own = claimants.pop(job.pk, Claimant(job.pk, job.asked_by_id, 0, 0, priority=job.options.priority))
    return must_yield(replace(own, loads=max(0, own.loads - loading)), list(claimants.values()))


def fairest_chunk(chunk_id: int) -> int:
    """The queued chunk that a free slot is for: the first one of the job that is next in line.

    The same chunk if its own job is, if it is no longer queued, or if its job's file is not to be seen on some hosts:
    then its message was addressed.
    """
    message = Chunk.objects.filter(pk=chunk_id).values_list("job_id", "job__target__label").first()
    if message is None:
        return chunk_id
    own, label = message
    queued = _in_flight(label).filter(status=Chunk.Status.QUEUED, job__left_out_json=[])
    if not queued.filter(pk=chunk_id).exists() or not queued.exclude(job=own).exists():
        return chunk_id
    everywhere = set(queued.values_list("job_id", flat=True).distinct())
    claimants = list(_claimants(label))
    chosen = next_in_line([each if each.job in everywhere else replace(each, wants=each.loads) for each in claimants])
    if chosen is None or chosen.job == own:
        return chunk_id
    return queued.filter(job=chosen.job).order_by("number").values_list("pk", flat=True).first() or chunk_id


def _in_flight(label: str) -> QuerySet[Chunk]:
    """The chunks that wait for a worker with the label, or that one loads."""
    return Chunk.objects.filter(status__in=Chunk.IN_FLIGHT, job__target__label=label).order_by()


def _claimants(label: str) -> Iterator[Claimant]:
    """All jobs with chunks in flight. A job wants as many slots as it has, and one for each queued chunk."""
    counted = (
        _in_flight(label)
        .values_list("job_id", "job__asked_by", "status")
        .annotate(Count("run", distinct=True), Min("lease"))
    )
    loads: dict[int, int] = {}
    queued: dict[int, tuple[int, float]] = {}
    persons: dict[int, int | None] = {}
    for job, person, status, runs, lease in counted:
        persons[job] = person
        if status == Chunk.Status.LOADING:
            loads[job] = runs
        else:
            queued[job] = (runs, lease.timestamp() if lease else 0)
    priorities = dict(ImportJob.objects.filter(pk__in=persons).values_list("pk", PRIORITY))
    for job, person in persons.items():
        (waiting, since), loading = queued.get(job, (0, 0)), loads.get(job, 0)
        yield Claimant(job, person, loading, loading + waiting, since, priorities.get(job) or NORMAL)


def share_of_target(job: ImportJob, in_flight: dict[int, int]) -> int:
    """The most runs of the job that may load into its target, or wait for a worker, at once.

    `in_flight`: those of each job on the target. While other jobs want sessions of the target too, the job has its
    fair share of the ceiling.
    """
    claimants = list(_wanting(job, in_flight))
    if not claimants:
        return job.parallelism
    mine = Claimant(job.pk, job.asked_by_id, 0, job.parallelism, job.pk, job.options.priority)
    return fair_shares(job.target.ceiling, [mine, *claimants])[job.pk]


def _wanting(job: ImportJob, in_flight: dict[int, int]) -> Iterator[Claimant]:
    """The other jobs on the target that load into it, or could."""
    others = _others_on_target(job).annotate(has_more=_has_more()).order_by()
    for pk, person, parallelism, priority, has_more in others.values_list(
        "pk", "asked_by", "parallelism", PRIORITY, "has_more"
    ):
        wants = parallelism if has_more else min(parallelism, in_flight.get(pk, 0))
        if wants:
            yield Claimant(pk, person, 0, wants, pk, priority or NORMAL)


def _others_on_target(job: ImportJob) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(target=job.target_id, status=Status.LOADING).exclude(pk=job.pk)


def _has_more() -> Exists:
    """Whether a job has chunks that may be claimed now."""
    due = Chunk.objects.filter(job=OuterRef("pk"), status=Chunk.Status.PENDING)
    return Exists(due.exclude(lease__gt=timezone.now()))


def waiting_for_target(job: ImportJob) -> list[int]:
    """The other jobs that have chunks for the job's target, and may have waited for a session of it."""
    return list(_others_on_target(job).filter(_has_more()).order_by("pk").values_list("pk", flat=True))
