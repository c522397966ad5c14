"""The history's charts: what is drawn, as JSON, and the same in words and figures for who does not see it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dashboard.history.labels import short, title
from dashboard.history.url_state import View
from importer.history import charts
from importer.history.charts import Change, Point, Summary, TimingSpread
from importer.history.facts import FACTS, PHASES, SERVER, Fact, Kind, Value
from importer.history.formatting import in_words
from importer.history.read import column
from importer.history.search import matching

MOST_COLOURS = 6
MOST_CATEGORIES = 24
MOST_BARS = 30
# Greatest divided by least: from here on, only a logarithmic axis shows both.
WIDE = 50
OTHERS = "others"
UNKNOWN = "unknown"
# Bars are cut off if the longest is this many times as long as the 90th percentile.
OUTLIER = 5
PARTS: dict[str, Sequence[Fact]] = {"steps": charts.STEPS, "sessions": PHASES}


@dataclass(frozen=True)
class Drawing:
    """A chart: `data` for the page's script; `text` and the table of `heads` and `figures` say the same in words."""

    text: str
    heads: tuple[str, ...] = ()
    figures: tuple[tuple[str, ...], ...] = ()
    data: dict[str, Any] = field(default_factory=dict)


def drawing(view: View) -> Drawing:
    """The chart that the view selects."""
    return {"settings": settings, "time": over_time, "phases": phases}[view.chart](view)


# --- settings against timings ---


@dataclass(frozen=True)
class Classes:
    """The values of a fact in a few classes: `of` gives the class number of a value, `labels` the names."""

    labels: tuple[str, ...]
    of: Callable[[Value | None], int]
    in_order: bool


def settings(view: View) -> Drawing:
    """Any fact against any timing, coloured by a third fact, with median and middle half of several imports each.

    Settings are compared within one table: of several, all imports are dots, unless the tables themselves are drawn.
    """
    measured = charts.points(view.query, view.x, view.y, view.colour)
    if not measured.points:
        return Drawing(f"Of the imports found, none has both {title(view.x)} and {title(view.y)}.")
    colours = _coloured(view.colour, [point.colour for point in measured.points])
    across = FACTS[view.x].kind
    categories = None if across.is_number and across is not Kind.SWITCH else _categories(view.x, measured.points)
    drawn = [
        Point(job, categories.of(x) if categories else x, y, colours.of(colour))
        for job, x, y, colour in measured.points
    ]
    summaries = charts.summaries(drawn, numbers=categories is None)
    if len(summaries) == 1:
        only = _setting(view, summaries[0], categories, colours)
        return replace(over_time(view), text=_alike(view, len(drawn), only) + _left_out(view, measured.left_out))
    tables = _tables(view, [each.job for each in drawn])
    compared = summaries if tables == 1 or "table" in (view.x, view.colour) else ()
    shown = charts.thinned(drawn)
    logarithmic = categories is None and _is_wide(across, drawn)
    data = {
        "kind": "settings",
        "x": _axis(view.x) | {"labels": categories.labels if categories else None, "logarithmic": logarithmic},
        "y": _axis(view.y),
        "coloured": title(view.colour) if view.colour else "",
        "inOrder": colours.in_order,
        "groups": [
            {
                "label": label,
                "points": [[each.x, each.y, each.job] for each in shown if each.colour == number],
                "medians": [
                    _median(each, logarithmic) for each in compared if each.colour == number and each.spread.jobs > 1
                ],
            }
            for number, label in enumerate(colours.labels)
        ],
        "shown": len(shown),
        "found": len(drawn),
    }
    if tables > 1:
        text = f"{_imports(len(drawn))} of {tables:,} tables: choose one to compare settings."
    else:
        text = _summaries(view, summaries, categories, colours)
    return Drawing(
        text + _left_out(view, measured.left_out),
        _heads(view),
        tuple(_figures(view, each, categories, colours) for each in compared),
        data,
    )


def _tables(view: View, jobs: Sequence[int]) -> int:
    """Into how many tables these imports went."""
    return 1 if view.table else len(set(column("table", jobs).values()))


def _coloured(name: str, values: Sequence[Value | None]) -> Classes:
    if not name:
        return Classes(("",), lambda _value: 0, False)
    numbers = FACTS[name].kind.is_number and FACTS[name].kind is not Kind.SWITCH
    known = {value for value in values if value is not None}
    if numbers and len(known) > MOST_COLOURS:
        return _in_ranges(name, [float(value) for value in values if value is not None], len(known) < len(set(values)))
    return _most_frequent(name, values, MOST_COLOURS, numbers)


def _in_ranges(name: str, values: list[float], any_unknown: bool) -> Classes:
    """Classes by quantile, with about as many values in each; one more for unknown values if there are any."""
    borders = np.unique(np.quantile(values, np.linspace(0, 1, MOST_COLOURS)[1:-1]))
    edges = [min(values), *(float(each) for each in borders), max(values)]
    labels = [f"{short(name, low)} to {short(name, high)}" for low, high in pairwise(edges)]

    def of(value: Value | None) -> int:
        return len(labels) if value is None else int(np.searchsorted(borders, float(value)))

    classes: dict[Value | None, int] = {value: of(value) for value in {*values, None}}
    return Classes((*labels, *([UNKNOWN] if any_unknown else [])), lambda value: classes[value], True)


def _most_frequent(name: str, values: Iterable[Value | None], most: int, in_order: bool) -> Classes:
    """One class per value; if there are more than `most` values, the rarest share one class named OTHERS."""
    counted = Counter(values)
    unknown = counted.pop(None, 0)
    frequent = [value for value, _ in counted.most_common(most if len(counted) <= most else most - 1)]
    ordered: list[Any] = sorted(frequent)
    numbers = {value: number for number, value in enumerate(ordered)}
    others = len(frequent)
    labels = [short(name, value) or "none" for value in ordered]
    labels += [OTHERS] * (others < len(counted)) + [UNKNOWN] * bool(unknown)
    last = len(labels) - 1
    return Classes(tuple(labels), lambda value: last if value is None else numbers.get(value, others), in_order)


def _categories(name: str, points: Iterable[Point]) -> Classes:
    return _most_frequent(name, (point.x for point in points), MOST_CATEGORIES, False)


def _is_wide(kind: Kind, drawn: Sequence[Point]) -> bool:
    """Whether the axis is logarithmic: for byte sizes, and where the greatest value is WIDE times the least or more."""
    least, most = (float(choose(point.x for point in drawn)) for choose in (min, max))
    return kind is not Kind.MOMENT and least > 0 and (kind is Kind.BYTES or most / least >= WIDE) and most > least


def _axis(name: str) -> dict[str, Any]:
    return {"title": title(name), "form": FACTS[name].kind.value}


def _median(each: Summary, logarithmic: bool) -> list[float]:
    low, high = float(each.value), float(each.upto)
    middle = (low * high) ** 0.5 if logarithmic else (low + high) / 2
    return [middle, each.spread.median, each.spread.low, each.spread.high, each.spread.jobs]


def _heads(view: View) -> tuple[str, ...]:
    coloured = (title(view.colour),) if view.colour else ()
    return (title(view.x), *coloured, "Imports", f"Median {title(view.y)}", "Middle half", "Least to most")


def _figures(view: View, each: Summary, categories: Classes | None, colours: Classes) -> tuple[str, ...]:
    coloured = (colours.labels[int(each.colour or 0)],) if view.colour else ()
    return (_along(view, each, categories), *coloured, f"{each.spread.jobs:,}", *_spread(view.y, each.spread))


def _along(view: View, each: Summary, categories: Classes | None) -> str:
    if categories:
        return categories.labels[int(each.value)]
    if each.value == each.upto:
        return short(view.x, each.value)
    return f"{short(view.x, each.value)} to {short(view.x, each.upto)}"


def _spread(name: str, spread: TimingSpread) -> tuple[str, ...]:
    return (
        short(name, spread.median),
        f"{short(name, spread.low)} to {short(name, spread.high)}",
        f"{short(name, spread.least)} to {short(name, spread.most)}",
    )


def _summaries(view: View, summaries: Sequence[Summary], categories: Classes | None, colours: Classes) -> str:
    """The highest and the lowest median of several imports each, in words."""
    several = [each for each in summaries if each.spread.jobs > 1]
    if len(several) < 2:
        return "Too few imports with the same settings to compare medians."
    highest, lowest = (choose(several, key=lambda each: each.spread.median) for choose in (max, min))

    def summary(each: Summary) -> str:
        at = _setting(view, each, categories, colours)
        return f"{in_words(view.y, each.spread.median)} with {at} ({_imports(each.spread.jobs)})"

    return f"Highest median: {summary(highest)}. Lowest: {summary(lowest)}."


def _alike(view: View, jobs: int, setting: str) -> str:
    """That there is no setting to compare, in words: a median of one setting says nothing about it."""
    if jobs == 1:
        return f"Only one import has {title(view.x)} and {title(view.y)}: it is drawn over time."
    return f"All {jobs:,} imports have {setting}, so there is nothing to compare: they are drawn over time."


def _setting(view: View, each: Summary, categories: Classes | None, colours: Classes) -> str:
    coloured = f", {title(view.colour)} {colours.labels[int(each.colour or 0)]}" if view.colour else ""
    return f"{title(view.x)} {_along(view, each, categories)}{coloured}"


def _left_out(view: View, count: int) -> str:
    return f" {_imports(count)} without {title(view.x)} or {title(view.y)} left out." if count else ""


def _imports(count: int) -> str:
    return f"{count:,} import{'' if count == 1 else 's'}"


# --- over time ---


def over_time(view: View) -> Drawing:
    """A timing over time, with the imports before which settings or the server had changed."""
    line = charts.over_time(view.query, view.y)
    if not line.points:
        return Drawing(f"Of the imports found, none has {title(view.y)}.")
    tables = _tables(view, [point.job for point in line.points])
    shown = charts.outline(line.points) if tables == 1 else charts.evenly(line.points)
    data = {
        "kind": "time",
        "y": _axis(view.y),
        "points": [[each.x, each.y, each.job] for each in shown],
        # Tables differ too much: a line or a change between imports into different tables has no meaning.
        "joined": tables == 1,
        "changes": [_change(each) for each in line.changes] if tables == 1 else [],
        "shown": len(shown),
        "found": len(line.points),
    }
    spread = TimingSpread.of([float(point.y) for point in line.points])
    text = f"{_imports(spread.jobs)}: median {in_words(view.y, spread.median)}, middle half"
    text += f" {short(view.y, spread.low)} to {short(view.y, spread.high)}."
    if tables > 1:
        text += f" They went into {tables:,} tables: choose one to see what changed in between."
        return Drawing(text, ("Ended", "Imports", *_heads(view)[-3:]), tuple(_months(view, line.points)), data)
    if line.changes:
        text += " Lines across mark imports before which settings (dashed) or the server (red) had changed."
    figures = tuple(
        (short("ended", each.at), str(each.job), "; ".join(_change(each)["words"])) for each in reversed(line.changes)
    )
    return Drawing(text, ("Ended", "Import", "What was different from the one before"), figures, data)


def _months(view: View, points: Iterable[Point]) -> Iterable[tuple[str, ...]]:
    for each in charts.summaries(points, numbers=True):
        period = f"{short('ended', each.value)} to {short('ended', each.upto)}"
        yield (period, f"{each.spread.jobs:,}", *_spread(view.y, each.spread))


def _change(change: Change) -> dict[str, Any]:
    server = {each.name for each in SERVER}
    words = [
        f"{title(name)}: {short(name, before) or 'none'} → {short(name, after) or 'none'}"
        for name, (before, after) in change.facts.items()
    ]
    return {"at": change.at, "job": change.job, "server": bool(server & set(change.facts)), "words": words}


# --- where the time goes ---


def phases(view: View) -> Drawing:
    """One bar per import, divided into its steps, or into the phases of its sessions."""
    parts = PARTS[view.parts]
    found = charts.where_time_goes(view.query, MOST_BARS, parts)
    # Without its load an import would have a bar of its waiting alone, however long it took.
    needed = [charts.LOAD] if charts.LOAD in parts else parts
    durations = [(job, seconds) for job, seconds in found if any(seconds.get(part.name) for part in needed)]
    left_out = len(found) - len(durations)
    if not durations:
        return Drawing("Of the imports found, none has told where its time went.")
    tables = column("table", [job for job, _ in durations])
    sums = {part: sum(seconds.get(part.name, 0.0) for _, seconds in durations) for part in parts}
    whole = sum(sums.values())
    end = _end_of_axis([sum(seconds.get(part.name, 0.0) for part in parts) for _, seconds in durations])
    shares = ", ".join(f"{part.title} {took / whole:.0%}" for part, took in sums.items() if took / whole >= 0.005)
    data = {
        "kind": "phases",
        "labels": [str(job) if view.table else f"{job} {tables.get(job, '')}" for job, _ in durations],
        "jobs": [job for job, _ in durations],
        "parts": [
            {"label": part.title, "seconds": [seconds.get(part.name, 0.0) for _, seconds in durations]}
            for part in parts
        ],
        "shown": len(durations),
        "found": len(matching(view.query)) - left_out,
        "end": end,
    }
    text = f"Of the time of {_imports(len(durations))}, the first of the table below: {shares}."
    text += " A bar that is cut off has its length written on it." if end else ""
    return Drawing(
        f"{text} {_imports(left_out)} without measured times left out." if left_out else text,
        ("Import", "Table", *(part.title for part in parts)),
        tuple(
            (str(job), str(tables.get(job, "")), *(short(part.name, seconds.get(part.name)) for part in parts))
            for job, seconds in durations
        ),
        data,
    )


def _end_of_axis(lengths: Sequence[float]) -> float | None:
    """Where bars are cut off, so that a few long ones do not make the others too short to see; None if none is."""
    usual = float(np.quantile(lengths, 0.9, method="lower"))
    return float(f"{1.5 * usual:.1g}") if max(lengths) > OUTLIER * usual else None
