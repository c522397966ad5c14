"""A lab whose person may no longer load into the table ends before its next trial, and leaves nothing behind."""

from pathlib import Path

import pytest

from importer.access import people
from importer.engine.mysql.connection import Address
from importer.models import Lab
from tests.engine.loads import run_sql
from tests.importer.labs import created_lab, record_count, tables, take_step, to_end, to_trial, write_rows
from tests.importer.steps import run
from tests.people import admin, operator
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers")


@pytest.fixture
def lab(mariadb: Address, transactional_db, tmp_path: Path) -> Lab:
    run_sql(mariadb, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT)")
    admin("root")
    made = created_lab(saved_target(mariadb), write_rows(tmp_path / "rows.csv"), {"unique_checks": (True, False)})
    Lab.objects.filter(pk=made.pk).update(created_by=operator("ann"))
    return Lab.objects.select_related("created_by").get(pk=made.pk)


def test_it_goes_on_while_its_person_may_load(lab: Lab):
    assert to_end(lab).status == Lab.Status.DONE


def test_it_ends_after_its_person_was_deactivated(lab: Lab, mariadb: Address):
    run(to_trial(lab))
    people.deactivate(lab.created_by)
    take_step(lab)
    ended = to_end(lab)
    assert (ended.status, ended.trials.filter(status="done").count()) == (Lab.Status.FAILED, 0)
    assert "ann may no longer load into the table" in ended.problem["what"]
    assert (tables(mariadb), record_count(mariadb)) == ({"t"}, 0)
