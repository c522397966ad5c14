"""Groups the files that a loader did not get wholly right by the pollution and the reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.pollution.polluters import PollutedFile
from bench.pollution.score import FULL, Loaded, alike

NOTHING = 1e-9


@dataclass(frozen=True)
class Loss:
    """Files of one pollution that lost points for one reason. `first`: the name of the first of them."""

    first: str
    reason: str
    files: int
    points: float
    weighted: float


def losses(files: Sequence[PollutedFile], loaded: Sequence[Loaded], scores: Sequence[float]) -> list[Loss]:
    """The losses, the greatest weighted one first."""
    grouped: dict[tuple[str, str], list[tuple[PollutedFile, float]]] = {}
    for file, made, points in zip(files, loaded, scores, strict=True):
        if points < FULL - NOTHING:
            grouped.setdefault((file.kind, reason(file, made)), []).append((file, FULL - points))
    found = [
        Loss(
            first=group[0][0].name,
            reason=why,
            files=len(group),
            points=sum(lost for _, lost in group),
            weighted=sum(file.weight * lost for file, lost in group),
        )
        for (_, why), group in grouped.items()
    ]
    return sorted(found, key=lambda loss: -loss.weighted)


def reason(file: PollutedFile, made: Loaded) -> str:
    """Why points are lost: the problem, or the number of rows that are missing and of rows that are wrong."""
    if made.problem:
        return f"not loaded: {made.problem}"
    wanted, found = Counter(alike(file.rows)), Counter(alike(made.rows))
    parts = [
        f"{(wanted - found).total()} rows missing" if wanted - found else "",
        f"{(found - wanted).total()} rows that are not in the file" if found - wanted else "",
        "another header" if Counter(file.header) != Counter(made.header) else "",
        *made.notes,
    ]
    return ", ".join(filter(None, parts))
