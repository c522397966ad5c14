"""What took most of an import's time, and what would make it faster, as far as its recorded timings tell that."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from dashboard.formatting import duration, share
from dashboard.jobs.cards.timeline import timeline
from dashboard.jobs.chunk_timings import lap_title
from importer.history.chunks.timings import LAPS, ChunkTimings
from importer.models import ImportJob
from importer.models.outcomes.attempts import blocked_seconds, present_seconds

# Phases in words.
WAIT, LOAD, PAUSES = "Waiting", "Loading", "Pauses"
# Shares below these, and times below LEAST_SECONDS, are no reason to change anything.
LARGE_SHARE, LARGE_LAP = 0.4, 0.25
LEAST_SECONDS = 1.0

_LAP_ADVICE = {
    "connect": "Larger chunks would need fewer connections.",
    "ledger": "Larger chunks would need fewer rows in the ledger.",
    "review": "Rows with values that the server might change are reviewed before they are sent. Stating the formats of"
    " their fields, or fixing the values in the file, saves that.",
    "commit": "Each commit waits for the server's disk. Larger chunks commit less often.",
}
# What is done once for each chunk: one chunk cannot be made larger.
_FOR_EACH_CHUNK = ("connect", "ledger", "commit")


@dataclass(frozen=True)
class Slowest:
    """A sentence about the time; advice, where the timings tell any; and what the plan knows to hold a load back."""

    sentence: str
    advice: tuple[str, ...]
    held_back: tuple[str, ...]


def slowest(job: ImportJob, timings: ChunkTimings) -> Slowest | None:
    """What took most of the last attempt's time; None if nothing of it is known."""
    if job.finished_at is None:
        return None
    phases = _phases(job, job.finished_at)
    whole = sum(phases.values())
    if not whole:
        return None
    kind = max(phases, key=phases.__getitem__)
    spent = _spent(timings)
    sentence = f"{kind} took {duration(phases[kind])}, {share_of(phases[kind], whole)} of the time."
    if kind == LOAD and spent:
        lap, seconds = max(spent.items(), key=lambda each: each[1])
        together = sum(spent.values())
        sentence += (
            f" Its chunks took {duration(together)} together, {share_of(seconds, together)} in “{lap_title(lap)}”."
        )
    if whole < LEAST_SECONDS:
        return Slowest(sentence, (), ())
    return Slowest(
        sentence,
        tuple(_advice(job, phases, spent, _scan_seconds(job, job.finished_at), _chunks(timings))),
        tuple(_held_back(job, phases)),
    )


def _phases(job: ImportJob, ended: datetime) -> dict[str, float]:
    """The seconds of each phase of the last attempt, one after another; none if an older version did not keep them."""
    seconds = present_seconds(job, ended)
    if seconds is None:
        return {}
    blocked = blocked_seconds(job, ended)
    return {
        WAIT: seconds.waiting - blocked,
        LOAD: seconds.loading,
        PAUSES: seconds.paused,
        "Waiting until keys could be put back": blocked,
        "Building keys": seconds.indexing,
        "Verification": seconds.verifying,
    }


def share_of(part: float, whole: float) -> str:
    """A share of seconds in percent."""
    return share(round(1000 * part), round(1000 * whole)) or "0 %"


def _chunks(timings: ChunkTimings) -> int:
    return sum(point.last - point.first + 1 for point in timings.points)


def _spent(timings: ChunkTimings) -> dict[str, float]:
    """The seconds of each part of the chunks' loads, added up over all chunks."""
    spent: Counter[str] = Counter()
    for point in timings.points:
        chunks = point.last - point.first + 1
        spent.update({lap: seconds * chunks for lap, seconds in zip(LAPS, point.laps, strict=True)})
    return {lap: seconds for lap, seconds in spent.items() if seconds}


def _advice(
    job: ImportJob, phases: dict[str, float], spent: dict[str, float], scan: float, chunks: int
) -> Iterator[str]:
    if phases[WAIT] >= max(LEAST_SECONDS, LARGE_SHARE * _whole(phases)):
        yield "It waited for its table, a worker or an approval. At another time, or with more workers, it waits less."
    if not _loading_matters(phases):
        return
    if scan > 0.9 * phases[LOAD] and phases[LOAD] >= LEAST_SECONDS:
        yield "Reading the file set the pace: chunks were loaded as soon as they were found." + (
            " A file in UTF-8 that is not packed needs no working copy." if job.needs_plain_copy else ""
        )
    large = LARGE_LAP * max(sum(spent.values()), 0.001)
    for lap, words in _LAP_ADVICE.items():
        if spent.get(lap, 0) >= large and (lap not in _FOR_EACH_CHUNK or chunks > 1):
            yield words


def _held_back(job: ImportJob, phases: dict[str, float]) -> Iterator[str]:
    if _loading_matters(phases):
        yield from (f"{each.choice}: {each.why}." for each in job.plan.reasons if each.holds_back)


def _loading_matters(phases: dict[str, float]) -> bool:
    return phases[LOAD] >= LARGE_SHARE * _whole(phases)


def _whole(phases: dict[str, float]) -> float:
    """The seconds of all phases but the pauses, which a person made."""
    return sum(phases.values()) - phases[PAUSES]


def _scan_seconds(job: ImportJob, ended: datetime) -> float:
    """The seconds of the scan, which runs while chunks load; 0 if an earlier attempt has ended it."""
    return sum(each.seconds for each in timeline(job, ended)[-1].phases if each.kind == "scan")
