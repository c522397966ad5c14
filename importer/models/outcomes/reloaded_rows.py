"""How many rejected rows of an import later imports have taken, and how many are still missing from the table."""

from collections.abc import Collection

from django.db.models import Sum

from importer.models import ImportJob
from importer.models.job import ACCOUNTED_ROWS
from importer.models.outcomes import COMPLETE_IMPORTS


def rows_taken(jobs: Collection[int]) -> dict[int, int]:
    """How many rejected rows of each of these imports others have taken, by primary key.

    A row that such an import has rejected again is among them: that import has lost it.
    """
    taken = COMPLETE_IMPORTS.filter(rejects_of__in=jobs).values_list("rejects_of").annotate(rows=Sum(ACCOUNTED_ROWS))
    return dict(taken.order_by())


def rows_missing(job: ImportJob) -> int:
    """How many rejected rows of the import no import has loaded since, also not one of the rows rejected again."""
    missing: dict[int | None, int] = {job.pk: job.rejected_rows}
    chain, level = [], [job.pk]
    while level:
        later = COMPLETE_IMPORTS.filter(rejects_of__in=level).annotate(taken=ACCOUNTED_ROWS).order_by("pk")
        again = list(later.values_list("pk", "rejects_of", "taken", "rejected_rows"))
        chain += again
        level = [pk for pk, *_ in again]
        missing.update({pk: rejected for pk, _, _, rejected in again})
    # What an import has lost again is missing where its rows come from: the last ones first.
    for pk, rejects_of, taken, _ in reversed(chain):
        missing[rejects_of] = max(0, missing[rejects_of] - taken + missing[pk])
    return missing[job.pk]
