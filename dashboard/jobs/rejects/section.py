"""The section of an import's page about rows that it rejected or skipped, and values that it was allowed to change."""

from dataclasses import dataclass

from dashboard.jobs.rejects.grid import Grid, grid_of, may_see_rows
from importer.engine.load.rejects.server_warnings import DUPLICATE
from importer.jobs.actions.fixes import can_be_fixed
from importer.jobs.rejects import downloads
from importer.jobs.rejects.counts import Kind, by_reason
from importer.jobs.rejects.downloads import ExplainedRow
from importer.models import ImportJob
from importer.sources.store.file_store import StoreAway

ROWS_SHOWN = 50
KINDS_SHOWN = 10
AGAIN_SHOWN = 5


@dataclass(frozen=True)
class Section:
    """The counts by reason and column, and the first ROWS_SHOWN rows; the cost does not grow with the number of rows.

    `kinds` and `more_kinds` are of rejected rows, `skipped` of those whose key was there and which were to be skipped.
    `again`: the latest imports of rejected rows of this import; `more_again` counts earlier ones. `grid`: the rows to
    fix, for who may see them, after the end. `away`: why no rows can be shown now, although they are kept.
    """

    count: int
    kinds: list[Kind]
    more_kinds: list[Kind]
    skipped: list[Kind]
    notices: list[Kind]
    rows: list[ExplainedRow]
    again: list[ImportJob]
    more_again: int
    grid: Grid | None
    delimiters: tuple[tuple[str, str], ...]
    away: str = ""

    @property
    def fixable(self) -> bool:
        """Whether the page has rows to fix."""
        return self.grid is not None and any(row.editable for row in self.grid.rows)


def rejected_rows(job: ImportJob) -> Section | None:
    """The section of a job; None while every row has been loaded unchanged."""
    if not (job.rejected_rows or job.skipped_rows or job.notices):
        return None
    every = by_reason(job.reject_reasons, "rows")
    skipped = [each for each in every if _is_skipped(job, each)]
    kinds = [each for each in every if each not in skipped]
    rows, grid, away = _rows(job)
    return Section(
        count=job.rejected_rows + job.skipped_rows,
        kinds=kinds[:KINDS_SHOWN],
        more_kinds=kinds[KINDS_SHOWN:],
        skipped=skipped,
        notices=by_reason(job.notices, "values"),
        rows=rows,
        again=list(job.loaded_again_by.order_by("-pk")[:AGAIN_SHOWN])[::-1],
        more_again=max(0, job.loaded_again_by.count() - AGAIN_SHOWN),
        grid=grid,
        delimiters=_delimiters(job),
        away=away,
    )


def _is_skipped(job: ImportJob, kind: Kind) -> bool:
    return kind.get("code") == str(DUPLICATE) and job.options.on_duplicate == "skip"


def _rows(job: ImportJob) -> tuple[list[ExplainedRow], Grid | None, str]:
    """The first rows, the grid, and why neither can be shown now."""
    try:
        grid = grid_of(job) if can_be_fixed(job) and may_see_rows(job) else None
        return downloads.first_rows(job, ROWS_SHOWN), grid, ""
    except StoreAway as problem:
        return [], None, f"{problem.what} {problem.advice}"


def _delimiters(job: ImportJob) -> tuple[tuple[str, str], ...]:
    """The delimiters of copies for spreadsheets, with their names; that of the file first."""
    known = [(mark, name) for name, mark in downloads.SPREADSHEET_DELIMITERS.items()]
    return tuple(sorted(known, key=lambda each: each[0] != job.file_dialect.delimiter))
