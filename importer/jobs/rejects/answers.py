"""What became of rejected rows: which of them later imports have taken, and which are in the table by now."""

from collections.abc import Collection

from django.db.models import Sum

from importer.models import ImportJob
from importer.models.job import ACCOUNTED_ROWS

# Imports that can make up for one that lost rows or failed: what they have loaded is in the table. No trial of a lab is
# one: it loads into a scratch table.
ANSWERS = ImportJob.objects.filter(status=ImportJob.Status.SUCCEEDED, balanced=True, restored_at=None)


def rows_answered(jobs: Collection[int]) -> dict[int, int]:
    """How many rejected rows of each of these imports others have taken, by primary key.

    A row that such an import has rejected again is among them: that import has lost it.
    """
    taken = ANSWERS.filter(rejects_of__in=jobs).values_list("rejects_of").annotate(rows=Sum(ACCOUNTED_ROWS))
    return dict(taken.order_by())


def rows_missing(job: ImportJob) -> int:
    """How many rejected rows of the import no import has loaded since, also not one of the rows rejected again."""
    chain, level = [job], [job.pk]
    while level:
        again = list(ANSWERS.filter(rejects_of__in=level).order_by("pk"))
        chain += again
        level = [each.pk for each in again]
    missing: dict[int, int] = {}
    for each in reversed(chain):
        answered = sum(other.accounted_rows - missing[other.pk] for other in chain if other.rejects_of_id == each.pk)
        missing[each.pk] = max(0, each.rejected_rows - answered)
    return missing[job.pk]
