"""What a table adds to each row: of the table that the chunks load into, which in some modes is a staging table."""

from pathlib import Path

import pytest

from importer.diagnosis.facts import facts_of
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from tests.engine.loads import run_sql
from tests.importer.steps import advance, import_of
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers", "redis")

PARENT = "CREATE TABLE parent (id INT PRIMARY KEY)"
ALONE = "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY a (a), KEY b (b))"
# Mode replace takes no table with foreign keys or triggers.
WITH_ALL = (
    "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES parent (id)",
    "CREATE TRIGGER adds BEFORE INSERT ON t FOR EACH ROW SET NEW.b = NEW.a",
)


@pytest.mark.parametrize(
    ("options", "statements", "work"),
    [
        ({}, WITH_ALL, ("2 secondary keys", "1 foreign key", "1 trigger")),
        ({"foreign_key_checks": False}, WITH_ALL, ("2 secondary keys", "1 trigger")),
        ({"mode": "atomic"}, WITH_ALL, ()),
        ({"mode": "upsert"}, WITH_ALL, ()),
        ({"mode": "replace", "indexes": "keep"}, (), ("2 secondary keys",)),
        ({"mode": "replace", "indexes": "defer"}, (), ()),
        ({"mode": "replace", "indexes": "keep"}, ("ALTER TABLE t ENGINE = MyISAM",), ()),
    ],
)
def test_only_keys_and_triggers_that_are_on_during_the_load_are_named(
    mariadb: Address, transactional_db, tmp_path: Path, options: dict, statements: tuple[str, ...], work: tuple
):
    run_sql(mariadb, PARENT, ALONE, *statements)
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n1,1,1\n2,2,2\n")
    job = import_of(path, saved_target(mariadb, "here"), options=Options(**options))
    advance(job)
    job.refresh_from_db()
    assert facts_of(job).work == work
