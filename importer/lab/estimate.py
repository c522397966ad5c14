"""Estimates a lab's trials, seconds and bytes before it starts, from earlier loads."""

from dataclasses import dataclass
from typing import Any

from importer.engine.schema.table import Table
from importer.engine.tuning.finals import most_finals
from importer.engine.tuning.grid import Settings
from importer.engine.tuning.rounds import turns
from importer.lab.commands import LabChoice, LabRequest, choose
from importer.lab.sample_size import expected_sample, rate_of, slower
from importer.models import ImportJob
from importer.preparation.prepare import PreparedImport

# Seconds of a trial in addition to the load: to create and drop its table, and to plan, scan and verify its import.
OVERHEAD = 1.5


@dataclass(frozen=True)
class LabEstimate:
    """An estimate of a lab.

    `alike` are sentences about values that give the same plan on this sample, of which one is tried.
    `finals`: the most trials of the best combinations that may follow the `trials`. `sample_rows`, `sample_bytes` and
    `table_bytes` (of a scratch table) are estimated from the file's beginning. `rate`: rows per second of a load
    as planned, by earlier loads into the table; it and `seconds` are None without such loads.
    """

    tried: list[Settings]
    left_out: list[dict[str, Any]]
    alike: tuple[str, ...]
    trials: int
    finals: int
    sample_rows: int
    sample_bytes: int
    table_bytes: int
    seconds: float | None
    rate: float | None


def estimate(
    prepared: PreparedImport, request: LabRequest, of_job: ImportJob | None = None, rate: float | None = None
) -> LabEstimate:
    """Estimate the lab of a request, for repeating the import `of_job` if given. Raises Problem as choose() does.

    `rate` is rate_of() the import, where it is known already.
    """
    choice = choose(prepared, request, of_job)
    sample, rate = expected_sample(prepared, request.sample), rate or rate_of(prepared)
    return LabEstimate(
        tried=choice.tried,
        left_out=choice.left_out,
        alike=choice.alike,
        trials=len(turns(len(choice.tried), request.repeats, request.seed)),
        finals=most_finals(len(choice.tried), request.repeats),
        sample_rows=sample.rows,
        sample_bytes=sample.bytes,
        table_bytes=expected_bytes(prepared.table, sample.rows) or sample.bytes,
        seconds=_seconds(choice, request.repeats, sample.rows, rate) if rate else None,
        rate=rate,
    )


def expected_bytes(table: Table, rows: int) -> int:
    """The bytes of `rows` rows in the table, by the size of its present rows; 0 if it is empty."""
    present = table.rows_estimate
    return (table.data_bytes + table.index_bytes) * rows // present if present else 0


def _seconds(choice: LabChoice, repeats: int, rows: int, rate: float) -> float:
    """The seconds of all trials; `rate`: rows per second of the planned settings."""
    as_planned = _slower(choice.planned)
    each = [OVERHEAD + _slower({**choice.planned, **settings}) / as_planned * rows / rate for settings in choice.tried]
    return (repeats + 1) * sum(each) + most_finals(len(each), repeats) * min(each)


def _slower(settings: Settings) -> float:
    return slower(settings.get("method"), settings.get("rows_per_statement"))
