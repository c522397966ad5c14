"""Imports into a server of a kind that nobody knows: a real MariaDB that calls itself something else."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.preflight.check import check
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import run
from tests.targets import UNSYNCED, PreparedMariaDB, saved_target

pytestmark = pytest.mark.usefixtures("no_workers")
ROWS = 1000


@pytest.fixture(scope="module")
def frontbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    server = PreparedMariaDB(tmp_path_factory.mktemp("frontbase"), options=(*UNSYNCED, "--version=9.1.0-frontbase"))
    server.start()
    yield Address("127.0.0.1", server.port, "root", "", "mysql")
    server.stop()


@pytest.fixture
def target(frontbase: Address, transactional_db) -> Iterator[Target]:
    run_sql(
        frontbase, "CREATE DATABASE shop", "CREATE TABLE shop.t (n INT PRIMARY KEY, word VARCHAR(20), KEY w (word))"
    )
    yield saved_target(replace(frontbase, database="shop"))
    run_sql(frontbase, "DROP DATABASE shop")


def prepared(target: Target, path: Path, **options):
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    return prepare(uploads.register(path), target, "t", ImportRequest(options=Options(**options)))


def test_without_the_check_nothing_is_planned(target: Target, tmp_path: Path):
    with pytest.raises(TargetProblem, match="no table millrace_ledger") as refused:
        prepared(target, tmp_path / "t.csv")
    assert "Run the target's check first" in refused.value.advice


def test_after_the_check_it_loads_by_the_safe_path(target: Target, tmp_path: Path):
    findings = {each.name: each for each in check(target.address)}
    assert [name for name, each in findings.items() if each.status == "fail"] == []
    assert findings["version"].message.startswith("Unknown server 9.1.0-frontbase: imports into it have not been tried")
    assert "A second session waits" in findings["rollback"].message
    job = run(commands.create(prepared(target, tmp_path / "t.csv")))
    assert (job.status, job.problem, job.balanced) == (ImportJob.Status.SUCCEEDED, {}, True)
    assert job.plan.statements.method == "insert_prepared"
    assert rows_of(target.address, "SELECT COUNT(*), SUM(n), MIN(word) FROM t") == [(ROWS, sum(range(ROWS)), "word 0")]
    with pytest.raises(TargetProblem, match="have not been tried"):
        prepared(target, tmp_path / "t.csv", mode="replace")


def test_a_ledger_that_cannot_roll_back_stops_it_before_the_first_row(target: Target, tmp_path: Path):
    run_sql(target.address, ledger.CREATE_SQL.replace("ENGINE=InnoDB", "ENGINE=MyISAM"))
    with pytest.raises(TargetProblem, match="cannot undo an INSERT"):
        prepared(target, tmp_path / "t.csv")
    assert rows_of(target.address) == []
