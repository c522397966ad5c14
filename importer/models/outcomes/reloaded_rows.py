"""How many rejected rows of an import later imports have taken, and how many are still missing from the table."""

from collections.abc import Collection, Mapping

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
    return missing_rows({job.pk: job.rejected_rows})[job.pk]


def missing_rows(rejected: Mapping[int, int]) -> dict[int, int]:
    """rows_missing() of several imports, by primary key. `rejected`: how many rows each has rejected."""
    missing = dict[int | None, int](rejected.items())
    later: dict[int, tuple[int | None, int]] = {}
    level = list(rejected)
    while level:
        again = COMPLETE_IMPORTS.filter(rejects_of__in=level).annotate(taken=ACCOUNTED_ROWS).order_by()
        level = []
        for pk, of, taken, its_rejected in again.values_list("pk", "rejects_of", "taken", "rejected_rows"):
            if pk not in later:
                later[pk], missing[pk] = (of, taken), its_rejected
                level.append(pk)
    # What an import has lost again is missing where its rows come from: the last ones first.
    for pk, (of, taken) in sorted(later.items(), reverse=True):
        missing[of] = max(0, missing[of] - taken + missing[pk])
    return {pk: missing[pk] for pk in rejected}
