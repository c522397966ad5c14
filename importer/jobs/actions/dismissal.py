"""Notes that nobody needs to look at an import that did not end well, and who has said so."""

from django.db.models import F
from django.utils import timezone

from importer.access.acting import acting_user
from importer.engine.errors import Problem
from importer.models import ImportJob
from importer.models.outcomes import outcome


def dismiss(job_id: int) -> None:
    """Take the import off what needs a person; the acting person is named with it. A retry forgets that.

    Raises Problem for an import that ended well or is under way.
    """
    job = ImportJob.objects.get(pk=job_id)
    ended = outcome(job)
    if not ended or not ended.is_unwell:
        raise Problem("This import needs nobody: it is under way, or it ended well.", str(job))
    same = ImportJob.objects.filter(pk=job_id, attempts=job.attempts, dismissed_at=None)
    same.update(dismissed_at=timezone.now(), dismissed_by=acting_user(), version=F("version") + 1)
