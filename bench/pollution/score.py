"""Scores what a loader made of a file, as the Pollock benchmark does: ten measures between 0 and 1 a file.

Success, and precision, recall and F1 of the header, of the records and of the cells, each compared as multisets. NULL
and empty text, and the ways to write a date or a time, are made equal before. A loader's score is the sum of the means
of the ten measures over all files: simple, or weighted by how common each pollution is.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from bench.pollution.polluters import PollutedFile

FULL = 10.0
_DAY, _TIME = re.compile(r"(\d\d)/(\d\d)/(\d{4})"), re.compile(r"\d\d:\d\d")


@dataclass(frozen=True)
class Loaded:
    """What a loader made of a file: header and rows as texts; or `problem`, why it made nothing."""

    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


def score(file: PollutedFile, loaded: Loaded) -> float:
    """The sum of the ten measures: 0 for a file that was not loaded, 10 for one that was loaded rightly."""
    if loaded.problem:
        return 0.0
    return 1.0 + sum(
        (
            _agreement(file.header, loaded.header),
            _agreement(alike(file.rows), alike(loaded.rows)),
            _agreement(_cells(alike(file.rows)), _cells(alike(loaded.rows))),
        )
    )


def alike(rows: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows with each date as 2018-01-28 and each time as 00:15:00, as a table of typed columns has them."""
    return [tuple(map(_alike, row)) for row in rows]


@cache
def _alike(cell: str) -> str:
    if day := _DAY.fullmatch(cell):
        return "{2}-{1}-{0}".format(*day.groups())
    return f"{cell}:00" if _TIME.fullmatch(cell) else cell


def totals(files: Sequence[PollutedFile], scores: Sequence[float]) -> tuple[float, float]:
    """The simple and the weighted score of a loader, at most 10."""
    weights = [file.weight for file in files]
    weighted = sum(weight * each for weight, each in zip(weights, scores, strict=True)) / sum(weights)
    return sum(scores) / len(scores), weighted


def _agreement(right: Iterable[Hashable], loaded: Iterable[Hashable]) -> float:
    """Precision, recall and F1 of the loaded things, added up; 3 where none are to be loaded, as in the paper."""
    wanted, found = Counter(right), Counter(loaded)
    if not wanted:
        return 3.0
    common = (wanted & found).total()
    if not common:
        return 0.0
    precision, recall = common / found.total(), common / wanted.total()
    return precision + recall + 2 * precision * recall / (precision + recall)


def _cells(rows: Iterable[Sequence[str]]) -> Iterable[str]:
    return (cell for row in rows for cell in row)
