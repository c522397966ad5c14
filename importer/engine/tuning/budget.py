"""The budget of a lab in time, rows and disk space, and whether the next trial fits into it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from importer.engine.errors import Problem
from importer.engine.units import GIB


@dataclass(frozen=True)
class Budget:
    """The limits of a lab; None is no limit.

    `seconds` of work, without waiting for imports; `rows` loaded in total; `target_bytes` and `local_bytes` at one
    time, on the target's disk and on this machine's. Raises Problem for a limit of 0 or less.
    """

    seconds: float | None = 600
    rows: int | None = None
    target_bytes: int | None = 10 * GIB
    local_bytes: int | None = 10 * GIB

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and value <= 0:
                raise Problem(f"A budget of {value:g} {name} allows nothing.", advice="Give more, or no limit.")


@dataclass(frozen=True)
class TrialCost:
    """The cost of one trial of a combination: seconds from its start to the end of its cleanup, bytes of its table."""

    combination: int
    seconds: float
    table_bytes: int


@dataclass(frozen=True)
class Spent:
    """The seconds and rows that the lab has used so far, and the costs of its trials."""

    seconds: float
    rows: int
    trials: Sequence[TrialCost] = ()


def why_not(budget: Budget, spent: Spent, combination: int, sample_rows: int, sample_bytes: int) -> str:
    """Why a trial of the combination may not begin; "" if it may.

    The estimate is the highest cost of this combination so far; before its first trial, it is that of the others.
    """
    seconds, table_bytes = expected(spent.trials, combination, sample_bytes)
    if budget.seconds is not None and spent.seconds + seconds > budget.seconds:
        return (
            f"{spent.seconds:,.0f} of {budget.seconds:,.0f} seconds are used, and it would take about {seconds:,.1f}"
            if spent.seconds < budget.seconds
            else f"the {budget.seconds:,.0f} seconds are used"
        )
    if budget.rows is not None and spent.rows + sample_rows > budget.rows:
        return f"{spent.rows:,} of {budget.rows:,} rows are loaded, and it would load {sample_rows:,}"
    if budget.target_bytes is not None and table_bytes > budget.target_bytes:
        return f"its table would take about {table_bytes:,} bytes; {budget.target_bytes:,} are allowed"
    return ""


def expected(trials: Sequence[TrialCost], combination: int, sample_bytes: int) -> tuple[float, int]:
    """The estimated cost of a trial of the combination: seconds, and bytes of its table.

    The highest cost of the combination's own trials; else the median seconds and the largest table of the others; for
    the first trial of all, 0 seconds and `sample_bytes`.
    """
    own = [each for each in trials if each.combination == combination]
    largest = max((each.table_bytes for each in own or trials), default=sample_bytes)
    if own:
        return max(each.seconds for each in own), largest
    return (median(each.seconds for each in trials) if trials else 0.0), largest
