"""Data for a lab's charts: the runs of each combination of settings, and curves over numeric settings."""

from collections.abc import Sequence
from typing import Any

from dashboard.lab.labels import answer_words, label, name_of, value_words
from importer import lab as labs
from importer.engine.tuning.curves import Curve, Point, curves, shares
from importer.engine.tuning.grid import Settings, words
from importer.engine.tuning.ranking import Measured
from importer.models import Lab

# Numeric settings, in the order of the charts.
NUMBERS = ("chunk_bytes", "rows_per_statement", "commit_rows", "partitions", "parallelism")
SESSIONS = "parallelism"
MOST_BARS = 24
# A curve needs this many points to show where it bends.
BENDS_FROM = 3


def lab_charts(lab: Lab) -> dict[str, Any]:
    """`bars`: each combination, the fastest first, as {"name", "short", "median", "low", "high", "runs", "planned"}.

    `curves`: for each numeric setting {"setting", "label", "values", "unit", "lines", "says"}; a line is
    {"name", "points": [{"at", "y", "low", "high", "runs"}]}. `unit` is "rows/s", or "times" the rate of the fewest
    sessions; `says` is empty while too few rounds tell nothing apart. `shares`: for each value of a setting, its rate
    as a share of the best one. Rates are rows per second.
    """
    outcome = labs.outcome(lab)
    measured = [(labs.whole(lab, each["settings"]), Measured(0, tuple(each["rates"]))) for each in outcome["ranking"]]
    advice = outcome["recommendation"]
    verdict = bool(advice) and advice["confidence"] != "none"
    apart = _telling_apart([labs.whole(lab, each) for each in lab.combinations])
    return {
        "bars": [_bar(lab, each, apart) for each in outcome["ranking"][:MOST_BARS]],
        "curves": [
            _chart(name, drawn, verdict=verdict)
            for name in NUMBERS
            if name in lab.grid.values and (drawn := _bending(curves(name, measured)))
        ],
        "shares": [each for name in lab.grid.values if (each := _shares(name, curves(name, measured)))],
    }


def _bending(drawn: list[Curve]) -> list[Curve]:
    """The curves, unless none has the points to show where it bends: the bars show the same then."""
    return drawn if any(len(each.points) >= BENDS_FROM for each in drawn) else []


def _telling_apart(combinations: Sequence[Settings]) -> list[str]:
    """The settings of which the combinations have more than one value, in the order in which they are named."""
    names = dict.fromkeys(name for each in combinations for name in each)
    return [name for name in names if len({repr(each.get(name)) for each in combinations}) > 1]


def _bar(lab: Lab, ranked: dict[str, Any], apart: Sequence[str]) -> dict[str, Any]:
    low, high = ranked["quartiles"]
    settings = labs.whole(lab, ranked["settings"])
    shown = {name: settings[name] for name in apart if name in settings}
    # A value alone, such as 2, does not say of what it is.
    short = words(shown) if len(apart) == 1 else ", ".join(value_words(*each) for each in shown.items())
    return {
        "name": name_of(lab, ranked["settings"]),
        "short": short if shown else name_of(lab, ranked["settings"]),
        "median": round(ranked["median"]),
        "low": round(low),
        "high": round(high),
        "runs": [round(rate) for rate in ranked["rates"]],
        "planned": ranked["planned"],
    }


def _chart(name: str, drawn: list[Curve], *, verdict: bool) -> dict[str, Any]:
    values = sorted({point.value for curve in drawn for point in curve.points}, key=lambda value: value or 0)
    times = name == SESSIONS
    return {
        "setting": name,
        "label": label(name),
        "values": [value_words(name, value) for value in values],
        "unit": "times" if times else "rows/s",
        "lines": [
            {
                # Short, as the names of the bars: a legend does not break its lines.
                "name": ", ".join(value_words(*each) for each in curve.other_settings.items()) or label(name),
                "points": [
                    _point(point, values.index(point.value), curve.points[0].measured.median if times else 1)
                    for point in curve.points
                ],
            }
            for curve in drawn
        ],
        "says": _says(name, max(drawn, key=lambda curve: curve.best)) if verdict else "",
    }


def _point(point: Point, at: int, by: float) -> dict[str, Any]:
    low, high = point.measured.quartiles
    runs = [round(rate / by, 3) for rate in point.measured.rates]
    return {
        "at": at,
        "y": round(point.measured.median / by, 3),
        "low": round(low / by, 3),
        "high": round(high / by, 3),
        "runs": runs,
    }


def _says(name: str, best: Curve) -> str:
    """The conclusion from the fastest curve, in words; "" if there are too few points."""
    first, last = best.points[0], best.points[-1]
    others = f" with {words(best.other_settings)}" if best.other_settings else ""
    if name == SESSIONS:
        times = max(each.measured.median for each in best.points) / first.measured.median
        fastest = max(best.points, key=lambda each: each.measured.median)
        if fastest is first:
            return f"More than {value_words(name, first.value)} in parallel are no faster{others}."
        return (
            f"{value_words(name, fastest.value)} in parallel load {times:.2f} times as fast as"
            f" {value_words(name, first.value)}{others}."
        )
    knee = best.knee
    reached = f"{100 * knee.measured.median / best.best:.0f} % of the best{others}"
    if knee is last:
        return f"It still rises at {value_words(name, knee.value)}, the largest that was tried{others}."
    bends = len(best.points) >= BENDS_FROM
    return f"{value_words(name, knee.value)} reaches {reached}; larger ones gain nothing." if bends else ""


def _shares(name: str, drawn: list[Curve]) -> dict[str, Any] | None:
    if not drawn:
        return None
    return {
        "label": label(name),
        "values": [
            {"value": answer_words(name, each.value), "of_best": each.of_best, "curves": each.curves}
            for each in shares(drawn)
        ],
    }
