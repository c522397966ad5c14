"""What the page of a new import shows of a file that is still being uploaded.

A preview shows what has arrived. An import that was started before its end follows the upload.
"""

from django.http import HttpRequest

from dashboard.new_import.preview import Preview
from importer.access.policy import seen
from importer.engine.source.arriving import NotArrived
from importer.models import ImportJob, SourceFile


def follower(request: HttpRequest, source: SourceFile) -> ImportJob | None:
    """The import that was started during the upload of the file, if the request is about it; else None.

    When the file is complete, only the page that has followed it still asks for it.
    """
    if not source.arriving and "follows" not in request.GET:
        return None
    imports = seen(ImportJob.objects.filter(source=source, trial=None))
    return imports.select_related("target", "source").order_by("-pk").first()


def too_early(preview: Preview) -> bool:
    """Whether not enough of the file has arrived for a preview."""
    return preview.source.arriving and isinstance(preview.problem, NotArrived)
