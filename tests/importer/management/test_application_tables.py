"""The first command of an installation makes the tables of its database."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from importer.management.terminal.output import NONE_TO_LIST
from tests.importer.management.installation import Installation
from tests.prepared import copy_of_tables
from tests.schema import schema_in_file
from tests.stack import ROOT

APPLIED = "SELECT app, name FROM django_migrations ORDER BY id"


def test_of_two_first_commands_one_makes_them_and_says_where(tmp_path: Path):
    own = Installation(tmp_path)
    env = {name: value for name, value in own.env.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "importer.management.command_line", "target", "list"]
    begun = [subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [each.communicate()[1] for each in begun]
    assert [each.returncode for each in begun] == [0, 0], said
    assert any(f"First use: Millrace keeps its records in {own.var}.\n" in each for each in said)
    later = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (later.returncode, later.stdout, later.stderr) == (0, "", f"{NONE_TO_LIST['target']}\n")
    files = own.var / "millrace.sqlite3", tmp_path / "migrated.sqlite3"
    copy_of_tables(files[1])
    assert schema_in_file(files[0]) == schema_in_file(files[1])
    with closing(sqlite3.connect(files[0])) as made, closing(sqlite3.connect(files[1])) as migrated:
        assert made.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert made.execute(APPLIED).fetchall() == migrated.execute(APPLIED).fetchall()
