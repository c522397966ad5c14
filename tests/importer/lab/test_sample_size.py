"""The rate of earlier loads, which the estimate and the suggested sample of a lab follow."""

from pathlib import Path

import pytest

from importer import lab
from importer.engine.plan.options import Options
from importer.engine.tuning.sampling import Sample
from importer.engine.units import MIB
from importer.jobs.actions import commands
from importer.lab.estimate import OVERHEAD
from importer.lab.sample_size import rate_of, slower
from importer.models import ImportJob, Lab, Target, Trial
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.sources import uploads
from tests.importer.labs import ROWS, created_lab, grid
from tests.targets import on_mariadb

pytestmark = pytest.mark.usefixtures("no_workers")
FAST = 100_000.0
TABLES = ("CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT, KEY word (word))",)
database = on_mariadb


def planned(target: Target, path: Path, method: str = "auto") -> PreparedImport:
    return prepare(uploads.register(path), target, "t", ImportRequest(options=Options(method=method)))


def measured(of: Lab, rates: list[float], **ran_as) -> None:
    """Add trials of the lab that have loaded with these rates."""
    for rate in rates:
        number = of.trials.count() + 1
        of.trials.create(
            number=number, round=1, combination=0, status=Trial.Status.DONE, rows_per_second=rate, ran_as=ran_as
        )


@pytest.fixture
def tried(target: Target, path: Path) -> Lab:
    """A lab with one trial by LOAD DATA, and slow ones by INSERTs afterwards."""
    made = created_lab(target, path, {"chunk_bytes": (4096, MIB)})
    measured(made, [FAST], method="load_data_local", rows_per_statement=None)
    measured(made, [FAST / slower("insert", 1)] * 10, method="insert", rows_per_statement=1)
    return made


def test_slow_inserts_do_not_make_the_planned_load_slow(tried, target, path):
    assert rate_of(planned(target, path)) == pytest.approx(FAST)
    assert rate_of(planned(target, path, "insert")) == pytest.approx(FAST / slower("insert", None))


def test_trials_of_an_experiment_on_a_table_of_the_same_name_do_not_count(tried, target, path):
    measured(tried, [7.0] * 30, server="MySQL 9.7.4")
    measured(tried, [7.0] * 30)
    assert rate_of(planned(target, path)) == pytest.approx(FAST)


def test_earlier_imports_count_by_their_method(target, path):
    job = commands.create(planned(target, path, "insert"))
    ImportJob.objects.filter(pk=job.pk).update(status=ImportJob.Status.SUCCEEDED, rows_per_second=1000.0)
    assert rate_of(planned(target, path, "insert")) == pytest.approx(1000)
    rows = job.plan.statements.rows_per_statement
    assert rate_of(planned(target, path)) == pytest.approx(1000 * slower("insert", rows))
    ImportJob.objects.filter(pk=job.pk).update(awaits_bytes=1)
    assert rate_of(planned(target, path)) is None, "its file was still arriving"


@pytest.mark.parametrize("method", ["auto", "insert"])
def test_the_estimate_of_a_method_does_not_depend_on_the_planned_one(method, tried, target, path):
    values = grid(method=("load_data_local", "insert"), rows_per_statement=(1000,))
    expected = lab.estimate(planned(target, path, method), lab.LabRequest(values, Sample(rows=ROWS), repeats=1))
    by_method = {"load_data_local": 1.0, "insert": slower("insert", 1000)}
    plan = {"method": "insert" if method == "insert" else "load_data_local"}
    each = [OVERHEAD + by_method[{**plan, **settings}["method"]] * ROWS / FAST for settings in expected.tried]
    assert expected.seconds == pytest.approx(2 * sum(each))
