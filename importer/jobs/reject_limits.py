"""How many rows may be left out of an import, and what is said when there are more."""

import math

from importer.engine.errors import TooManyRejects
from importer.engine.load.rejects.reasons import on_reading
from importer.jobs.reject_counts import by_reason
from importer.models import ImportJob

MOST_REASONS = 3


def most_rejects(job: ImportJob) -> int | None:
    """The most rows that the job may leave out in all; None if there is no limit.

    A share of the rows is taken of all that the file can have: while the scan goes on, every byte to come may be a row.
    So whatever is above it is above it for certain.
    """
    options = job.options
    limits = []
    if options.max_rejects is not None:
        limits.append(options.max_rejects)
    if options.max_reject_percent is not None:
        limits.append(math.floor(options.max_reject_percent * _most_rows(job) / 100))
    return min(limits) if limits else None


def exceeded(job: ImportJob) -> TooManyRejects | None:
    """What to say if the job has left out more rows than it may."""
    most = most_rejects(job)
    if most is None or job.rejected_rows <= most:
        return None
    rows = f"{job.scanned_rows:,} rows" if job.scan_finished else f"the {job.scanned_rows:,} rows read so far"
    return TooManyRejects(
        f"{job.rejected_rows:,} of {rows} cannot go in; {_limit(job)} may be left out.{_commonest(job)}",
        where=job.source.name,
        advice=_advice(job),
    )


def _advice(job: ImportJob) -> str:
    """A wrong way to read one column is what makes most rows bad."""
    worst = next(iter(by_reason(job.reject_reasons, "rows")), {"column": ""})["column"]
    return (
        f"Look at the rows that did not go in.{on_reading(worst)} If they are to be left out, go on without the"
        " limit; if not, mend the file, or change the table."
    )


def _most_rows(job: ImportJob) -> int:
    to_come = 0 if job.scan_finished else max(0, job.read_size - job.scanned_bytes)
    return job.scanned_rows + to_come


def _limit(job: ImportJob) -> str:
    options = job.options
    said = []
    if options.max_rejects is not None:
        said.append(f"{options.max_rejects:,}" if options.max_rejects else "none")
    if options.max_reject_percent is not None:
        said.append(f"{options.max_reject_percent:g} %")
    return f"at most {' or '.join(said)}"


def _commonest(job: ImportJob) -> str:
    said = [
        f"{each['rows']:,} rows: {_in_words(each)}" for each in by_reason(job.reject_reasons, "rows")[:MOST_REASONS]
    ]
    return f" The commonest: {'; '.join(said)}." if said else ""


def _in_words(kind: dict[str, str]) -> str:
    reason = kind["reason"].rstrip(".")
    return f"{kind['column']}: {reason}" if kind["column"] else reason
