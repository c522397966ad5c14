"""Compares measured rates with the article's: ratios within rounds, and whether they agree with the article."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.experiments.experiment import Claim, Experiment, Way
from bench.experiments.needs import Place
from bench.spread import Spread

# Ratios within a factor of LEVEL of 1 count as level; two ratios within a factor of NEAR of each other agree. Servers,
# disks and processors of other years change a ratio by less than NEAR if nothing else interferes.
LEVEL, NEAR = 1.15, 2.0
# By how much a rate of one round may be off: runs of the same way differ by so much on a machine shared with others
# (docs/experiments), and on one that is busy by more.
ONE_ROUND, ONE_BUSY_ROUND = 1.4, 4.0
# Steps below and above a ratio that may be off: all are judged, since only a part between the ends may agree.
STEPS = 20
AGREES, DISAGREES, NOT_COMPARABLE = "agrees", "disagrees", "not comparable"
RULE = (
    "Agrees: our figure keeps the article's bound, such as “at least 2”; where the article gives a ratio, ours is at"
    f" most {NEAR:g} times away from it and on the same side of 1 (within {LEVEL - 1:.0%} of 1 is on both sides)."
    " Disagrees: it does not. Not comparable: it was not measured, the article has no figure, its conditions were"
    " others or do not hold here, or the rounds do not give the same answer. One round alone may be"
    f" {ONE_ROUND:g} times off, {ONE_BUSY_ROUND:g} times on a busy machine: if that could change the answer, it is not"
    " comparable either."
)

# Rates by way and round.
Rates = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
class ClaimVerdict:
    """A measured `ratio` (within rounds), the article's `published` one in words, the verdict, and a reason or ""."""

    ratio: Spread | None
    published: str
    verdict: str
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def judge_way(experiment: Experiment, way: Way, rates: Rates, off: float = ONE_ROUND) -> ClaimVerdict:
    """Compare the ratio of a way's rate to its `compared_with` way's, by default the baseline's, with the article's.

    `off`: by how much a ratio of one round may be off.
    """
    base = experiment.base(way)
    ratios = _ratios(rates, way.name, base.name)
    if way is base:
        return ClaimVerdict(Spread.of(ratios), "1", "", "the baseline")
    if not (way.published and base.published):
        why = way.not_comparable or "the article has no figure"
        return ClaimVerdict(Spread.of(ratios), "", NOT_COMPARABLE, why)
    claim = Claim(way.name, way.name, base.name, about=way.published / base.published)
    return judge_claim(experiment, claim, rates, off)


def judge_claim(
    experiment: Experiment, claim: Claim, rates: Rates, off: float = ONE_ROUND, place: Place | None = None
) -> ClaimVerdict:
    """Check a claim of the article against the rates.

    `off`: by how much a ratio of one round may be off. `place`: where the rates were measured; None if it has all that
    the claim needs.
    """
    if claim.unmeasured:
        return ClaimVerdict(None, _published(claim), NOT_COMPARABLE, claim.unmeasured)
    ratios = _ratios(rates, claim.of, claim.to) if claim.to else list(rates.get(claim.of, {}).values())
    if claim.about is not None and (why := _other_conditions(experiment, claim)):
        return ClaimVerdict(Spread.of(ratios), _published(claim), NOT_COMPARABLE, why)
    if place and (missing := [each.words for each in claim.needs if not each.holds(place)]):
        return ClaimVerdict(Spread.of(ratios), _published(claim), NOT_COMPARABLE, f"it needs {', and '.join(missing)}")
    return _judged(claim, ratios, off)


def _other_conditions(experiment: Experiment, claim: Claim) -> str:
    """Why the article's figure for the claim cannot be compared with one measured here; "" if it can.

    What distinguishes both ways from the article's in the same manner cancels out in their ratio.
    """
    reasons = [experiment.way(name).not_comparable for name in (claim.of, claim.to) if name]
    cancels_out = len(reasons) > 1 and len(set(reasons)) == 1
    return "" if cancels_out else "; ".join(filter(None, reasons))


def _ratios(rates: Rates, of: str, to: str) -> list[float]:
    """The ratio in each round: what changes on the server from minute to minute affects both rates of a round."""
    own, others = rates.get(of, {}), rates.get(to, {})
    return [rate / others[number] for number, rate in own.items() if number in others]


def _judged(claim: Claim, ratios: Sequence[float], off: float) -> ClaimVerdict:
    if not ratios:
        return ClaimVerdict(None, _published(claim), NOT_COMPARABLE, "it was not measured")
    possible = ratios if len(ratios) > 1 else [ratios[0] * off ** (step / STEPS) for step in range(-STEPS, STEPS + 1)]
    answers = {_agrees(claim, ratio) for ratio in possible}
    if len(answers) > 1:
        why = "the rounds do not give the same answer" if len(ratios) > 1 else "one round does not tell"
        return ClaimVerdict(Spread.of(ratios), _published(claim), NOT_COMPARABLE, why)
    return ClaimVerdict(Spread.of(ratios), _published(claim), AGREES if answers == {True} else DISAGREES)


def _agrees(claim: Claim, ratio: float) -> bool:
    if claim.about is None:
        return (claim.least is None or ratio >= claim.least) and (claim.most is None or ratio <= claim.most)
    level = [1 / LEVEL <= each <= LEVEL for each in (ratio, claim.about)]
    same_side = any(level) or (ratio > 1) == (claim.about > 1)
    return same_side and claim.about / NEAR <= ratio <= claim.about * NEAR


def _published(claim: Claim) -> str:
    if claim.about is not None:
        return f"{claim.about:.3g}"
    parts = [f"at least {claim.least:g}" if claim.least is not None else ""]
    parts.append(f"at most {claim.most:g}" if claim.most is not None else "")
    return " and ".join(filter(None, parts))
