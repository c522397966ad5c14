"""Compares an import with its peers, earlier imports into the same table, in words and links for its page."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse

from importer.history import regressions
from importer.history.read import rows
from importer.models import ImportJob

# The number of latest peers that are offered for a comparison.
MOST_PEERS = 3


@dataclass(frozen=True)
class PeerComparison:
    """The speed of an import relative to its peers, if known; the previous import; and the latest peers."""

    job: int
    judgement: regressions.PeerSpeed | None
    previous: int | None
    peers: tuple[int, ...]

    @property
    def with_previous(self) -> str:
        """The address of the comparison with the previous import."""
        return address((self.previous, self.job)) if self.previous else ""

    @property
    def with_peers(self) -> str:
        """The address of the comparison with the peers."""
        return address((*reversed(self.peers), self.job)) if self.peers else ""


def address(jobs: Iterable[int], **more: str) -> str:
    """The address of the page that compares these imports."""
    query = QueryDict(mutable=True)
    query.setlist("jobs", [str(job) for job in jobs])
    query.update(more)
    return f"{reverse('history_compare')}?{query.urlencode()}"


def peer_comparison(job: ImportJob) -> PeerComparison | None:
    """Compare an import with earlier ones into its table; None before its end, or without an earlier import."""
    if not job.ended or job.trial_id:
        return None
    same_table = ImportJob.objects.filter(target=job.target, schema_name=job.schema_name, table_name=job.table_name)
    earlier = same_table.filter(pk__lt=job.pk, trial=None).exclude(record=None)
    previous = earlier.order_by("-pk").values_list("pk", flat=True).first()
    if not previous:
        return None
    facts = rows([job.pk])[job.pk]
    peers = regressions.peers(facts)[:MOST_PEERS] if facts else []
    return PeerComparison(job.pk, regressions.recorded_peer_speed(job), previous, tuple(peers))
