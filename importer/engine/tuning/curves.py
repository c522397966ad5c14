"""What one setting makes while all others stay the same: curves over its values, and where they bend. Numbers only."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from importer.engine.tuning.grid import Settings, Value
from importer.engine.tuning.ranking import Measured

# Whatever is as near as this to the best of its curve gains nothing worth having.
KNEE = 0.97


@dataclass(frozen=True)
class Point:
    """One value of the setting, and what was measured with it."""

    value: Value
    measured: Measured


@dataclass(frozen=True)
class Curve:
    """Combinations that differ in one setting only, by its value; `other_settings` are those of all its points."""

    other_settings: Settings
    points: tuple[Point, ...]

    @property
    def best(self) -> float:
        """The highest median, in rows per second."""
        return max(each.measured.median for each in self.points)

    @property
    def knee(self) -> Point:
        """The first point, from the left, that is about as good as any."""
        return next(each for each in self.points if each.measured.median >= KNEE * self.best)


@dataclass(frozen=True)
class Share:
    """A value's rate as a share of the best value with the same other settings; the median over `curves` curves."""

    value: Value
    of_best: float
    curves: int


def curves(name: str, found: Sequence[tuple[Settings, Measured]]) -> list[Curve]:
    """The curves of a setting over what was measured; none where only one of its values was.

    Combinations without the setting are on no curve. Numbers rise from left to right, other values stand as they come.
    """
    by_others: dict[str, tuple[Settings, list[Point]]] = {}
    for settings, measured in found:
        if name not in settings:
            continue
        others = {key: value for key, value in settings.items() if key != name}
        key = repr(sorted(others.items()))
        by_others.setdefault(key, (others, []))[1].append(Point(settings[name], measured))
    made = [
        Curve(others, tuple(sorted(points, key=_order))) for others, points in by_others.values() if len(points) > 1
    ]
    return sorted(made, key=lambda each: [_order_of(value) for value in each.other_settings.values()])


def shares(found: Sequence[Curve]) -> list[Share]:
    """How far each value is behind the best one, over all curves; the best first."""
    behind: dict[Value, list[float]] = {}
    for curve in found:
        for point in curve.points:
            behind.setdefault(point.value, []).append(point.measured.median / curve.best)
    made = [Share(value, median(each), len(each)) for value, each in behind.items()]
    return sorted(made, key=lambda each: -each.of_best)


def _order(point: Point) -> tuple[bool, float, str]:
    return _order_of(point.value)


def _order_of(value: Value) -> tuple[bool, float, str]:
    """Numbers before all else; a switch is none."""
    number = isinstance(value, int) and not isinstance(value, bool)
    return not number, float(value) if number else 0.0, str(value)  # type: ignore[arg-type]
