"""`manage.py lab`: a lab from a shell, by real workers."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer.engine.tuning.grid import GRIDS
from importer.engine.units import MIB
from importer.management.commands.lab import _grid
from importer.models import Lab
from tests.engine.loads import run_sql
from tests.importer.labs import books, tables, write_rows
from tests.stack import Stack
from tests.targets import saved_target


def run(*args: str) -> str:
    out = StringIO()
    call_command("lab", *args, stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def asked(database, tmp_path: Path, transactional_db) -> list[str]:
    """What names file, target and table."""
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT)")
    target = saved_target(database, database.database)
    return ["--file", str(write_rows(tmp_path / "rows.csv")), "--target", target.name, "--table", "t"]


def test_run_prints_the_result_list_and_show_know_it(asked, database, stack: Stack):
    done = stack.manage(
        "lab", "run", "own", *asked, "--rows", "500", "--repeats", "1", "--set", "chunk_bytes=4K,1M", "--json"
    )
    said = json.loads(done.stdout)
    assert (said["status"], said["sample"]["rows"], said["trials"]["done"]) == ("done", 500, 4)
    assert {each["words"] for each in said["ranking"]} == {"chunk size 1 MiB", "chunk size 0.003906 MiB"}
    assert said["recommendation"]["confidence"] == "none"
    assert (tables(database), books(database)) == ({"t"}, 0)
    shown = run("show", str(said["lab"]))
    assert "500 rows (the first 500 rows)" in shown
    assert "Confidence: none." in shown
    assert f"{said['lab']}: own of rows.csv into {database.database}.t" in run("list")
    assert run("sweep") == "No scratch table is left over.\n"
    with pytest.raises(CommandError, match="is ending, or has ended"):
        run("cancel", str(said["lab"]))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nothing"], "invalid choice"),
        (["own", "--set", "mode=append"], "NAME of method"),
        (["own", "--set", "unique_checks=maybe"], "is not on or off"),
        (["own", "--set", "parallelism=many"], "is not a number"),
        (["chunks", "--rows", "1", "--share", "5"], "not allowed with"),
        (["own"], "--file is missing"),
        (["own", "--job", "99"], "no import 99"),
    ],
)
@pytest.mark.django_db
def test_what_cannot_be_run_is_said(args, said):
    with pytest.raises(CommandError, match=said):
        run("run", *args)
    assert not Lab.objects.exists()


def test_values_to_try_are_added_to_a_grid_or_stand_instead_of_its_own():
    pairs = [("parallelism", (1, 2)), ("unique_checks", (True, False))]
    assert _grid("chunks", pairs).values == {**GRIDS["chunks"].values, **dict(pairs)}
    assert _grid("own", [("chunk_bytes", (MIB,))]).values == {"chunk_bytes": (MIB,)}
