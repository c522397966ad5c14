"""The recommendation of a lab in words, with evidence and confidence. Pure: computed from settings and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.tuning.grid import Settings, words
from importer.engine.tuning.paired import LEAST_ROUNDS, Ratio, chance
from importer.engine.tuning.ranking import Measured, Ranked, confidence, rank

# From this number of combinations on, the best one looks better than it is.
MANY = 6


@dataclass(frozen=True)
class Recommendation:
    """The settings to import with; {} means as planned.

    `times`: how many times as fast as planned, None if the planned settings were not measured; `interval` is the ratio
    with its interval, None for the planned settings themselves. `confidence` is "high", "medium", "low" or "none".
    `evidence` are sentences.
    """

    settings: Settings
    times: float | None
    interval: Ratio | None
    confidence: str
    advice: str
    evidence: tuple[str, ...]


def recommend(combinations: Sequence[Settings], measured: Sequence[Measured], planned: int) -> Recommendation | None:
    """The recommendation; None if no trial has given a rate.

    `planned` is the number of the planned combination in `combinations`: {} or the planned values. Others are
    recommended only if the rounds with both show that they are faster, or if the planned one gives no rate; and never
    with fewer than LEAST_ROUNDS rounds.
    """
    ranking = rank(measured, planned)
    if not ranking:
        return None
    as_planned = next((each for each in ranking if each.measured.combination == planned), None)
    chosen = _chosen(ranking, as_planned)
    kept = chosen is None or chosen is as_planned
    names = [words(each) for each in combinations]
    plan = names[planned] if combinations[planned] else ""
    names[planned] = f"{plan} (as planned)" if plan else names[planned]
    sure, why_sure = _confidence(ranking, chosen, as_planned)
    shown = chosen or ranking[0]
    times = (1.0 if kept else chosen.ratio.times if chosen and chosen.ratio else None) if as_planned else None
    return Recommendation(
        {} if kept or chosen is None else combinations[chosen.measured.combination],
        times,
        None if kept or chosen is None else chosen.ratio,
        sure,
        _advice(plan if kept else names[shown.measured.combination], ranking, times, kept=kept),
        (
            _figures(names[shown.measured.combination], shown),
            *_others(names, ranking, shown),
            why_sure,
            *_failed(shown),
            *_many(names, ranking),
        ),
    )


def _chosen(ranking: Sequence[Ranked], as_planned: Ranked | None) -> Ranked | None:
    """The combination to import with; None if there is no reason to leave a plan that was not measured."""
    if as_planned is None:
        return ranking[0] if len(ranking[0].measured.rates) >= LEAST_ROUNDS else None
    faster = (each for each in _deciding(ranking) if each.ratio and _is_faster(each.ratio))
    return next(faster, as_planned)


def _deciding(ranking: Sequence[Ranked]) -> Sequence[Ranked]:
    """The combinations of the finals; all if there were none.

    The rounds before the finals may have been slow for the plan by chance: they recommend nothing that was left behind.
    """
    return [each for each in ranking if each.measured.final] or ranking


def _is_faster(ratio: Ratio) -> bool:
    return ratio.rounds >= LEAST_ROUNDS and ratio.low > 1


def _advice(name: str, ranking: Sequence[Ranked], times: float | None, *, kept: bool) -> str:
    if kept and _too_few(ranking):
        return f"Import as planned: {_rounds(_most_rounds(ranking))} cannot tell settings apart."
    if kept:
        return f"Import as planned{name and f' ({name})'}: nothing that was tried was seen to be faster."
    if times is None:
        return f"Import with {name}: the highest median of all that was tried."
    return f"Import with {name}: {times:.2f} times as fast as planned."


def _figures(name: str, each: Ranked) -> str:
    rates = each.measured.rates
    if len(rates) == 1:
        return f"{name}: {rates[0]:,.0f} rows/s in one run."
    low, high = each.measured.quartiles
    return (
        f"{name}: median {each.measured.median:,.0f} rows/s over {_runs(len(rates))},"
        f" the middle half between {low:,.0f} and {high:,.0f}."
    )


def _others(names: Sequence[str], ranking: Sequence[Ranked], shown: Ranked) -> tuple[str, ...]:
    level = [each for each in ranking if each is not shown and each.level_with_best]
    if len(ranking) == 1:
        return ("Nothing else could be measured.",)
    if _too_few(ranking):
        return ()  # The confidence says that so few rounds tell nothing apart.
    if not level:
        worst = ranking[-1]
        name = names[worst.measured.combination]
        return (f"All others are behind it by more than chance; the slowest, {name}, reaches {worst.of_best:.0%}.",)
    listed = "; ".join(f"{names[each.measured.combination]}, {each.of_best:.0%}" for each in level[:5])
    more = f" and {len(level) - 5} more" if len(level) > 5 else ""
    return (f"No difference seen from the best: {listed}{more}.",)


def _confidence(ranking: Sequence[Ranked], chosen: Ranked | None, as_planned: Ranked | None) -> tuple[str, str]:
    """The confidence and its reason."""
    if len(ranking) == 1:
        return "none", "There was nothing to compare it with."
    if _too_few(ranking) or chosen is None:
        return "none", (
            f"{_rounds(_most_rounds(ranking)).capitalize()} of the fastest and the planned settings can be compared,"
            f" and a verdict needs {LEAST_ROUNDS}: in fewer, such an order is often chance."
        )
    if chosen is not as_planned and chosen.ratio:
        sure = confidence(_chance_of(chosen, as_planned), chosen.ratio.rounds)
        return sure, f"{_interval(chosen.ratio)} Confidence {sure}."
    if chosen is not ranking[0]:
        best = ranking[0].ratio
        seen = f" {_interval(best, 'The fastest')}" if best else ""
        return "low", (
            f"It is kept because no difference from the best was seen; that is no proof that there is none.{seen}"
        )
    closest = max(ranking[1:], key=lambda each: each.behind)
    sure = confidence(closest.behind, closest.rounds)
    return sure, (
        f"By chance, a lead over the closest of the others is this clear in about {closest.behind:.1%} of comparisons:"
        f" confidence {sure}."
    )


def _chance_of(chosen: Ranked, as_planned: Ranked | None) -> float:
    """The probability that the chosen combination is so far ahead of the planned one by chance."""
    return chance(chosen.measured.compared(as_planned.measured)) if as_planned else 1.0


def _interval(ratio: Ratio, who: str = "It") -> str:
    return (
        f"{who} was {ratio.times:.2f} times as fast as planned in {_rounds(ratio.rounds)} with both; {ratio.level:.0%}"
        f" interval {ratio.low:.2f} to {ratio.high:.2f}."
    )


def _too_few(ranking: Sequence[Ranked]) -> bool:
    """Whether no other combination has enough rounds together with the planned one, or with the best."""
    return len(ranking) > 1 and _most_rounds(ranking) < LEAST_ROUNDS


def _most_rounds(ranking: Sequence[Ranked]) -> int:
    """The most rounds in which a combination can be compared with the planned one, or without it with the best."""
    deciding = _deciding(ranking)
    with_planned = [each.ratio.rounds for each in deciding if each.ratio]
    return max(with_planned or [each.rounds for each in deciding])


def _failed(shown: Ranked) -> tuple[str, ...]:
    failed = shown.measured.failed
    return (f"{_runs(failed)} of it failed.",) if failed else ()


def _many(names: Sequence[str], ranking: Sequence[Ranked]) -> tuple[str, ...]:
    if any(each.measured.chosen_after for each in ranking):
        listed = "; ".join(names[each.measured.combination] for each in ranking if each.measured.final)
        why = f"So that none of {len(ranking)} wins by chance, the best ran again in finals"
        return (f"{why}, which alone decide: {listed}.",)
    if len(ranking) < MANY:
        return ()
    return (f"Of {len(ranking)} combinations one may lead by chance: try the best few again, with more repeats.",)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count:,} rounds" if count else "no round"
