"""Computes figures from the runs: medians and spread, and ratios round by round."""

import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bench.results import Results
from bench.spread import Spread

# One of Results.runs.
Run = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One way on one server and workload. A ratio is the rate divided by another way's rate in the same round.

    `to_baseline` compares with the case that the results name as baseline. `to_single`, `to_best` and `to_best_before`
    compare with raw LOAD DATA: the single one, the best that builds the keys at the same time as this way, and the
    best with the keys in place. None: the case does not exist, or is this one. `choices` are those of the last round.
    `for_server_second` are the seconds per second of the server's processor time. `alike` are the ratios to the
    baseline, or else to the best raw way, in the rounds with the same handover time for both (handover.py).
    """

    server: str
    workload: str
    way: str
    keys: str
    sample: bool
    rounds: int
    rows: int
    seconds: Spread
    rate: Spread
    first_row: float | None
    to_baseline: Spread | None
    to_single: Spread | None
    to_best: Spread | None
    to_best_before: Spread | None
    best: str
    peaks: dict[str, float]
    choices: tuple[str, ...]
    medians: dict[str, float | None]
    for_server_second: float | None
    alike: list[float]


class Runs:
    """The runs by server, workload and way, without the warm-ups."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._by_case: dict[tuple[str, str, str], dict[Any, Run]] = {}
        for run in results.runs:
            if isinstance(run["round"], str) or run["round"] > 0:
                case = run["server"], run["workload"], run["way"]
                self._by_case.setdefault(case, {})[run["round"]] = run

    @property
    def servers(self) -> list[str]:
        return list(self.results.servers)

    @property
    def workloads(self) -> list[str]:
        return list(self.results.workloads)

    def lines(self, server: str, workload: str) -> list[Line]:
        """One line for each way: raw ones first, names with numbers in the order of the numbers."""
        ways = [way for each, on, way in self._by_case if (each, on) == (server, workload)]
        return [self._line(server, workload, way) for way in sorted(ways, key=self._place)]

    def _place(self, way: str) -> tuple[int, list[int], str]:
        kinds = ("single", "split", "after", "copy", "insert", "millrace")
        kind = next((number for number, each in enumerate(kinds) if way.startswith(each)), len(kinds))
        return kind, [int(number) for number in re.findall(r"\d+", way)], way

    def _line(self, server: str, workload: str, way: str) -> Line:
        runs = self._by_case[server, workload, way]
        keys = statistics.mode(run["keys"] for run in runs.values())
        best, best_before = (self._best_raw(server, workload, each) for each in (keys, "before"))
        baseline = self.results.made["baseline"]
        against = server, baseline.get("workload") or workload, baseline.get("way") or way
        against_best = server, workload, best
        return Line(
            server=server,
            workload=workload,
            way=way,
            keys=keys,
            sample=any(run["sample"] for run in runs.values()),
            rounds=len(runs),
            rows=next(iter(runs.values()))["rows"],
            seconds=Spread.of_some([run["seconds"] for run in runs.values()]),
            rate=Spread.of_some([_rate(run) for run in runs.values()]),
            first_row=_median(run["first_row"] for run in runs.values()),
            to_baseline=self._ratio(runs, against) if baseline else None,
            to_single=self._ratio(runs, (server, workload, "single")),
            to_best=self._ratio(runs, against_best),
            to_best_before=self._ratio(runs, (server, workload, best_before)),
            best=best,
            peaks=_largest(run["peaks"] for run in runs.values()),
            choices=tuple(list(runs.values())[-1]["choices"]),
            medians={name: _median(run.get(name) for run in runs.values()) for name in _MEDIANS},
            for_server_second=_median(
                run["seconds"] / run["server_cpu"] if run["server_cpu"] else None for run in runs.values()
            ),
            alike=self._ratios(runs, against if baseline else against_best, _alike),
        )

    def _best_raw(self, server: str, workload: str, keys: str) -> str:
        """The raw way with these keys and the best median; "" if there is none."""
        rates = {
            way: statistics.median(map(_rate, runs.values()))
            for (each, on, way), runs in self._by_case.items()
            if (each, on) == (server, workload) and all(run["raw"] and run["keys"] == keys for run in runs.values())
        }
        return max(rates, key=rates.__getitem__, default="")

    def _ratio(self, runs: dict[Any, Run], against: tuple[str, str, str]) -> Spread | None:
        return Spread.of(self._ratios(runs, against))

    def _ratios(
        self, runs: dict[Any, Run], against: tuple[str, str, str], may_compare: Callable[[Run, Run], bool] | None = None
    ) -> list[float]:
        """The ratio of each round that both have run."""
        others = self._by_case.get(against, {})
        if others is runs:
            return []
        pairs = [(run, others[number]) for number, run in runs.items() if number in others]
        return [_rate(run) / _rate(other) for run, other in pairs if not may_compare or may_compare(run, other)]


_MEDIANS = (
    "cpu", "server_cpu", "server_written", "server_data_written", "server_log_written", "server_dirty", "handover",
)  # fmt: skip
# Up to this factor between them, the handover times of two runs count as the same (handover.py).
_ALIKE = 1.2


def _alike(run: Run, other: Run) -> bool:
    """Whether the handover time of both runs is known and was the same."""
    shorter, longer = sorted(each.get("handover") or 0 for each in (run, other))
    return 0 < longer <= shorter * _ALIKE


def _rate(run: Run) -> float:
    """Rows per second, which also compares ways that load only a sample."""
    return float(run["rows"] / run["seconds"])


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _largest(each: Iterable[dict[str, float]]) -> dict[str, float]:
    largest: dict[str, float] = {}
    for peaks in each:
        for role, peak in peaks.items():
            largest[role] = max(largest.get(role, 0), peak)
    return largest
