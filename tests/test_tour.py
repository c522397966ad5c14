"""The tour of ARCHITECTURE.md is the way that a load takes, and a small load executes few files."""

import json
import os
import re
import subprocess
import sys

import pytest

from importer.engine.mysql.connection import connect, execute
from tests.budget import MOST_FILES
from tests.prepared import make_tables
from tests.stack import ROOT

STEP = re.compile(r"^\d+\. `(\S+\.py)`, `(\w+)\(\)`", re.MULTILINE)


LOAD = ("importer.management.command_line", "load", "three.csv")


@pytest.fixture(scope="module")
def executed(servers, tmp_path_factory) -> tuple[list[str], list[str]]:
    """The functions and the files that `millrace load` of three rows executes (tests/executed.py)."""
    folder = tmp_path_factory.mktemp("tour")
    (folder / "three.csv").write_text("id,name\n1,ann\n2,bo\n3,cy\n")
    environment = {**os.environ, "VAR_DIR": str(folder / "var"), "PYTHONPATH": str(ROOT)}
    with servers["mariadb"].fresh_database() as address:
        with connect(address) as connection:
            execute(connection, "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20))")
        url = f"mysql://{address.user}@{address.host}:{address.port}/{address.database}.people"
        make_tables(folder / "var", "")
        run = [sys.executable, "-m", "tests.executed", "executed.json", *LOAD, url]
        subprocess.run(run, check=True, cwd=folder, env=environment)
    functions, files = (folder / "executed.json").read_text().splitlines()
    return json.loads(functions), json.loads(files)


def test_the_tour_is_the_way_of_a_load(executed):
    functions, _ = executed
    tour = (ROOT / "ARCHITECTURE.md").read_text().partition("## The tour")[2].partition("\n## ")[0]
    steps = [" ".join(each) for each in STEP.findall(tour)]
    assert 8 <= len(steps) <= 12
    assert len(set(re.findall(r"`(\S+\.py)`", tour))) <= 12
    assert [each for each in functions if each in steps] == steps


def test_a_small_load_executes_few_files(executed):
    _, found = executed
    # On a busy machine the import is looked at: it takes 5 seconds (importer/management/terminal/follow/waiting.py).
    files = [each for each in found if "/diagnosis/" not in each and each != "importer/jobs/lock_waits.py"]
    assert len(files) <= MOST_FILES, "tests/budget.py says what a higher ceiling needs"
