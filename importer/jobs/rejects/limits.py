"""The limits of a job's rejected rows, and the problem of a job that exceeds them or has rejected every row."""

from importer.engine.errors import AllRowsRejected, Problem, TooManyRejects
from importer.engine.load.rejects.reasons import on_reading
from importer.engine.units import count_of
from importer.jobs.rejects.counts import by_reason
from importer.models import ImportJob

MOST_REASONS = 3


def most_rejects(job: ImportJob) -> int | None:
    """The most rows that the job may reject; None if there is no limit.

    A percentage is taken of the most rows that the file can have: during the scan, each byte not yet scanned counts as
    a row. So the limit is never exceeded too early.
    """
    return job.options.most_rejects(_most_rows(job))


def exceeded(job: ImportJob) -> TooManyRejects | None:
    """The problem of a job that has rejected more rows than allowed; None if it has not."""
    most = most_rejects(job)
    if most is None or job.rejected_rows <= most:
        return None
    rows = (
        count_of(job.scanned_rows, "row")
        if job.scan_finished
        else f"the {count_of(job.scanned_rows, 'row')} read so far"
    )
    return TooManyRejects(
        f"{job.rejected_rows:,} of {rows} cannot go in; {job.options.reject_limit_words} may be left out."
        f"{_commonest(job)}",
        where=job.source.name,
        advice=_advice(job),
    )


def final_problem(job: ImportJob) -> Problem | None:
    """The problem of a job whose chunks are all loaded: too many rows are rejected, or all of them; None if neither."""
    return exceeded(job) or _all_rejected(job)


def _all_rejected(job: ImportJob) -> AllRowsRejected | None:
    if not job.scanned_rows or job.rejected_rows < job.scanned_rows:
        return None
    rows = "The only row was" if job.scanned_rows == 1 else f"All {job.scanned_rows:,} rows were"
    return AllRowsRejected(
        f"{rows} rejected, so nothing was imported.{_commonest(job)}",
        where=job.source.name,
        advice=f"Look at the rejected rows.{on_reading(_worst_column(job))} Then correct the file, the choice"
        " of columns or the table, and import the file again.",
    )


def _worst_column(job: ImportJob) -> str:
    """The column with the most rejected rows, "" if they are about no column.

    Most often, many bad rows come from one column that is read in a wrong way.
    """
    return next(iter(by_reason(job.reject_reasons, "rows")), {"column": ""})["column"]


def _advice(job: ImportJob) -> str:
    return (
        f"Look at the rejected rows.{on_reading(_worst_column(job))} If they are to be left out, continue"
        " without the limit; if not, correct the file, or change the table."
    )


def _most_rows(job: ImportJob) -> int:
    to_come = 0 if job.scan_finished else max(0, job.read_size - job.scanned_bytes)
    return job.scanned_rows + to_come


def _commonest(job: ImportJob) -> str:
    reasons = [
        f"{each['rows']:,} row{'s' if each['rows'] > 1 else ''}: {_in_words(each)}"
        for each in by_reason(job.reject_reasons, "rows")[:MOST_REASONS]
    ]
    return f" Most common: {'; '.join(reasons)}." if reasons else ""


def _in_words(kind: dict[str, str]) -> str:
    reason = kind["reason"].rstrip(".")
    return f"{kind['column']}: {reason}" if kind["column"] else reason
