"""The recommendation of a lab in words, with evidence and confidence. Pure: computed from settings and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.tuning.grid import Settings, words
from importer.engine.tuning.ranking import Measured, Ranked, confidence, rank

FEW_RUNS = 5
# The planned settings are kept unless the runs tell them from the best. If each run of the best was faster, but there
# are too few runs for significance, their median must be below this share of the best: of eight equal combinations one
# leads by that much by chance (docs/lab.md).
CLOSE = 0.85
# From this number of combinations on, the best one looks better than it is.
MANY = 6


@dataclass(frozen=True)
class Recommendation:
    """The settings to import with; {} means as planned.

    `times`: how many times as fast as planned, None if the planned settings were not measured. `confidence` is "high",
    "medium", "low" or "none". `evidence` are sentences.
    """

    settings: Settings
    times: float | None
    confidence: str
    advice: str
    evidence: tuple[str, ...]


def recommend(combinations: Sequence[Settings], measured: Sequence[Measured], planned: int) -> Recommendation | None:
    """The recommendation; None if no trial has given a rate.

    `planned` is the number of the planned combination in `combinations`: {} or the planned values.
    """
    ranking = rank(measured)
    if not ranking:
        return None
    best = ranking[0]
    as_planned = next((each for each in ranking if each.measured.combination == planned), None)
    chosen = as_planned if as_planned and _stays(as_planned, best) else best
    times = chosen.measured.median / as_planned.measured.median if as_planned else None
    sure, why_sure = _confidence(ranking, best if chosen is best else chosen, as_planned)
    names = [words(each) for each in combinations]
    kept = names[planned] if combinations[planned] else ""
    names[planned] = f"{kept} (as planned)" if kept else names[planned]
    return Recommendation(
        {} if chosen is as_planned else combinations[chosen.measured.combination],
        times,
        sure,
        _advice(kept if chosen is as_planned else names[chosen.measured.combination], chosen, as_planned, times, sure),
        (
            _figures(names[chosen.measured.combination], chosen),
            *_others(names, ranking, chosen),
            why_sure,
            *_few(chosen),
            *_many(names, ranking),
        ),
    )


def _stays(as_planned: Ranked, best: Ranked) -> bool:
    """Whether the planned settings are kept: the runs do not tell them from the best, or there is only one run."""
    runs = min(len(as_planned.measured.rates), len(best.measured.rates))
    alike = as_planned.overlaps or as_planned.of_best >= CLOSE
    return runs == 1 or (as_planned.level_with_best and alike)


def _advice(name: str, chosen: Ranked, as_planned: Ranked | None, times: float | None, sure: str) -> str:
    if chosen is as_planned:
        return f"Import as planned{name and f' ({name})'}: nothing that was tried was seen to be faster."
    if times is None:
        return f"Import with {name}: the highest median of all that was tried."
    perhaps = "Perhaps import" if sure == "low" else "Import"
    return f"{perhaps} with {name}: {times:.2f} times as fast as planned."


def _figures(name: str, each: Ranked) -> str:
    low, high = each.measured.quartiles
    return (
        f"{name}: median {each.measured.median:,.0f} rows/s over {_runs(len(each.measured.rates))},"
        f" the middle half between {low:,.0f} and {high:,.0f}."
    )


def _others(names: Sequence[str], ranking: Sequence[Ranked], chosen: Ranked) -> tuple[str, ...]:
    level = [each for each in ranking if each is not chosen and each.level_with_best]
    if len(ranking) > 1 and len(ranking[0].measured.rates) == 1:
        return ()  # The confidence says that a single run tells nothing apart.
    if len(ranking) == 1:
        return ("Nothing else could be measured.",)
    if not level:
        worst = ranking[-1]
        name = names[worst.measured.combination]
        return (f"All others are behind it by more than chance; the slowest, {name}, reaches {worst.of_best:.0%}.",)
    listed = "; ".join(f"{names[each.measured.combination]}, {each.of_best:.0%}" for each in level[:5])
    more = f" and {len(level) - 5} more" if len(level) > 5 else ""
    return (f"No difference seen from the best: {listed}{more}.",)


def _confidence(ranking: Sequence[Ranked], chosen: Ranked, as_planned: Ranked | None) -> tuple[str, str]:
    """The confidence and its reason, compared with the planned settings, or else with the next best combination."""
    others = [each for each in ranking if each is not chosen]
    against = as_planned if as_planned in others else next(iter(others), None)
    if against is None:
        return "none", "There was nothing to compare it with."
    runs = min(len(chosen.measured.rates), len(against.measured.rates))
    sure = confidence(against.behind, runs)
    if sure == "none":
        return (
            sure,
            "A single run says nothing about how much runs differ, so it is unknown which of the two is faster.",
        )
    if chosen is as_planned and chosen is not ranking[0]:
        return "low", "It is kept because no difference from the best was seen; that is no proof that there is none."
    than = "the planned settings" if against is as_planned else "the next best"
    return sure, (
        f"By chance, a lead over {than} is this clear in about {against.behind:.1%} of comparisons: confidence {sure}."
    )


def _few(chosen: Ranked) -> tuple[str, ...]:
    count = len(chosen.measured.rates)
    failed = chosen.measured.failed
    notes = [f"Only {_runs(count)} of each: high confidence needs {FEW_RUNS} or more."] if count < FEW_RUNS else []
    return (*notes, *([f"{_runs(failed)} of it failed."] if failed else []))


def _many(names: Sequence[str], ranking: Sequence[Ranked]) -> tuple[str, ...]:
    if again := [each.measured.combination for each in ranking if each.measured.final]:
        listed = "; ".join(names[each] for each in again)
        return (f"So that none of {len(ranking)} wins by chance, the best ran again in finals: {listed}.",)
    if len(ranking) < MANY:
        return ()
    return (f"Of {len(ranking)} combinations one may lead by chance: try the best few again, with more repeats.",)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"
