"""How far a lab is, in the words and numbers of its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from dashboard.jobs.charts import speed_step, top_speed
from dashboard.lab.labels import name_of
from importer import lab as labs
from importer.engine.tuning.budget import Spent, expected
from importer.engine.tuning.finals import most_finals
from importer.models import Lab, Trial

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
    """A trial on the map: its CSS class, and what it stands for in words."""

    trial: Trial
    style: str

    @property
    def words(self) -> str:
        trial = self.trial
        came = f"{trial.rows_per_second:,.0f} rows/s" if trial.rows_per_second else trial.status
        return f"Trial {trial.number}, {self.name}: {came}"

    @property
    def name(self) -> str:
        return name_of(self.trial.lab, self.trial.settings)


@dataclass(frozen=True)
class Round:
    """The trials of one round in their order; the first round only warms up, the last ones may be finals."""

    name: str
    squares: list[Square]


@dataclass(frozen=True)
class Budgeted:
    """One limit of the budget, and how much of it is used; seconds, rows or bytes as `unit` says."""

    label: str
    unit: str
    used: float
    most: float


@dataclass(frozen=True)
class LabProgress:
    """Everything on a lab's page that changes by itself."""

    lab: Lab
    now: datetime
    trials: Sequence[Trial]
    # importer.lab.outcome().
    outcome: dict[str, Any]
    spent: Spent

    @property
    def page_state(self) -> str:
        """What this page shows, as a token: equal tokens mean that nothing would change."""
        return str(self.lab.version)

    @property
    def phase(self) -> str:
        return _PHASES[Status(self.lab.status)]

    @property
    def running(self) -> Trial | None:
        return next((each for each in self.trials if each.status == State.RUNNING), None)

    @property
    def over(self) -> int:
        """Trials that will not run (again)."""
        return sum(each.status not in (State.PENDING, State.RUNNING) for each in self.trials)

    @property
    def best(self) -> dict[str, Any] | None:
        return self.ranking[0] if self.outcome["ranking"] else None

    @property
    def ranking(self) -> list[dict[str, Any]]:
        """The combinations, the fastest first, each with its name."""
        return [{**each, "name": name_of(self.lab, each["settings"])} for each in self.outcome["ranking"]]

    @property
    def not_measured(self) -> list[dict[str, Any]]:
        """Why combinations were not measured, or not often enough: for each reason their names."""
        reasons: dict[tuple[str, bool], list[str]] = {}
        for failed, entries in ((True, self.outcome["failed"]), (False, self.outcome["left_out"])):
            for each in entries:
                reasons.setdefault((each["why"], failed), []).append(name_of(self.lab, each["settings"]))
        return [{"why": why, "failed": failed, "names": names} for (why, failed), names in reasons.items()]

    @property
    def elapsed(self) -> float | None:
        """Seconds since it has had the target, waiting for imports included."""
        if self.lab.started_at is None:
            return None
        return ((self.lab.finished_at or self.now) - self.lab.started_at).total_seconds()

    @property
    def seconds_left(self) -> float | None:
        """Until the last trial is over, by what those so far have taken; None before the first one is."""
        if self.lab.status != Status.RUNNING or not self.spent.trials:
            return None
        to_come = [each for each in self.trials if each.status in (State.PENDING, State.RUNNING)]
        needed = sum(self._takes(each.combination) for each in to_come)
        if not self.finals:
            several = range(len(self.lab.combinations))
            needed += most_finals(len(several), self.lab.repeats) * min(self._takes(each) for each in several)
        budget = self.lab.budget.seconds
        return needed if budget is None else min(needed, max(0.0, budget - self.spent.seconds))

    def _takes(self, combination: int) -> float:
        """Seconds of a trial of it, by what is known so far."""
        return expected(self.spent.trials, combination, 0)[0]

    @property
    def finals(self) -> list[Trial]:
        """The trials of the last rounds, once it is known which few have them."""
        return [each for each in self.trials if each.final]

    @property
    def rounds(self) -> list[Round]:
        """All trials as squares; the faster, the darker."""
        top = top_speed([each.rows_per_second for each in self.trials if each.rows_per_second])
        squares = [Square(each, _look(each, top)) for each in self.trials]
        rounds = groupby(squares, key=lambda square: square.trial.round_name)
        return [Round(name.capitalize(), list(own)) for name, own in rounds]

    @property
    def budget(self) -> list[Budgeted]:
        """The limits there are."""
        limits = self.lab.budget
        largest = max((each.table_bytes for each in self.spent.trials), default=0)
        budgets = (
            Budgeted("Time", "seconds", self.spent.seconds, limits.seconds or 0),
            Budgeted("Rows", "rows", self.spent.rows, limits.rows or 0),
            Budgeted("Largest table", "bytes", largest, limits.target_bytes or 0),
            Budgeted("Sample", "bytes", self.lab.sample_bytes, limits.local_bytes or 0),
        )
        return [each for each in budgets if each.most]


def lab_progress(lab: Lab, now: datetime) -> LabProgress:
    """How far the lab is: a handful of queries."""
    trials = list(lab.trials.all())
    for each in trials:
        each.lab = lab
    return LabProgress(lab, now, trials, labs.outcome(lab), labs.spent(lab))


def _look(trial: Trial, top: float) -> str:
    if trial.rows_per_second:
        return f"speed-{speed_step(trial.rows_per_second, top)}"
    return _LOOKS.get(State(trial.status), "pending")
