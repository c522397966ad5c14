"""The hosts of a job: those that do not see its file, and those that have read it."""

from dataclasses import asdict, dataclass

from django.db import transaction

from importer.jobs.transitions import lock, touch
from importer.models import ImportJob


@dataclass(frozen=True)
class LeftOut:
    """A host that does not see `place`, and so gets none of the job's steps that read the file."""

    host: str
    place: str


def left_out(job: ImportJob) -> tuple[LeftOut, ...]:
    """The hosts that are left out of the job, in the order in which they were."""
    return tuple(LeftOut(each["host"], each["place"]) for each in job.left_out_json)


def left_out_hosts(job: ImportJob) -> tuple[str, ...]:
    """The names of the hosts that are left out of the job."""
    return tuple(each.host for each in left_out(job))


def leave_out(job_id: int, host: str, place: str) -> None:
    """Leave the host out of the job from now on, because it does not see `place`. Recorded once for a host."""
    with transaction.atomic():
        lock(job_id)
        job = ImportJob.objects.only("left_out_json").get(pk=job_id)
        if host in left_out_hosts(job):
            return
        job.left_out_json = [*job.left_out_json, asdict(LeftOut(host, place))]
        job.save(update_fields=["left_out_json"])
        touch(job_id)


def reading_hosts(job: ImportJob) -> list[str]:
    """The hosts whose workers have claimed chunks of the job, and are not left out."""
    workers = job.chunks.exclude(worker="").order_by().values_list("worker", flat=True).distinct()
    return sorted({worker.partition("@")[2] for worker in workers} - {*left_out_hosts(job), ""})
