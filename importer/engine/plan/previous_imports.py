"""Finds settings that were clearly faster in earlier imports into the same table."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.units import count_of

Choice = str | int

# Imports needed with each setting. If the setting had no effect, all four with one value would be faster than all four
# with another in 1 of 70 cases; with two each it would be 1 in 6.
FEWEST = 4
# The ratio of the medians: runs of the same import differ by some percent.
CLEARLY = 1.15
SETTINGS = ("method", "indexes", "parallelism")


@dataclass(frozen=True)
class PastImport:
    """A successful import: its settings, and its rows a second, with keys and verification."""

    method: str
    indexes: str  # "keep" or "defer"
    parallelism: int
    rows_per_second: float


@dataclass(frozen=True)
class EarlierLoad:
    """The import that has loaded the same content into the same table: its number, end, person and rows.

    `at`: ISO 8601. `by`: "" if nobody may know, or the person is gone.
    """

    job: int
    at: str
    by: str
    rows: int

    @property
    def words(self) -> str:
        """In a sentence without its end."""
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        by = f" by {self.by}" if self.by else ""
        return f"Import {self.job} has loaded this content already ({rows}, {self.at.replace('T', ' ')}{by})"


@dataclass(frozen=True)
class Preference:
    """A value of a setting that was clearly faster here than the default."""

    value: Choice
    times: float
    imports: int
    against: int

    def __str__(self) -> str:
        return (
            f"it was measured {self.times:.2g} times faster here ({count_of(self.imports, 'import')} against"
            f" {self.against})"
        )


@dataclass(frozen=True)
class Past:
    """Earlier imports of a similar size into the same table, on the same server, in the same mode."""

    runs: tuple[PastImport, ...] = ()

    def preferred(self, setting: str, default: Choice) -> Preference | None:
        """The value of `setting` that was clearly faster than `default`, other SETTINGS equal; None for none.

        Clearly faster means: at least FEWEST imports with each value, a median CLEARLY times as high, and the slowest
        of the faster imports ahead of the fastest of the others.
        """
        groups: dict[tuple[Choice, ...], list[PastImport]] = {}
        for run in self.runs:
            groups.setdefault(self._others(run, setting), []).append(run)
        faster = [each for equal in groups.values() for each in self._among(equal, setting, default)]
        return max(faster, key=lambda each: each.times, default=None)

    def expected_seconds(self, rows: int) -> float | None:
        """Seconds for `rows` at the median rate of the imports; None without one."""
        return rows / statistics.median(each.rows_per_second for each in self.runs) if self.runs else None

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
