"""Why an import waits or is slow, now."""

from dataclasses import dataclass, field

from importer.diagnosis.facts import facts_of
from importer.diagnosis.watch import Board, Seen, watch
from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.diagnose import diagnose
from importer.models import ImportJob

# Rates of the server are those of the last RATE_SECONDS.
RATE_SECONDS = 10


@dataclass(frozen=True)
class Why:
    """The explanations, the surest first, and what was seen of the server."""

    explanations: tuple[Explanation, ...] = ()
    seen: Seen = field(default_factory=Seen)

    @property
    def first(self) -> Explanation | None:
        return self.explanations[0] if self.explanations else None


def why(job: ImportJob, *, board: Board | None = None, seen: Seen | None = None) -> Why:
    """Why the import waits or is slow.

    Without what was `seen` of its server, that is watched from now on, until nobody asks any more.
    """
    if job.ended:
        return Why()
    seen = seen or watch(job.target, board)
    evidence = Evidence(facts_of(job), seen.snapshot, seen.before(RATE_SECONDS))
    return Why(tuple(diagnose(evidence)), seen)
