"""The effect of one setting while all others stay the same: curves over its values, and their knee. Numbers only."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from importer.engine.tuning.grid import Settings, Value
from importer.engine.tuning.ranking import Measured

# A point that reaches this share of the best median of its curve is as good as the best.
KNEE = 0.97


@dataclass(frozen=True)
class Point:
    """One value of the setting, and the measurement with it."""

    value: Value
    measured: Measured


@dataclass(frozen=True)
class Curve:
    """Combinations that differ in one setting only, by its value; `other_settings` are the settings that they share."""

    other_settings: Settings
    points: tuple[Point, ...]

    @property
    def best(self) -> float:
        """The highest median, in rows per second."""
        return max(each.measured.median for each in self.points)

    @property
    def knee(self) -> Point:
        """The first point from the left that reaches KNEE of the best median."""
        return next(each for each in self.points if each.measured.median >= KNEE * self.best)


@dataclass(frozen=True)
class Share:
    """The share of the best value's rate that a value reaches: the median over the `curves` that it is on."""

    value: Value
    of_best: float
    curves: int


def curves(name: str, results: Sequence[tuple[Settings, Measured]]) -> list[Curve]:
    """The curves of a setting over the results. A curve has at least two points.

    Combinations without the setting are on no curve. Points are sorted by value: numbers first, then texts.
    """
    by_others: dict[str, tuple[Settings, list[Point]]] = {}
    for settings, measured in results:
        if name not in settings:
            continue
        others = {key: value for key, value in settings.items() if key != name}
        key = repr(sorted(others.items()))
        by_others.setdefault(key, (others, []))[1].append(Point(settings[name], measured))
    unordered = [
        Curve(others, tuple(sorted(points, key=_order))) for others, points in by_others.values() if len(points) > 1
    ]
    return sorted(unordered, key=lambda each: [_order_of(value) for value in each.other_settings.values()])


def shares(all_curves: Sequence[Curve]) -> list[Share]:
    """The share of the best rate that each value reaches, over all curves; the best first."""
    ratios: dict[Value, list[float]] = {}
    for curve in all_curves:
        for point in curve.points:
            ratios.setdefault(point.value, []).append(point.measured.median / curve.best)
    by_value = [Share(value, median(each), len(each)) for value, each in ratios.items()]
    return sorted(by_value, key=lambda each: -each.of_best)


def _order(point: Point) -> tuple[bool, float, str]:
    return _order_of(point.value)


def _order_of(value: Value) -> tuple[bool, float, str]:
    """Sort key: numbers first, in their order; switches count as texts."""
    number = isinstance(value, int) and not isinstance(value, bool)
    return not number, float(value) if number else 0.0, str(value)  # type: ignore[arg-type]
