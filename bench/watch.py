"""Measures false alarms and detected slowdowns of importer.history.slowdown_test on generated series.

    python -m bench.watch

Each series is a number of imports that differ by noise alone, and one more: equally fast (an alarm is false), or with
the speed in the heading (an alarm is due). `noise` is the deviation of the logarithm of the rows a second, about the
share by which imports differ. "heavy tails": Student's t with 3 degrees of freedom. "stalls": one import in 20 takes up
to half as long again, independent of the settings. "two speeds": three imports in ten have 70 % of the others' speed.
"""

import argparse
from collections.abc import Callable

import numpy as np

from importer.history.slowdown_test import FEWEST, MOST, clearly_slower

Rates = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
SPEEDS = (1.0, 0.8, 0.7, 0.5)


def even(noise: float) -> Rates:
    """Imports with normally distributed noise."""
    return lambda chance, shape: np.exp(chance.normal(0, noise, shape))


def _heavy(chance: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.exp(0.05 * chance.standard_t(3, shape))


def _stalls(chance: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return even(0.03)(chance, shape) / np.where(chance.random(shape) < 0.05, 1 + chance.random(shape) / 2, 1)


def _two(chance: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return even(0.03)(chance, shape) * np.where(chance.random(shape) < 0.3, 0.7, 1)


KINDS: dict[str, Rates] = {
    **{f"noise {share:.0%}": even(share) for share in (0.03, 0.05, 0.1, 0.15, 0.2)},
    "heavy tails, 5%": _heavy,
    "stalls, 3%": _stalls,
    "two speeds, 3%": _two,
}


def alarms(rates: Rates, others: int, speed: float, series: int, seed: int = 1) -> float:
    """The share of series in which the last import, at `speed` times the others' speed, is classified as slower."""
    samples = 1e5 * rates(np.random.default_rng(seed), (series, others + 1))
    return sum(clearly_slower(speed * each[0], each[1:].tolist()) for each in samples) / series


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=10_000)
    series = parser.parse_args().series
    print(f"{series:,} series of each kind; flagged in percent, where the last import has this speed")
    print(f"{'':18} others " + "".join(f"{speed:>8.0%}" for speed in SPEEDS))
    for name, rates in KINDS.items():
        for others in (FEWEST, MOST):
            shares = "".join(f"{100 * alarms(rates, others, speed, series):8.2f}" for speed in SPEEDS)
            print(f"{name:18} {others:6} {shares}")


if __name__ == "__main__":
    main()
