"""The rows that an import rejected or skipped, and the values that it was allowed to change, for its page."""

from dataclasses import dataclass

from importer.jobs.rejects import downloads
from importer.jobs.rejects.counts import Kind, by_reason
from importer.jobs.rejects.downloads import ExplainedRow
from importer.models import ImportJob

ROWS_SHOWN = 50
KINDS_SHOWN = 10


@dataclass(frozen=True)
class Section:
    """The counts by reason and column, and the first ROWS_SHOWN rows; the cost does not grow with the number of rows.

    `again`: imports of this import's reject file.
    """

    count: int
    kinds: list[Kind]
    more_kinds: list[Kind]
    notices: list[Kind]
    rows: list[ExplainedRow]
    again: list[ImportJob]


def rejected_rows(job: ImportJob) -> Section | None:
    """The section of a job; None while every row has been loaded unchanged."""
    if not (job.rejected_rows or job.skipped_rows or job.notices):
        return None
    kinds = by_reason(job.reject_reasons, "rows")
    return Section(
        count=job.rejected_rows + job.skipped_rows,
        kinds=kinds[:KINDS_SHOWN],
        more_kinds=kinds[KINDS_SHOWN:],
        notices=by_reason(job.notices, "values"),
        rows=downloads.first_rows(job, ROWS_SHOWN),
        again=list(job.loaded_again_by.order_by("pk")),
    )
