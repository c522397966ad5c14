"""What earlier imports into the same table have measured, for the planner to go by where the difference is clear."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

Choice = str | int

# So many imports each way, and so much faster: two runs of one and the same import differ by some percent.
FEWEST = 2
CLEARLY = 1.15
SETTINGS = ("method", "indexes", "parallelism")


@dataclass(frozen=True)
class PastImport:
    """An import that succeeded: how it was loaded, and the rows a second from its start to its end."""

    method: str
    indexes: str  # "keep" or "defer"
    parallelism: int
    rows_per_second: float


@dataclass(frozen=True)
class Preference:
    """A value of a setting that was clearly faster here than the one that would be chosen otherwise."""

    value: Choice
    times: float
    imports: int
    against: int

    def __str__(self) -> str:
        return f"measured {self.times:.2g} times faster here ({self.imports} imports against {self.against})"


@dataclass(frozen=True)
class Past:
    """Earlier imports of about as much data into the same table, on the same server, in the same mode."""

    runs: tuple[PastImport, ...] = ()

    def preferred(self, setting: str, default: Choice) -> Preference | None:
        """What has been clearly faster than `default`, one of SETTINGS being different and the others alike.

        Clearly: at least FEWEST imports each way, CLEARLY times the median, and the slowest of the better ones ahead of
        the fastest of the others. None where that is not so: the default stands.
        """
        groups: dict[tuple[Choice, ...], list[PastImport]] = {}
        for run in self.runs:
            groups.setdefault(self._others(run, setting), []).append(run)
        found = [each for alike in groups.values() for each in self._among(alike, setting, default)]
        return max(found, key=lambda each: each.times, default=None)

    def _among(self, runs: Sequence[PastImport], setting: str, default: Choice) -> list[Preference]:
        rates: dict[Choice, list[float]] = {}
        for run in runs:
            rates.setdefault(getattr(run, setting), []).append(run.rows_per_second)
        usual = rates.pop(default, [])
        return [
            Preference(value, statistics.median(better) / statistics.median(usual), len(better), len(usual))
            for value, better in rates.items()
            if min(len(better), len(usual)) >= FEWEST
            and min(better) > max(usual)
            and statistics.median(better) >= CLEARLY * statistics.median(usual)
        ]

    @staticmethod
    def _others(run: PastImport, setting: str) -> tuple[Choice, ...]:
        return tuple(getattr(run, name) for name in SETTINGS if name != setting)


NO_PAST = Past()
