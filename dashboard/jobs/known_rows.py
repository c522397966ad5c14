"""The rows that stopped an import, as far as they are known: those of each of its chunks that failed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from importer.engine.errors import is_of_bad_rows, one_reason
from importer.models import Chunk, ImportJob

MOST_SHOWN = 200


@dataclass(frozen=True)
class KnownRows:
    """The first known rows at fault, by their lines, as BadRow has each; `count`: how many are known to be there.

    `reason`: the one reason of all of them, which then stands above the rows once; "" if there are several.
    """

    rows: tuple[Mapping[str, Any], ...] = ()
    count: int = 0
    reason: str = ""


def known_rows(job: ImportJob) -> KnownRows:
    """The rows at fault of the job's problem and of those of its chunks, each once."""
    if not job.problem.get("rows"):
        return KnownRows()
    problems = [job.problem]
    if is_of_bad_rows(job.problem):
        failed = job.chunks.filter(status=Chunk.Status.FAILED).order_by("number")
        problems += [each for each in failed.values_list("problem", flat=True) if is_of_bad_rows(each)]
    by_place = {(row["line"], row["column"], row["value"]): row for each in problems for row in each["rows"]}
    counts = {(each["what"], each["advice"]): each["bad_rows"] for each in problems}
    rows = tuple(sorted(by_place.values(), key=lambda row: (row["line"], row["column"])))
    count = max(sum(counts.values()), len({row["line"] for row in rows}))
    return KnownRows(rows[:MOST_SHOWN], count, one_reason({**job.problem, "rows": rows}))


def rows_that_would_double(job: ImportJob) -> int:
    """The committed rows of an import that is paused or has not ended well: loaded as a new one, they come twice."""
    kept = not job.stages and not job.left_changed and not job.proof_is_broken
    stopped = (job.ended and job.problem) or job.status in (ImportJob.Status.CANCELLED, ImportJob.Status.PAUSED)
    return job.rows_in_table if stopped and kept else 0
