"""What the page Storage shows an admin: the room that is used and free, and how long everything is kept."""

from dataclasses import dataclass
from datetime import datetime

from importer.models import ImportJob, Target
from importer.retention import ended_jobs, policies
from importer.retention import storage_use as figures

IMPORTS_SHOWN = 20


@dataclass(frozen=True)
class Overview:
    """The use of disk and memory, and what is kept. Sizes are bytes.

    `memory`: of Redis, None if it does not answer. `rejects`: the imports with the most rejected rows on the disk.
    `staying`: imports whose days are over, and which something needs. `unreached`: targets whose ledger could not be
    cleaned.
    """

    taken: list[figures.Taken]
    memory: int | None
    disks: list[figures.DiskRoom]
    rejects: list[figures.RejectFolder]
    staying: list[ImportJob]
    policies: list[policies.InForce]
    unreached: list[Target]


def overview(now: datetime) -> Overview:
    """The overview at this moment."""
    return Overview(
        taken=[*figures.folders(), *figures.store(), *figures.staged(), *figures.database()],
        memory=figures.memory(),
        disks=figures.disks(),
        rejects=figures.largest_rejects(),
        staying=ended_jobs.staying(now, IMPORTS_SHOWN),
        policies=policies.all_in_force(),
        unreached=list(Target.objects.exclude(ledger_problem="").order_by("name")),
    )
