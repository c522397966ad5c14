"""Why an import waits or is slow, now."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from importer.access.policy import may_now
from importer.diagnosis.facts import facts_of
from importer.diagnosis.watch import Board, Seen, last_seen, watch
from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.diagnose import diagnose
from importer.engine.stored import to_json
from importer.models import ImportJob, Level

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

    @property
    def unseen(self) -> tuple[str, ...]:
        """The GRANT statements without which the target's account does not see all that others do on its server."""
        return self.seen.snapshot.missing if self.seen.snapshot else ()


def why(job: ImportJob, *, board: Board | None = None, seen: Seen | None = None) -> Why:
    """Why the import waits or is slow.

    Without what was `seen` of its server, that is watched from now on, until nobody asks any more.
    """
    if job.ended:
        return Why()
    seen = seen or watch(job.target, board)
    evidence = Evidence(facts_of(job), seen.snapshot, seen.before(RATE_SECONDS))
    return Why(tuple(diagnose(evidence)), seen)


def for_reader(job: ImportJob, found: Iterable[Explanation]) -> list[Explanation]:
    """The explanations for the acting person: statements of others are only for who may administer the target."""
    if may_now(Level.ADMINISTER, job.target):
        return list(found)
    return [replace(each, statement="", sql="") for each in found]


def causes_document(job: ImportJob, now: Why) -> dict[str, Any]:
    """As docs/schemas/causes.json has it, for the acting person."""
    causes = [to_json(each) for each in for_reader(job, now.explanations)]
    return {"job": job.pk, "causes": causes, "unseen": list(now.unseen)}


def known_causes(job: ImportJob) -> list[dict[str, Any]]:
    """For the report: the causes, as docs/schemas/causes.json has them, without any further look at the server.

    They are what the application knows itself, and what the server showed if somebody has asked lately.
    """
    if job.ended:
        return []
    found = why(job, seen=last_seen(job.target)).explanations
    return [to_json(each) for each in for_reader(job, found)]
