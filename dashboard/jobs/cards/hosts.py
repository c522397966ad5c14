"""The hosts that are left out of an import because they do not see its file, and those that read it."""

from dataclasses import dataclass

from importer.jobs.sharing import hosts as job_hosts
from importer.jobs.sharing.hosts import LeftOut
from importer.models import ImportJob


@dataclass(frozen=True)
class Hosts:
    """The hosts that are `left_out`, and the names of those that have read chunks (`reading`)."""

    left_out: tuple[LeftOut, ...]
    reading: list[str]


def hosts(job: ImportJob) -> Hosts | None:
    """The hosts of the import; None, without a query, if none is left out."""
    left_out = job_hosts.left_out(job)
    return Hosts(left_out, job_hosts.reading_hosts(job)) if left_out else None
