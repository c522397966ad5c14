"""The earlier imports that the planner uses."""

from pathlib import Path
from typing import Any

import pytest

from importer.engine.plan.options import Options
from importer.engine.plan.previous_imports import FEWEST, PastImport
from importer.models import ImportJob, Target
from importer.models.outcomes.attempts import speed_of
from importer.models.outcomes.phases import wait_in
from importer.preparation.prepare import prepare
from importer.preparation.previous_imports import past
from importer.sources import uploads
from tests.importer.steps import import_of, run
from tests.targets import on_one_server

pytestmark = [pytest.mark.usefixtures("no_workers"), on_one_server]
TABLES = ("CREATE TABLE t (n INT)",)


def imported(target: Target, tmp_path: Path, parallelism: int) -> ImportJob:
    path = tmp_path / "numbers.csv"
    path.write_text("n\n" + "1\n" * 1000)
    options = Options(parallelism=parallelism)
    return run(import_of(path, target, options=options))


def test_only_similar_imports_into_the_table_are_read(target: Target, tmp_path: Path):
    first, second = (imported(target, tmp_path, each) for each in (1, 2))
    earlier = past(target, target.database, "t", "append", 2000)
    assert earlier.runs == tuple(
        PastImport("load_data_local", "keep", job.parallelism, speed_of(job).overall_rows_per_second)
        for job in (second, first)
    )
    for table, mode, size in (("other", "append", 2000), ("t", "replace", 2000), ("t", "append", 20_000)):
        assert past(target, target.database, table, mode, size).runs == ()


def test_the_next_plan_uses_earlier_imports(target: Target, tmp_path: Path):
    for parallelism, rate in ((1, 10), (4, 30)):
        for _ in range(FEWEST):
            job = imported(target, tmp_path, parallelism)
            ImportJob.objects.filter(pk=job.pk).update(phases_json={"loading": job.scanned_rows / rate})
    prepared = prepare(uploads.register(tmp_path / "numbers.csv"), target, "t")
    assert prepared.plan.parallelism == 4
    assert any("measured 3 times faster here (4 imports against 4)" in each.why for each in prepared.plan.reasons)


@pytest.mark.parametrize(
    "other_pace", [{"attempts": 2}, {"pauses": 1}, {"awaits_bytes": 1}, {"parallelism": 8}, {"priority": "low"}]
)
def test_imports_whose_pace_was_not_their_own_are_left_out(target: Target, tmp_path: Path, other_pace: dict[str, Any]):
    job = imported(target, tmp_path, 2)
    assert past(target, target.database, "t", "append", 2000).runs
    if "priority" in other_pace:
        # It counts as long as it does not wait for others.
        ImportJob.objects.filter(pk=job.pk).update(options_json=job.options_json | other_pace)
        assert past(target, target.database, "t", "append", 2000).runs
        other_pace = {"phases_json": job.phases_json | {wait_in("loading"): 2.0}}
    ImportJob.objects.filter(pk=job.pk).update(**other_pace)
    assert past(target, target.database, "t", "append", 2000).runs == ()
