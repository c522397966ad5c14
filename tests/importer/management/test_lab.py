"""`millrace lab`: a lab from the command line, run by real workers."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer.engine.tuning.grid import GRIDS
from importer.engine.units import MIB
from importer.management.commands import lab as lab_command
from importer.management.commands.lab import Command, _create, _grid
from importer.models import Lab
from importer.models.outcomes import CANCELLED
from tests.documents import read
from tests.engine.loads import run_sql
from tests.importer.labs import created_lab, record_count, tables, to_end, write_rows
from tests.importer.management.command_line.interrupts import press_ctrl_c_in_sleep
from tests.shell import Shell
from tests.stack import Stack
from tests.targets import saved_target


def run(*args: str) -> str:
    out = StringIO()
    call_command("lab", *args, stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def arguments(mariadb, tmp_path: Path, transactional_db) -> list[str]:
    """The arguments that name file, target and table."""
    run_sql(mariadb, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT)")
    target = saved_target(mariadb, mariadb.database)
    return ["--file", str(write_rows(tmp_path / "rows.csv")), "--target", target.name, "--table", "t"]


def test_lab_run_prints_the_result_and_list_and_show_have_it(arguments, mariadb, stack: Stack, shell: Shell):
    done = shell.manage(
        "lab", "run", "own", *arguments, "--rows", "500", "--repeats", "1", "--set", "chunk_bytes=4K,1M", "--json"
    )
    result = read(done.stdout)
    assert (result["status"], result["sample"]["rows"], result["trials"]["done"]) == ("done", 500, 4)
    assert {each["words"] for each in result["ranking"]} == {"chunk size 1 MiB", "chunk size 4 KiB"}
    assert result["recommendation"]["confidence"] == "none"
    assert (tables(mariadb), record_count(mariadb)) == ({"t"}, 0)
    shown = run("show", str(result["lab"]))
    assert "500 rows (the first 500 rows)" in shown
    assert "Confidence: none." in shown
    assert f"{result['lab']}: own of rows.csv into {mariadb.database}.t" in run("list")
    assert run("sweep") == "No scratch table is left over.\n"
    with pytest.raises(CommandError, match="is ending, or has ended"):
        run("cancel", str(result["lab"]))


def test_ctrl_c_cancels_a_lab_and_ends_with_the_exit_code_of_that(arguments, monkeypatch, no_workers, capsys):
    press_ctrl_c_in_sleep(monkeypatch, lab_command, then=lambda: to_end(Lab.objects.get()))
    with pytest.raises(SystemExit) as ended:
        call_command("lab", "run", "own", *arguments, "--rows", "500", "--set", "chunk_bytes=4K,1M", "--json")
    assert (ended.value.code, read(capsys.readouterr().out)["status"]) == (CANCELLED.exit_code, "cancelled")


def test_a_lab_goes_on_with_guesses_and_names_them(database, tmp_path: Path, transactional_db, capsys):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80))")
    saved_target(database, "t")
    path = tmp_path / "rows.csv"
    path.write_text("n,wrod\n" + "".join(f"{n},word {n}\n" for n in range(500)))
    parser = Command().create_parser("manage.py", "lab")
    given = ["--file", str(path), "--target", "t", "--table", "t"]
    created = _create(vars(parser.parse_args(["run", "own", *given, "--set", "unique_checks=on,off"])))
    assert [each.column for each in created.mapping] == ["n", ""]
    assert "Guessed: The table t has no column wrod." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing"], "invalid choice"),
        (["own", "--set", "mode=append"], "NAME of method"),
        (["own", "--set", "unique_checks=maybe"], "is not on or off"),
        (["own", "--set", "parallelism=many"], "is not a whole number"),
        (["chunks", "--rows", "1", "--share", "5"], "not allowed with"),
        (["own"], "--file is missing"),
        (["own", "--job", "99"], "no import 99"),
    ],
)
@pytest.mark.django_db
def test_a_lab_with_wrong_arguments_is_refused(args, message):
    with pytest.raises(CommandError, match=message):
        run("run", *args)
    assert not Lab.objects.exists()


def test_show_names_what_was_left_out_in_words(mariadb, tmp_path: Path, transactional_db):
    run_sql(mariadb, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT)")
    values = {"chunk_bytes": (4096, MIB), "parallelism": (1, 2)}
    made = created_lab(saved_target(mariadb, "t"), write_rows(tmp_path / "rows.csv"), values)
    Lab.objects.update(left_out_json=[{"settings": {"chunk_bytes": MIB, "parallelism": 2}, "why": "too many"}])
    assert "  left out: chunk size 1 MiB, parallelism 2: too many\n" in run("show", str(made.pk))


def test_values_of_set_are_added_to_a_grid_or_replace_it():
    pairs = [("parallelism", (1, 2)), ("unique_checks", (True, False))]
    assert _grid("chunks", pairs).values == {**GRIDS["chunks"].values, **dict(pairs)}
    assert _grid("own", [("chunk_bytes", (MIB,))]).values == {"chunk_bytes": (MIB,)}
