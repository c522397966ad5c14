"""The ranking of a lab that varies two settings as a matrix: a cell for each pair of values, filled as trials end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.lab.labels import label, value_words
from importer.engine.tuning.ranking import NONE_SEEN
from importer.history.chunks.map import speed_step, top_speed
from importer.lab.results import whole
from importer.models import Lab, Trial

State = Trial.Status
# In place of a rate: what the trials of a pair of values have come to so far.
_WORDS = {State.RUNNING: "running", State.FAILED: "failed", State.DONE: "warmed up"}


@dataclass(frozen=True)
class Cell:
    """A pair of values: its rank (from 1, 0 without a rate), its median rate, and what is to say about it in words."""

    rank: int
    rate: float | None
    words: str
    style: str


@dataclass(frozen=True)
class Matrix:
    """The first setting downwards, the second one across. `rows`: the value's name, and a cell for each column."""

    down: str
    across: str
    columns: list[str]
    rows: list[tuple[str, list[Cell]]]


def matrix_of(lab: Lab, trials: Sequence[Trial], outcome: Mapping[str, Any]) -> Matrix | None:
    """The matrix of the lab; None unless it varies exactly two settings."""
    varied = [name for name, values in lab.grid.values.items() if len(values) > 1]
    if len(varied) != 2 or lab.experiment:
        return None
    numbers = {_pair(whole(lab, each), varied): number for number, each in enumerate(lab.combinations)}
    ranking = outcome["ranking"]
    top = top_speed([each["median"] for each in ranking])
    ranked = {_pair(whole(lab, each["settings"]), varied): (at, each) for at, each in enumerate(ranking, start=1)}
    to_come = "not tried" if lab.ended else "to come"
    why_out = {_pair(whole(lab, each["settings"]), varied): each["why"] for each in lab.left_out_json}
    down, across = (_values(lab, name) for name in varied)
    return Matrix(
        label(varied[0]),
        label(varied[1]),
        [value_words(varied[1], value) for value in across],
        [
            (
                value_words(varied[0], first),
                [
                    _cell(ranked.get(pair), numbers.get(pair), trials, top, why_out.get(pair, to_come))
                    for pair in ((repr(first), repr(second)) for second in across)
                ],
            )
            for first in down
        ],
    )


def _values(lab: Lab, name: str) -> list[Any]:
    """The values of a setting: those of the grid, and the planned one."""
    planned = [whole(lab, each).get(name) for each in lab.combinations]
    return list(dict.fromkeys([*lab.grid.values[name], *planned]))


def _pair(settings: Mapping[str, Any], varied: Sequence[str]) -> tuple[str, str]:
    first, second = (repr(settings.get(name)) for name in varied)
    return first, second


def _cell(
    ranked: tuple[int, Mapping[str, Any]] | None, number: int | None, trials: Sequence[Trial], top: float, to_come: str
) -> Cell:
    if ranked:
        place, entry = ranked
        words = "best" if place == 1 else entry["difference"]
        style = "level" if place == 1 or words == NONE_SEEN else ""
        return Cell(place, entry["median"], words, f"speed-{speed_step(entry['median'], top)} {style}".strip())
    own = [each for each in trials if each.combination == number]
    if left := next((each for each in own if each.status == State.LEFT_OUT), None):
        return Cell(0, None, left.problem.get("what", "left out"), "")
    states = {each.status for each in own}
    found = next((state for state in (State.RUNNING, State.FAILED, State.DONE) if state in states), None)
    return Cell(0, None, _WORDS[found] if found else to_come, "")
