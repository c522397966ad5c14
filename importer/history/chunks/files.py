"""The files of an import of several, each with its rows and its own equation."""

from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q, Sum

from importer.models import Chunk, ImportJob, JobRecord
from importer.models.job import COMMITTED_ROWS


@dataclass(frozen=True)
class FileRows:
    """The rows of one file so far. `source` is final when the scan of the import is finished.

    `taken`: rows that went in, or were equal to one in the table. In a mode that stages, rows of the staging table: the
    finishing step decides over the rows of all files together which of them are new; if the import ended before that,
    none. `missing`: rows that are in none of the counts.
    """

    name: str
    source: int = 0
    taken: int = 0
    skipped: int = 0
    rejected: int = 0

    @property
    def missing(self) -> int:
        return self.source - self.taken - self.skipped - self.rejected

    def as_json(self) -> dict[str, Any]:
        """The file in the report (docs/contracts.md)."""
        counts = ("source", "taken", "skipped", "rejected", "missing")
        return {"name": self.name, "rows": {name: getattr(self, name) for name in counts}}


def rows_of_files(job: ImportJob) -> tuple[FileRows, ...]:
    """The files of an import of several, in their order; none for an import of one file."""
    if not job.files_json:
        return ()
    files = _kept_rows(job) if job.chunks_removed_at else read_rows(job)
    # The staging table is dropped, and no row has left it.
    gone = job.stages and job.ended and not job.finished and not job.leftover
    return tuple(replace(each, taken=0, skipped=0) for each in files) if gone else files


def _kept_rows(job: ImportJob) -> tuple[FileRows, ...]:
    """The files' rows that the record keeps of chunks that are deleted."""
    kept = JobRecord.objects.values_list("kept_chunks", flat=True).get(pk=job.pk).get("files", [])
    return tuple(FileRows(**each) for each in kept)


def read_rows(job: ImportJob) -> tuple[FileRows, ...]:
    """The files' rows, summed over the chunks."""
    loaded = Q(status=Chunk.Status.LOADED)
    sums = (
        Chunk.objects.filter(job=job)
        .order_by()
        .values("file")
        .annotate(
            found=Sum("rows"),
            taken=Sum(COMMITTED_ROWS, filter=loaded, default=0),
            skipped=Sum("skipped_rows", filter=loaded, default=0),
            rejected=Sum("rejected_rows", filter=loaded, default=0),
        )
    )
    found = {each["file"]: (each["found"], each["taken"], each["skipped"], each["rejected"]) for each in sums}
    return tuple(FileRows(name, *found.get(number, ())) for number, name in enumerate(job.file_names))
