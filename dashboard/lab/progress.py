"""The progress of a lab, in words and numbers for its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from dashboard.lab.labels import name_of
from importer import lab as labs
from importer.engine.tuning.budget import Spent, expected
from importer.engine.tuning.finals import most_finals
from importer.engine.tuning.rounds import WARM_UP
from importer.history.chunks.map import speed_step, top_speed
from importer.models import Lab, Trial
from importer.worker.hosts.installation import state

State = Trial.Status
Status = Lab.Status

_PHASES = {
    Status.WAITING: "Waiting: another lab has this target",
    Status.PREPARING: "Writing the sample, and seeing whether scratch tables can be made",
    Status.RUNNING: "Trying, one after another",
    Status.ENDING: "Dropping the scratch tables and the sample",
    Status.DONE: "Every trial is over; scratch tables and sample are gone",
    Status.FAILED: "Ended without a result; scratch tables and sample are gone",
    Status.CANCELLED: "Cancelled; what was measured stays, scratch tables and sample are gone",
}
_LOOKS = {State.RUNNING: "loading", State.FAILED: "failed", State.LEFT_OUT: "to-come", State.PENDING: "pending"}


@dataclass(frozen=True)
class Square:
    """A trial on the map: its CSS class, and its result in words."""

    trial: Trial
    style: str

    @property
    def words(self) -> str:
        trial = self.trial
        result = f"{trial.rows_per_second:,.0f} rows/s" if trial.rows_per_second else trial.status
        return f"Trial {trial.number}, {self.name}: {result}"

    @property
    def name(self) -> str:
        return name_of(self.trial.lab, self.trial.settings)


@dataclass(frozen=True)
class Round:
    """The trials of one round in their order. The first round is a warm-up; the last ones may be finals."""

    name: str
    squares: list[Square]


@dataclass(frozen=True)
class BudgetUse:
    """One limit of the budget and how much of it is used; `unit` is "seconds", "rows" or "bytes"."""

    label: str
    unit: str
    used: float
    most: float


@dataclass(frozen=True)
class LabProgress:
    """The parts of a lab's page that change while the lab runs."""

    lab: Lab
    now: datetime
    trials: Sequence[Trial]
    # importer.lab.outcome().
    outcome: dict[str, Any]
    spent: Spent
    # Why no lab continues, in words.
    halts: str = ""

    @property
    def page_state(self) -> str:
        """A token of what the page shows: with an equal token, nothing has changed."""
        return f"{self.lab.version}.{self.lab.status}.{self.halts}"

    @property
    def phase(self) -> str:
        if labs.is_asked_for(self.lab):
            return "Nothing is written before another person approves it"
        if labs.is_not_dropped(self.lab):
            return "Ended without cleaning up: scratch tables may be left"
        return _PHASES[Status(self.lab.status)]

    @property
    def running(self) -> Trial | None:
        return next((each for each in self.trials if each.status == State.RUNNING), None)

    @property
    def warm_up(self) -> bool:
        """Whether the lab has a warm-up round; an experiment may have none."""
        return not self.lab.experiment or any(each.round == WARM_UP for each in self.trials)

    @property
    def done(self) -> int:
        """How many trials have a result."""
        return int(self.outcome["trials"][State.DONE])

    @property
    def unmeasured(self) -> list[tuple[str, int]]:
        """The states of trials that are over without a result, each with their number."""
        numbers = self.outcome["trials"]
        return [(str(state), numbers[state]) for state in (State.FAILED, State.LEFT_OUT) if numbers[state]]

    @property
    def best(self) -> dict[str, Any] | None:
        return self.ranking[0] if self.outcome["ranking"] else None

    @property
    def ranking(self) -> list[dict[str, Any]]:
        """The combinations with their names, the fastest first; `several`: whether one has more than one run."""
        return [
            {**each, "name": name_of(self.lab, each["settings"]), "several": len(each["rates"]) > 1}
            for each in self.outcome["ranking"]
        ]

    @property
    def not_measured(self) -> list[dict[str, Any]]:
        """Combinations that were not measured, or not often enough: their names by reason."""
        reasons: dict[tuple[str, bool], list[str]] = {}
        settled = [each["settings"] for each in self.outcome["failed"]]  # what follows from that is no other reason
        for failed, entries in ((True, self.outcome["failed"]), (False, self.outcome["left_out"])):
            for each in entries:
                if not failed and each["settings"] in settled:
                    continue
                reasons.setdefault((each["why"], failed), []).append(name_of(self.lab, each["settings"]))
        return [{"why": why, "failed": failed, "names": names} for (why, failed), names in reasons.items()]

    @property
    def elapsed(self) -> float | None:
        """Seconds since the lab got the target, including the time that it waited for imports; None before that."""
        if self.lab.started_at is None:
            return None
        return ((self.lab.finished_at or self.now) - self.lab.started_at).total_seconds()

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the last trial ends, from the trials so far; None before the first one has ended."""
        if self.lab.status != Status.RUNNING or not self.spent.trials:
            return None
        to_come = [each for each in self.trials if each.status in (State.PENDING, State.RUNNING)]
        needed = sum(self._expected_seconds(each.combination) for each in to_come)
        if not self.finals and not self.lab.experiment:  # An experiment has no finals.
            combinations = range(len(self.lab.combinations))
            fastest = min(map(self._expected_seconds, combinations))
            needed += most_finals(len(combinations), self.lab.repeats) * fastest
        budget = self.lab.budget.seconds
        return needed if budget is None else min(needed, max(0.0, budget - self.spent.seconds))

    def _expected_seconds(self, combination: int) -> float:
        """Expected seconds of one trial of the combination, from the trials so far."""
        return expected(self.spent.trials, combination, 0)[0]

    @property
    def finals(self) -> list[Trial]:
        """The trials of the finals; empty until the finalists are known."""
        return [each for each in self.trials if each.final]

    @property
    def rounds(self) -> list[Round]:
        """All trials as squares by round; a faster trial is darker."""
        top = top_speed([each.rows_per_second for each in self.trials if each.rows_per_second])
        squares = [Square(each, _look(each, top)) for each in self.trials]
        rounds = groupby(squares, key=lambda square: square.trial.round_name)
        return [Round(name.capitalize(), list(own)) for name, own in rounds]

    @property
    def budget(self) -> list[BudgetUse]:
        """The limits of the budget that are set."""
        limits = self.lab.budget
        largest = max((each.table_bytes for each in self.spent.trials), default=0)
        budgets = (
            BudgetUse("Time", "seconds", self.spent.seconds, limits.seconds or 0),
            BudgetUse("Rows", "rows", self.spent.rows, limits.rows or 0),
            BudgetUse("Largest table", "bytes", largest, limits.target_bytes or 0),
            BudgetUse("Sample", "bytes", self.lab.sample_bytes, limits.local_bytes or 0),
        )
        return [each for each in budgets if each.most]


def lab_progress(lab: Lab, now: datetime) -> LabProgress:
    """The progress of the lab, in a handful of queries."""
    trials = list(lab.trials.all())
    for each in trials:
        each.lab = lab
    return LabProgress(lab, now, trials, labs.outcome(lab), labs.spent(lab), state().halts)


def _look(trial: Trial, top: float) -> str:
    if trial.rows_per_second:
        return f"speed-{speed_step(trial.rows_per_second, top)}"
    return _LOOKS.get(State(trial.status), "pending")
