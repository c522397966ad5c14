"""Collects the result of an experiment for its report: rates, failures and conditions; and keeps it."""

import os
from dataclasses import dataclass, field
from statistics import median

from django.db.models import F
from django.utils import timezone

from bench.experiments.needs import Place
from bench.experiments.published.registry import experiment_named
from bench.experiments.report import Conditions, ExperimentResult
from bench.experiments.trials import LINK, SERVER
from bench.experiments.variants import machine_memory
from bench.experiments.verdicts import ONE_BUSY_ROUND, ONE_ROUND
from bench.relay import Link
from importer.engine.mysql.connection import connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.tuning.grid import WAY
from importer.engine.tuning.rounds import WARM_UP
from importer.engine.units import human_bytes
from importer.models import Lab, Target, Trial

# From this load average per core on, the machine counts as busy. It is measured before the experiment begins.
BUSY = 0.25


@dataclass(frozen=True)
class StartState:
    """The date of the start, and how busy this machine was then: the load average of one minute."""

    date: str = field(default_factory=lambda: f"{timezone.now():%Y-%m-%d}")
    load: float = field(default_factory=lambda: os.getloadavg()[0])

    @property
    def busy(self) -> bool:
        """Whether other processes were running, so that the figures may be lower than this machine's best."""
        return self.load >= BUSY * _cores()

    @property
    def words(self) -> str:
        """A sentence on how busy the machine was."""
        if not self.busy:
            return "Nothing else was at work here when it began."
        return f"It was busy: {self.load:.1f} processes were at work on its {_cores()} cores before it began."


def experiment_result(lab: Lab, start_state: StartState, command: str) -> ExperimentResult:
    """The experiment's figures so far; `command` repeats it. Raises TargetProblem if the server does not answer."""
    trials = list(lab.trials.select_related("lab"))
    with connect(lab.target.address) as connection:
        server = read_server(connection, lab.target.address)
    conditions = Conditions(
        server=f"{server.flavour} {'.'.join(map(str, server.release))}",
        commits=_commits(server),
        distance="on this machine" if server.local else _away(lab.target),
        machine=_machine(),
        busy=start_state.words,
        date=start_state.date,
        rows=lab.sample_rows,
        repeats=lab.repeats,
        warm_up=any(each.round == WARM_UP for each in trials),
        seed=lab.seed,
        command=command,
    )
    experiment = experiment_named(lab.experiment).only([str(each) for each in lab.grid.values[WAY]])
    off = ONE_BUSY_ROUND if start_state.busy else ONE_ROUND
    links = _links(trials)
    nearest = min(links.values(), key=lambda each: each.round_trip, default=None)
    link = (nearest.round_trip, nearest.rate) if nearest else (None, None)
    place = Place(_cores(), machine_memory(), server.flavour, tuple(server.release), *link)
    found = _rates(trials), _failed(trials), _servers(trials)
    return ExperimentResult(experiment, conditions, *found, place, off, links)


def store(lab: Lab, result: ExperimentResult) -> None:
    """Keep the report on the lab, for its page."""
    Lab.objects.filter(pk=lab.pk).update(report_json=result.as_json(), version=F("version") + 1)


def _rates(trials: list[Trial]) -> dict[str, dict[int, float]]:
    """Rates by way and round, the warm-up round left out."""
    rates: dict[str, dict[int, float]] = {}
    for each in trials:
        if each.round != WARM_UP and each.rows_per_second:
            rates.setdefault(str(each.settings[WAY]), {})[each.round] = each.rows_per_second
    return rates


def _failed(trials: list[Trial]) -> dict[str, str]:
    """The problem of the last failed trial of each way, and what to do instead."""
    failed = [each for each in trials if each.status == Trial.Status.FAILED]
    return {
        str(each.settings[WAY]): " ".join(filter(None, (each.problem.get("what"), each.problem.get("advice"))))
        for each in failed
    }


def _servers(trials: list[Trial]) -> dict[str, dict[str, str]]:
    """The private server of each way that ran on one: its name, and the variables of its variant."""
    return {str(each.settings[WAY]): each.ran_as for each in trials if SERVER in each.ran_as}


def _links(trials: list[Trial]) -> dict[str, Link]:
    """The simulated link of each way that has one, as measured before its trials: the median of these."""
    measured: dict[str, list[Link]] = {}
    for each in trials:
        if each.round != WARM_UP and LINK in each.ran_as:
            measured.setdefault(str(each.settings[WAY]), []).append(Link(**each.ran_as[LINK]))
    return {
        way: Link(median(each.round_trip for each in links), median(each.rate for each in links))
        for way, links in measured.items()
    }


def _commits(server: Server) -> str:
    """Whether a way that has ended is safe from a crash there (manual, innodb_flush_log_at_trx_commit)."""
    mode = server.variables.get("innodb_flush_log_at_trx_commit", "unknown")
    safe = "is safe from a crash" if mode == "1" else "is not safe from a crash"
    return f"A commit there {safe} (innodb_flush_log_at_trx_commit is {mode})."


def _away(target: Target) -> str:
    distance = target.distance
    return f"{distance.round_trip_ms:.2g} ms away" if distance else "on another machine"


def _machine() -> str:
    return f"{_cores()} cores and {human_bytes(machine_memory())} of memory"


def _cores() -> int:
    return os.cpu_count() or 1
