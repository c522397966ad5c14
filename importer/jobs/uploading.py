"""An import whose file is still being uploaded: when its scan continues, and when the import waits no longer.

Nothing polls: each part that has arrived wakes the import (importer/sources/uploads.py), and so does the sweep.
"""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from importer.engine.errors import Problem, SourceProblem
from importer.engine.units import human_bytes
from importer.models import ImportJob, SourceFile
from importer.sources.upload_storage import waits_for_whole_files

STOPPED_AFTER = timedelta(hours=1)  # since the last byte of an upload that an import waits for


def can_scan(job: ImportJob) -> bool:
    """Whether a scan finds something to do: the file is there, or as much of it as a next chunk needs."""
    source = job.source
    return not source.arriving or (can_follow(job) and source.received >= job.awaits_bytes)


def first_bytes(job: ImportJob) -> int:
    """How many bytes must have arrived before an import that gets its table scans; 0 if the whole file is there."""
    if not job.source.arriving:
        return 0
    return (job.awaits_bytes or 1) if can_follow(job) else job.source.size


def can_follow(job: ImportJob) -> bool:
    """Whether the file can be scanned while it arrives.

    A packed, transcoded or sorted file is read from a working copy, which needs all of it; so does a footer. With a
    store, the workers see a file when all of it is there.
    """
    if waits_for_whole_files():
        return False
    return not job.needs_copy and not job.file_dialect.skip_footer


def why_not_wait(job: ImportJob) -> Problem | None:
    """The problem that the rest of the file will not come; None if it is there, or may still come."""
    if job.scan_finished or not (source := job.source).owned:
        return None
    arrived = f"{human_bytes(source.received)} of {human_bytes(source.size)} had arrived."
    if source.status == SourceFile.Status.REMOVED:
        return SourceProblem(
            f"The upload ended before the file was complete: {arrived}",
            where=source.name,
            advice="Look at which of its rows are in the table, then upload the file again.",
        )
    if source.arriving and timezone.now() - _last_byte_at(source) > STOPPED_AFTER:
        return SourceProblem(
            f"The upload has stopped: for an hour nothing has come. {arrived}",
            where=source.name,
            advice="Continue the upload: drop the same file on the page “New import” again. Then retry this import: it"
            " continues where it was.",
        )
    return None


def _last_byte_at(source: SourceFile) -> datetime:
    """When the last byte came: of a part that is arriving, the row does not know yet."""
    try:
        changed = datetime.fromtimestamp(source.file.stat().st_mtime, UTC)
    except OSError:
        return source.touched_at
    return max(source.touched_at, changed)
