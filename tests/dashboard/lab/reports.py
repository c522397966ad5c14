"""Labs with the report of an experiment, as its end stores it."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from bench.experiments.needs import Place
from bench.experiments.published.registry import EXPERIMENTS
from bench.experiments.report import Conditions, ExperimentResult
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import WAY, Grid
from importer.engine.tuning.sampling import Sample
from importer.engine.units import GIB
from importer.models import Lab, Target

# The problem of a way without rates.
_INSTANCES = "own server, 8 partitions, 8 sessions, 8 pool instances"
NEVER = {_INSTANCES: "The server has no variable 'innodb_buffer_pool_instances'."}

PLACE = Place(8, 64 * GIB, "MySQL", (5, 5, 8))


def result(*, eight: float, date: str = "2026-11-26", failed: Mapping[str, str] | None = None) -> ExperimentResult:
    """A result on partitions: 8 partitions have about this rate, and the other ways on the target 1,000 rows/s."""
    experiment = EXPERIMENTS["partitions"]
    rates = {each.name: {1: 1000.0, 2: 1000.0} for each in experiment.ways if not each.server}
    rates["8 partitions, 8 sessions"] = {1: eight * 0.96, 2: eight * 1.04}
    conditions = Conditions(
        server="MySQL 5.5.8",
        commits="A commit there is safe from a crash.",
        distance="on this machine",
        machine="8 cores",
        busy="Nothing else was at work here when it began.",
        date=date,
        rows=4321,
        repeats=2,
        warm_up=False,
        seed=7,
        command="millrace experiment run partitions --target warehouse --size 4321 --repeats 2 --seed 7 --no-warm-up",
    )
    return ExperimentResult(experiment, conditions, rates, {**NEVER, **(failed or {})}, {}, PLACE)


def reported(target: Target, *, status: str = "done", **values: Any) -> Lab:
    """An ended experiment with the result() of these values."""
    report = result(**values)
    ways = [each.name for each in report.experiment.ways]
    return Lab.objects.create(
        target=target, source_name="rows from a seed", status=status, schema_name="osm", table_name="partitioned",
        dialect_json=to_json(Dialect()), mapping_json=[], grid_json=to_json(Grid("partitions", {WAY: tuple(ways)})),
        combinations_json=[{WAY: name} for name in ways], planned_json={WAY: ways[0]},
        sample_json=to_json(Sample(rows=4321)), budget_json=to_json(Budget(None, None, None, None)),
        repeats=2, seed=7, scratch_schema="osm",
        finished_at=timezone.now(), report_json=report.as_json(),
    )  # fmt: skip
