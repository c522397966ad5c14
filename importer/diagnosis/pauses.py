"""Who has paused an import, and when."""

from django.utils import timezone
from django.utils.formats import date_format

from importer.access.audit import described
from importer.models import AuditEvent, ImportJob

_ACTIONS = ("job_pause", "api_import_pause")


def paused_words(job: ImportJob) -> str:
    """Who has paused a paused import and when, in words; without what an older version or a command did not keep."""
    since = job.phase_since
    if since is None:
        return "Paused"
    thing = described(job)
    done = AuditEvent.objects.filter(action__in=_ACTIONS, object_kind=thing.kind, object_id=thing.id)
    # The event begins with the request, before the import changes.
    last = done.filter(at__gte=job.created_at, at__lte=since, outcome=AuditEvent.Outcome.DONE).order_by("-at").first()
    by = f" by {last.actor_name}" if last and last.actor_name else ""
    return f"Paused{by}, {date_format(timezone.localtime(since), 'j M H:i')}"
