"""What a restored database must not continue: the time since the backup is unknown to it.

Files that were loaded after the backup would be loaded again by schedules, and imports that have ended since would go
on. So schedules are paused, and imports, runs and labs that were under way have failed; a retry of an import loads only
what the target's ledger does not have.
"""

from django.contrib.sessions.models import Session
from django.db.models import Value
from django.db.models.functions import Concat, Substr
from django.utils import timezone

from importer.engine.errors import Problem, UnderWayInBackup
from importer.management.backup.manifest import Manifest
from importer.models import Chunk, DiscoveredFile, ImportJob, Lab, Schedule, ScheduleRun, SourceFile

Outcome = DiscoveredFile.Outcome
UNDER_WAY = UnderWayInBackup(
    "The import was under way when the backup was made from which this installation was restored.",
    advice="Look at the table; then retry the import: it loads only what the target's ledger does not have.",
)
LAB_UNDER_WAY = Problem(
    "The lab was under way when the backup was made from which this installation was restored, and its sample is not in"
    " the backup.",
    advice="Start a new lab of the same file.",
)


def adjust(alias: str, manifest: Manifest, uploads: str) -> None:
    """Change the restored database of this connection: paths below `uploads`, nothing under way, everybody signed out.

    Updates alone, of columns that tables of an earlier state have, too.
    """
    _end_imports(alias)
    _end_runs(alias)
    _end_labs(alias)
    Schedule.objects.using(alias).update(paused=True, next_due_at=None)
    Session.objects.using(alias).all().delete()
    moved = Concat(Value(uploads), Substr("path", len(manifest.uploads) + 1))
    inside = SourceFile.objects.using(alias).filter(owned=True, path__startswith=f"{manifest.uploads}/")
    inside.update(path=moved)


def _end_imports(alias: str) -> None:
    # What waits for approval has not begun, and still waits.
    jobs = ImportJob.objects.using(alias).exclude(status__in=(*ImportJob.ENDED, ImportJob.Status.UNAPPROVED))
    # Failing undoes the temporary changes on the target, and ends (importer/jobs/lifecycle.py). A session's id is
    # somebody else's by now.
    free = {"step": "", "step_lease": None, "step_connection_id": None}
    jobs.exclude(status=ImportJob.Status.CANCELLING).update(
        status=ImportJob.Status.FAILING, problem=UNDER_WAY.as_json(), **free
    )
    jobs.update(**free)
    in_flight = Chunk.objects.using(alias).filter(status__in=Chunk.IN_FLIGHT)
    in_flight.update(status=Chunk.Status.PENDING, lease=None, connection_id=None)


def _end_runs(alias: str) -> None:
    problem = UNDER_WAY.as_json()
    runs = ScheduleRun.objects.using(alias).exclude(status__in=ScheduleRun.ENDED)
    files = DiscoveredFile.objects.using(alias).filter(run__in=runs.values("pk"))
    files.filter(outcome=Outcome.LOADING).update(outcome=Outcome.FAILED, problem=problem)
    files.filter(outcome__in=(Outcome.FOUND, Outcome.FETCHED)).update(outcome=Outcome.LEFT)
    runs.update(
        status=ScheduleRun.Status.CANCELLED,
        note="ended by a restored backup",
        schedule_claim=None,
        lease=None,
        finished_at=timezone.now(),
    )


def _end_labs(alias: str) -> None:
    # What waits has made nothing. Ending removes what the others have made (importer/lab/lifecycle.py).
    labs = Lab.objects.using(alias).exclude(status__in=(*Lab.ENDED, Lab.Status.WAITING))
    labs.exclude(status=Lab.Status.ENDING).update(
        status=Lab.Status.ENDING, becomes=Lab.Status.FAILED, problem=LAB_UNDER_WAY.as_json(), waits_for=""
    )
    labs.update(lease=None, connection_id=None)
