"""Other imports that are under way into one table. One at a time loads into it, and the others wait."""

from dataclasses import dataclass

from importer.access.policy import seen
from importer.models import ImportJob, Target

MOST_NAMED = 3


@dataclass(frozen=True)
class SameTable:
    """Imports under way into one table: at most MOST_NAMED that the acting person may see, the number of all others."""

    named: tuple[ImportJob, ...]
    further: int


def imports_under_way(target: Target, schema: str, table: str, other_than: ImportJob | None = None) -> SameTable:
    """The imports into this table that have not ended, without `other_than`; first the one that has the table."""
    of_table = ImportJob.objects.filter(target=target, schema_name=schema, table_name=table, trial=None)
    others = of_table.exclude(status__in=ImportJob.ENDED).exclude(pk=other_than.pk if other_than else 0)
    keys = list(others.order_by().values_list("pk", flat=True))
    if not keys:
        return SameTable((), 0)
    named = seen(ImportJob.objects.filter(pk__in=keys).select_related("source")).defer("plan_json", "reading_json")
    first = sorted(named, key=lambda job: (job.table_claim is None, job.pk))[:MOST_NAMED]
    return SameTable(tuple(first), len(keys) - len(first))
