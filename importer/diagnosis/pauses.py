"""Who has paused an import, and when."""

from django.utils import timezone
from django.utils.formats import date_format

from importer.access.audit import last_actor
from importer.models import ImportJob

_ACTIONS = ("job_pause", "api_import_pause")


def paused_words(job: ImportJob) -> str:
    """In words, who paused an import and when; without the name if no event has it, as after a command."""
    since = job.phase_since
    if since is None:
        return "Paused"
    # The event begins with the request, before the import changes.
    name = last_actor(job, _ACTIONS, job.created_at, since)
    by = f" by {name}" if name else ""
    return f"Paused{by}, {date_format(timezone.localtime(since), 'j M H:i')}"
