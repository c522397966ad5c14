"""`millrace` without standard streams, on full disks, and with words that no record can have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from importer.models.outcomes import REFUSED, UNKNOWN, WRONG_USAGE
from tests.documents import read
from tests.importer.management.command_line.terminal import terminal
from tests.prepared import make_tables
from tests.stack import ROOT

PROGRAM = "from importer.management.command_line.main import main; main()"
NOT_UTF8 = os.fsdecode(b"b\xfcd.csv")
AWAY = ("--server", "http://127.0.0.1:9", "--plain-http")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With an installation whose tables are there, so that no command makes them."""
    make_tables(tmp_path / "var", "")
    return tmp_path


def run(folder: Path, redirected: str, *words: str, before: str = "") -> "subprocess.CompletedProcess[str]":
    """Run `millrace` by a shell with these redirections, after the command `before`."""
    line = ["/bin/sh", "-c", f'{before}\nexec "$@" {redirected}', "sh", sys.executable, "-c", PROGRAM, *words]
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(folder / "var"), "MILLRACE_TOKEN": "x", "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(("redirected", "var"), [("<&- >&-", "var"), ("2>&-", "new"), ("2>/dev/full", "var")])
def test_a_closed_stream_or_full_standard_error_changes_no_exit_code(folder: Path, redirected: str, var: str):
    """Also of a first command, which makes the tables and says so."""
    done = run(folder, redirected, "check", "none.csv", before=f"VAR_DIR=$PWD/{var}")
    assert (done.returncode, done.stdout) == (REFUSED.exit_code, ""), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("help", "exit-codes"), ("job", "list", "--json")])
def test_full_standard_output_is_named(folder: Path, words: tuple[str, ...]):
    done = run(folder, ">/dev/full", *words)
    assert done.returncode == UNKNOWN
    assert "millrace: standard output cannot be written: No space left on device. What" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("place", [(), AWAY])
def test_a_word_that_is_not_in_utf8_is_wrong_usage(folder: Path, place: tuple[str, ...]):
    done = run(folder, "", *place, "load", NOT_UTF8, "--json")
    assert (done.returncode, "Traceback" in done.stderr) == (WRONG_USAGE.exit_code, False), done.stderr
    assert read(done.stdout)["problem"]["where"] == r"b\xfcd.csv"


def test_a_pattern_that_matches_such_a_name_is_refused(folder: Path):
    (folder / NOT_UTF8).write_text("a,b\n1,2\n")
    done = run(folder, "", "check", "*.csv")
    assert done.returncode == REFUSED.exit_code
    assert done.stderr.endswith("b\\xfcd.csv: The name of this file is not in UTF-8. Rename it.\n")


@pytest.mark.parametrize(
    ("term", "more", "coloured"), [("xterm", {}, True), ("xterm", {"NO_COLOR": "1"}, False), ("dumb", {}, False)]
)
def test_colours_are_left_out_where_they_are_not_wanted(folder: Path, term: str, more: dict[str, str], coloured: bool):
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(folder / "var"), **more}
    with terminal(env, "check", "none.csv", term=term) as shown:
        assert shown.end() == REFUSED.exit_code
    assert "none.csv: The file cannot be opened" in shown.text
    assert ("\x1b[" in shown.text) == coloured


class TestOwnDatabase:
    def test_one_that_cannot_grow_is_named(self, tmp_path: Path):
        done = run(tmp_path, "", "job", "list", "--json", before="ulimit -f 100")
        problem = read(done.stdout)["problem"]
        assert (done.returncode, problem["where"]) == (UNKNOWN, str(tmp_path / "var" / "millrace.sqlite3"))
        assert problem["what"].startswith("Millrace cannot use its own database: ")
        assert "Traceback" not in done.stderr

    def test_a_key_that_cannot_be_written_is_named_and_leaves_nothing(self, tmp_path: Path):
        done = run(tmp_path, "", "job", "list", before="ulimit -f 0")
        key = tmp_path / "var" / "keys" / "secret_key"
        assert done.stderr.startswith(f"{key}: Millrace cannot write there: File too large. The file system /")
        assert " bytes free. Make room there, " in done.stderr
        assert list(key.parent.iterdir()) == []

    def test_one_that_does_not_answer_is_named(self, tmp_path: Path):
        done = run(tmp_path, "", "job", "list", before="export DATABASE_URL=mysql://a:b@127.0.0.1:9/own")
        assert done.returncode == UNKNOWN
        assert done.stderr.startswith("127.0.0.1 own: Millrace cannot use its own database: Can't connect")
        assert "Traceback" not in done.stderr

    def test_a_folder_that_cannot_be_made_is_named(self, tmp_path: Path):
        (tmp_path / "var").touch()
        done = run(tmp_path, "", "load", "a.csv", "--json", before="VAR_DIR=$VAR_DIR/below")
        assert done.returncode == REFUSED.exit_code, done.stderr
        assert read(done.stdout)["problem"]["where"] == str(tmp_path / "var" / "below")
        assert "Traceback" not in done.stderr
