"""Compares an import with its peers, earlier imports into the same table, in words and links for its page."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse

from importer.history import regressions
from importer.history.read import rows
from importer.models import ImportJob

# As many of its like are offered to be compared with.
MOST_PEERS = 3


@dataclass(frozen=True)
class PeerComparison:
    """Its speed relative to its peers, if known; the import before it; and its latest peers."""

    job: int
    judgement: regressions.PeerSpeed | None
    before: int | None
    alike: tuple[int, ...]

    @property
    def with_before(self) -> str:
        """The address of the comparison with the import before it."""
        return address((self.before, self.job)) if self.before else ""

    @property
    def with_alike(self) -> str:
        """The address of the comparison with its like."""
        return address((*reversed(self.alike), self.job)) if self.alike else ""


def address(jobs: Iterable[int], **more: str) -> str:
    """Where these imports stand side by side."""
    query = QueryDict(mutable=True)
    query.setlist("jobs", [str(job) for job in jobs])
    query.update(more)
    return f"{reverse('history_compare')}?{query.urlencode()}"


def peer_comparison(job: ImportJob) -> PeerComparison | None:
    """None until the import has ended, or without an earlier import to compare it with."""
    if not job.ended or job.trial_id:
        return None
    same_table = ImportJob.objects.filter(target=job.target, schema_name=job.schema_name, table_name=job.table_name)
    earlier = same_table.filter(pk__lt=job.pk, trial=None).exclude(record=None)
    before = earlier.order_by("-pk").values_list("pk", flat=True).first()
    if not before:
        return None
    facts = rows([job.pk])[job.pk]
    alike = regressions.peers(facts)[:MOST_PEERS] if facts else []
    return PeerComparison(job.pk, regressions.recorded_peer_speed(job), before, tuple(alike))
