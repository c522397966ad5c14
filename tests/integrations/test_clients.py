"""The examples of docs/clients.md as they stand there, with the real Airflow and Dagster, a server and its workers."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from importer.engine.mysql.connection import connect, execute
from importer.models import ImportJob, Target
from tests.importer.management.command_line.remote.conftest import ROWS, rows
from tests.importer.management.command_line.remote.conftest import ann as ann  # noqa: PLC0414 -- fixtures
from tests.importer.management.command_line.remote.conftest import target as target  # noqa: PLC0414
from tests.importer.management.command_line.remote.conftest import token as token  # noqa: PLC0414
from tests.stack import ROOT, Stack, wait_until

ENVIRONMENT = ROOT / ".venv-integrations"
DATABASE = ENVIRONMENT / "airflow.db"  # Airflow's own, which takes a quarter of a minute to make
installed = pytest.mark.skipif(
    not (ENVIRONMENT / "bin" / "airflow").exists(), reason="Airflow and Dagster are not installed: make integrations"
)
SECONDS = 240.0  # until Airflow has begun: Python compiles its many modules the first time
ANSWER = "answer: "  # before what a program of this folder says; the rest is the log of Airflow or Dagster
BOTH = [(1, "ann", "1.50"), (2, "bob", None)]


def example(section: str) -> str:
    """The Python of a section of the page."""
    page = (ROOT / "docs" / "clients.md").read_text()
    [text] = re.findall(rf"^## {section}\n.*?```python\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    return text


@pytest.fixture
def env(web: Stack, token: str, tmp_path: Path) -> dict[str, str]:
    connection = {"conn_type": "generic", "host": web.url, "password": token}
    (tmp_path / "orders.csv").write_bytes(ROWS)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "MILLRACE_URL": web.url,
        "MILLRACE_TOKEN": token,
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path}/airflow.db",
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "2",
        "AIRFLOW_CONN_MILLRACE_DEFAULT": json.dumps(connection),
        "DAGSTER_HOME": "",
    }


@pytest.fixture
def airflow(env: dict[str, str], tmp_path: Path) -> None:
    """A new database of Airflow, as a copy of one that the first test has made."""
    if not DATABASE.exists():
        subprocess.run([ENVIRONMENT / "bin" / "airflow", "db", "migrate"], env=env, check=True, capture_output=True)
        (tmp_path / "airflow.db").rename(DATABASE)
    shutil.copy(DATABASE, tmp_path / "airflow.db")


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(env: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Starts a program of this folder for the example of a section, in the environment of Airflow and Dagster."""
    started: list[subprocess.Popen[str]] = []

    def begin(program: str, section: str, *words: str) -> "subprocess.Popen[str]":
        page = tmp_path / "dags" / "example.py"
        page.parent.mkdir()
        page.write_text(example(section))
        command = [ENVIRONMENT / "bin" / "python", ROOT / "tests" / "integrations" / program, page, *words]
        with (tmp_path / "errors").open("w") as errors:
            pipe = subprocess.PIPE
            started.append(
                subprocess.Popen(command, env=env, cwd=tmp_path, text=True, stdin=pipe, stdout=pipe, stderr=errors)
            )
        return started[-1]

    yield begin
    for each in started:
        each.kill()
        each.communicate()


def said(program: "subprocess.Popen[str]", folder: Path) -> Any:
    """What the program prints as JSON next."""
    assert program.stdout
    log = []
    for line in program.stdout:
        if line.startswith(ANSWER):
            return json.loads(line.removeprefix(ANSWER))
        log.append(line)
    raise AssertionError("".join(log)[-3000:] + (folder / "errors").read_text()[-3000:])


def ask(program: "subprocess.Popen[str]") -> None:
    assert program.stdin
    program.stdin.write("\n")
    program.stdin.flush()


def test_the_lines_of_python_load_a_file(target: Target, env: dict[str, str], tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MILLRACE_URL", "MILLRACE_TOKEN"):
        monkeypatch.setenv(name, env[name])
    names: dict[str, Any] = {}
    exec(example("In Python"), names)
    assert (names["plan"]["parallel_chunks"], names["report"]["balanced"]) == (1, True)
    assert rows(target) == BOTH


@installed
def test_a_task_of_airflow_is_retried_and_loads_no_row_twice(target: Target, airflow, start: Start, tmp_path: Path):
    with connect(target.address) as connection:
        execute(connection, "INSERT INTO orders VALUES (2, 'in the way', 1)")
        program = start("run_airflow.py", "Airflow", "load")
        ask(program)
        wait_until(lambda: ImportJob.objects.filter(status="failed").exists(), seconds=SECONDS, what="a failure")
        execute(connection, "DELETE FROM orders")
    done = said(program, tmp_path)
    [job] = ImportJob.objects.all()
    assert (done["state"], done["result"]["job"], done["result"]["outcome"]) == ("success", job.pk, "succeeded")
    assert job.attempts == done["tries"] > 1
    ask(program)  # Cleared, and run once more.
    again = said(program, tmp_path)
    assert (again["state"], again["result"]["job"]) == ("success", job.pk)
    assert (rows(target), ImportJob.objects.count()) == (BOTH, 1)
    (tmp_path / "orders.csv").write_text("id,name,amount\n3,eve,2\n")  # Corrected.
    ask(program)
    assert said(program, tmp_path)["result"]["rows"]["loaded"] == 1
    assert ImportJob.objects.count() == 2


@installed
def test_a_task_of_airflow_that_is_killed_cancels_its_import(target: Target, airflow, start: Start, tmp_path: Path):
    with connect(target.address) as connection:
        execute(connection, "LOCK TABLES orders READ")
        program = start("run_airflow.py", "Airflow", "kill")
        wait_until(
            lambda: ImportJob.objects.filter(started_at__isnull=False).exists(), seconds=SECONDS, what="the import"
        )
        ask(program)
        assert said(program, tmp_path) == "cancelled"
    assert rows(target) == []


@installed
def test_a_task_of_airflow_that_is_killed_before_its_import_begins_cancels_it(
    target: Target, airflow, start: Start, tmp_path: Path
):
    with connect(target.address) as connection:
        execute(connection, "LOCK TABLES orders READ")
        assert said(start("run_airflow.py", "Airflow", "kill-early"), tmp_path) == "cancelled"
    assert rows(target) == []


@installed
def test_an_asset_of_dagster_is_retried_and_loads_no_row_twice(target: Target, start: Start, tmp_path: Path):
    program = start("run_dagster.py", "Dagster")
    done = said(program, tmp_path)
    [job] = ImportJob.objects.all()
    assert done == {"success": True, "tries": [job.pk, job.pk], "job": job.pk, "rows": 2}
    assert rows(target) == BOTH
