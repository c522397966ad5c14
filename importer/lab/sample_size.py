"""How large a lab's sample will be, and should be: from the file's beginning and from earlier loads."""

from collections.abc import Mapping
from statistics import median
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from importer.engine.plan.methods import METHODS
from importer.engine.plan.plan import ImportPlan
from importer.engine.tuning.grid import Grid, Value
from importer.engine.tuning.sampling import Sample, SampleSize
from importer.engine.units import MIB
from importer.models import ImportJob, Trial
from importer.models.outcomes.own_pace import job_at_own_pace
from importer.preparation.prepare import PreparedImport
from importer.preparation.previous_imports import UNREAD
from importer.worker.hosts import presence

SAMPLE_ROWS = 200_000
# Seconds that a trial should load for. The start-up dominates shorter ones.
GOOD_TRIAL = 3.0
# Seconds and, where no rate is known, bytes that the values of a grid may make of it.
LONGEST_TRIAL, LARGEST_SAMPLE = 20.0, 512 * MIB
LEAST_ROWS = 10_000
# The rate is the median of this many latest loads.
LATEST_LOADS = 20
# (rows per statement, factor): how much longer than LOAD DATA an INSERT with at most these rows takes
# (docs/server-behaviour.md, Methods). SLOWER_AT_BEST: with more rows.
SLOWER = ((1, 30.0), (10, 4.5), (40, 2.5), (100, 2.0))
SLOWER_AT_BEST = 1.7

Load = TypeVar("Load", bound=Model)


def expected_sample(prepared: PreparedImport, sample: Sample) -> SampleSize:
    """The rows and bytes that the sample will have, as far as the file's beginning shows."""
    rows = file_rows(prepared)
    taken = min(sample.rows, rows) if sample.rows else max(1, round(rows * (sample.share or 0)))
    return SampleSize(taken, round(taken * record_bytes(prepared)))


def suggest_sample(prepared: PreparedImport, grid: Grid) -> int:
    """The number of rows of a sample on which the values of the grid can differ, and that loads for GOOD_TRIAL seconds.

    By earlier loads; SAMPLE_ROWS without any. At most those of the file, and those of LONGEST_TRIAL.
    """
    rate = rate_of(prepared)
    most = rate * LONGEST_TRIAL if rate else LARGEST_SAMPLE / record_bytes(prepared)
    good = rate * GOOD_TRIAL if rate else SAMPLE_ROWS
    wanted = max(_round(good), min(most, least_rows(prepared, grid)))
    return min(max(LEAST_ROWS, int(wanted)), file_rows(prepared))


def least_rows(prepared: PreparedImport, grid: Grid) -> int:
    """The rows from which on each session loads a chunk of the largest size, after the first ones, which grow."""
    record = record_bytes(prepared)
    sizes: list[float] = [*_numbers(grid, "chunk_bytes"), *(each * record for each in _numbers(grid, "commit_rows"))]
    if not sizes:
        return 0
    return round(max(sizes) * (_sessions(prepared, grid) + 1) / record) + 1


def _sessions(prepared: PreparedImport, grid: Grid) -> int:
    """The most sessions that a combination can have here."""
    plan: ImportPlan = prepared.plan
    at_once = presence.parallel_loads(prepared.target.label) or prepared.target.ceiling
    wanted = max(_numbers(grid, "parallelism"), default=plan.parallelism)
    return max(1, min(wanted, at_once, prepared.target.ceiling))


def _numbers(grid: Grid, name: str) -> list[int]:
    values: tuple[Value, ...] = grid.values.get(name, ())
    return [value for value in values if isinstance(value, int)]


def rate_of(prepared: PreparedImport) -> float | None:
    """Rows per second of a load as planned: by the latest trials of labs of this table, or else by imports into it.

    Imports that did not run at their own pace are left out. A load by another method than the planned one counts with
    the rate that the planned one would have had.
    """
    name = {"schema_name": prepared.table.schema, "table_name": prepared.table.name}
    of_table = {f"lab__{key}": value for key, value in name.items()}
    trials = Trial.objects.filter(lab__target=prepared.target, status=Trial.Status.DONE, **of_table)
    jobs = ImportJob.objects.filter(target=prepared.target, status=ImportJob.Status.SUCCEEDED, **name).defer(*UNREAD)
    planned = prepared.plan.statements
    rates = [_as_load_data(each.rows_per_second, each.ran_as) for each in _latest(trials, "ran_as")]
    if not rates:
        at_own_pace = filter(job_at_own_pace, _latest(jobs, "plan_json"))
        rates = [_as_load_data(each.rows_per_second, each.plan_json) for each in at_own_pace]
    return median(rates) / slower(planned.method, planned.rows_per_statement) if rates else None


def _latest(loads: QuerySet[Load], how: str) -> QuerySet[Load]:
    """The latest loads of which `how` tells the method. Trials of experiments do not tell it."""
    return loads.filter(rows_per_second__gt=0, **{f"{how}__has_key": "method"}).order_by("-pk")[:LATEST_LOADS]


def _as_load_data(rate: float | None, how: Mapping[str, Any]) -> float:
    """The rate that LOAD DATA would have had instead of the method of `how`."""
    return (rate or 0.0) * slower(how["method"], how.get("rows_per_statement"))


def slower(method: Value, rows_per_statement: Value) -> float:
    """How many times as long as LOAD DATA a method takes, with this number of rows in a statement."""
    known = METHODS.get(str(method))
    if not known or not known.inserts:
        return 1.0
    each = rows_per_statement
    return next((times for most, times in SLOWER if isinstance(each, int) and each <= most), SLOWER_AT_BEST)


def file_rows(prepared: PreparedImport) -> int:
    """Rows of the file: counted by an earlier import, else estimated from its first rows."""
    if counted := prepared.source.counted_rows:
        return counted
    profile = prepared.profile
    return max(len(profile.rows), round((profile.size - profile.data_offset) / record_bytes(prepared)))


def record_bytes(prepared: PreparedImport) -> float:
    """Mean bytes of a record of the file's beginning, without quotes."""
    return prepared.profile.record_bytes or 1.0


def _round(rows: float) -> int:
    """Round down to 1, 2 or 5 times a power of ten."""
    size = int("1" + "0" * (len(str(int(rows))) - 1))
    return next(times * size for times in (5, 2, 1) if times * size <= max(1, rows))
