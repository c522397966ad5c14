"""Estimates a lab's trials, seconds and bytes before it starts, from earlier loads."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from importer.engine.plan.methods import METHODS
from importer.engine.schema.table import Table
from importer.engine.tuning.finals import most_finals
from importer.engine.tuning.grid import Settings
from importer.engine.tuning.rounds import turns
from importer.lab.commands import SAMPLE_ROWS, LabRequest, choose
from importer.models import ImportJob, Trial
from importer.preparation.prepare import PreparedImport

# Seconds that a trial should load for. The start-up dominates shorter ones.
GOOD_TRIAL = 3.0
# Seconds of a trial in addition to the load: to create and drop its table, and to plan, scan and verify its import.
OVERHEAD = 1.5
LEAST_ROWS = 10_000
# The rate is the median of this many latest loads.
LATEST_LOADS = 20
# (rows per statement, factor): how much longer than LOAD DATA an INSERT with at most these rows takes
# (docs/server-behaviour.md, Methods). SLOWER_AT_BEST: with more rows.
SLOWER = ((1, 30.0), (10, 4.5), (40, 2.5), (100, 2.0))
SLOWER_AT_BEST = 1.7


@dataclass(frozen=True)
class LabEstimate:
    """An estimate of a lab.

    `finals`: the most trials of the best combinations that may follow the `trials`. `sample_rows`, `sample_bytes` and
    `table_bytes` (of a scratch table) are estimated from the file's beginning. `rate`: rows per second of earlier loads
    into the table; it and `seconds` are None without such loads.
    """

    tried: list[Settings]
    left_out: list[dict[str, object]]
    trials: int
    finals: int
    sample_rows: int
    sample_bytes: int
    table_bytes: int
    seconds: float | None
    rate: float | None


def estimate(prepared: PreparedImport, request: LabRequest) -> LabEstimate:
    """Estimate the lab of a request. Raises Problem as choose() does."""
    choice = choose(prepared, request)
    rows, row_bytes = _rows(prepared), _row_bytes(prepared)
    taken = min(request.sample.rows, rows) if request.sample.rows else max(1, round(rows * (request.sample.share or 0)))
    rate = _rate(prepared)
    return LabEstimate(
        choice.tried,
        choice.left_out,
        len(turns(len(choice.tried), request.repeats, request.seed)),
        most_finals(len(choice.tried), request.repeats),
        taken,
        round(taken * row_bytes),
        expected_bytes(prepared.table, taken) or round(taken * row_bytes),
        _seconds(choice.tried, request.repeats, taken, rate) if rate else None,
        rate,
    )


def suggest_sample(prepared: PreparedImport) -> int:
    """The number of rows that a trial loads in GOOD_TRIAL seconds, by earlier loads; SAMPLE_ROWS without any."""
    rate = _rate(prepared)
    wanted = _round(rate * GOOD_TRIAL) if rate else SAMPLE_ROWS
    return min(max(LEAST_ROWS, wanted), _rows(prepared))


def expected_bytes(table: Table, rows: int) -> int:
    """The bytes of `rows` rows in the table, by the size of its present rows; 0 if it is empty."""
    present = table.rows_estimate
    return (table.data_bytes + table.index_bytes) * rows // present if present else 0


def _seconds(tried: Sequence[Settings], repeats: int, rows: int, rate: float) -> float:
    each = [OVERHEAD + _slower(settings) * rows / rate for settings in tried]
    return (repeats + 1) * sum(each) + most_finals(len(tried), repeats) * min(each)


def _slower(settings: Settings) -> float:
    method = METHODS.get(str(settings.get("method")))
    if not method or not method.groups_rows:
        return 1.0
    each = settings.get("rows_per_statement")
    return next((times for most, times in SLOWER if isinstance(each, int) and each <= most), SLOWER_AT_BEST)


def _rate(prepared: PreparedImport) -> float | None:
    """Rows per second of the latest trials of labs of this table, or of imports into it."""
    name = {"schema_name": prepared.table.schema, "table_name": prepared.table.name}
    of_table = {f"lab__{key}": value for key, value in name.items()}
    trials = Trial.objects.filter(lab__target=prepared.target, status=Trial.Status.DONE, **of_table)
    jobs = ImportJob.objects.filter(target=prepared.target, status=ImportJob.Status.SUCCEEDED, **name)
    for loads in (trials, jobs):
        rates = loads.filter(rows_per_second__gt=0).order_by("-pk").values_list("rows_per_second", flat=True)
        if latest := [rate for rate in rates[:LATEST_LOADS] if rate]:
            return median(latest)
    return None


def _rows(prepared: PreparedImport) -> int:
    """Rows of the file: counted by an earlier import, else estimated from its first rows."""
    counted = prepared.source.jobs.filter(scan_finished=True, trial=None).order_by("-pk").first()
    if counted and counted.scanned_rows:
        return counted.scanned_rows
    profile = prepared.profile
    return max(len(profile.rows), round((profile.size - profile.data_offset) / _row_bytes(prepared)))


def _row_bytes(prepared: PreparedImport) -> float:
    """Mean bytes of a row with its delimiters, without quotes."""
    rows = prepared.profile.rows
    return sum(sum(len(value.encode()) + 1 for value in row) for row in rows) / len(rows) if rows else 1.0


def _round(rows: float) -> int:
    """Round down to 1, 2 or 5 times a power of ten."""
    size = int("1" + "0" * (len(str(int(rows))) - 1))
    return next(times * size for times in (5, 2, 1) if times * size <= max(1, rows))
