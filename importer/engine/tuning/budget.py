"""What a lab may take of time, rows and disk, and whether the next trial still fits in."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from importer.engine.errors import Problem
from importer.engine.units import GIB


@dataclass(frozen=True)
class Budget:
    """The most that a lab takes: seconds of work (waiting for imports is none), rows loaded in all, and bytes at one
    time, on the target's disk and on ours. None: no limit.
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
class Known:
    """What a trial of a combination took: seconds from its start to its clearing away, bytes of its table."""

    combination: int
    seconds: float
    table_bytes: int


@dataclass(frozen=True)
class Spent:
    """What the lab has taken so far, with the trials that tell what further ones will take."""

    seconds: float
    rows: int
    trials: Sequence[Known] = ()


def why_not(budget: Budget, spent: Spent, combination: int, sample_rows: int, sample_bytes: int) -> str:
    """Why a trial of the combination may not begin, by what is known so far; "" if it may.

    It is taken to need what this combination has needed at most; before its first trial, what the others need.
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


def expected(trials: Sequence[Known], combination: int, sample_bytes: int) -> tuple[float, int]:
    """What a trial of the combination will need: seconds, and bytes of a table.

    Nothing is known of the first trial but that its rows come from these bytes.
    """
    own = [each for each in trials if each.combination == combination]
    largest = max((each.table_bytes for each in own or trials), default=sample_bytes)
    if own:
        return max(each.seconds for each in own), largest
    return (median(each.seconds for each in trials) if trials else 0.0), largest
