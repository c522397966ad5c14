"""The tables of a new database come from a file, which has exactly what the migrations make."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from importer.management.application_tables import TABLES
from importer.management.terminal.verbs import NONE_TO_LIST
from scripts.tables import tables_of
from tests.importer.management.installation import Installation
from tests.prepared import copy_of_tables
from tests.stack import ROOT


def test_the_file_has_what_the_migrations_make(tmp_path: Path):
    migrated = tmp_path / "migrated.sqlite3"
    copy_of_tables(migrated)
    assert TABLES.read_text() == tables_of(migrated), "run: make tables"


def test_a_first_command_makes_these_tables_and_says_where(tmp_path: Path):
    own = Installation(tmp_path)
    env = {name: value for name, value in own.env.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "importer.management.command_line", "target", "list"]
    first, second = (subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True) for _ in range(2))
    assert f"First use: Millrace keeps its records in {own.var}.\n" in first.stderr
    assert (second.returncode, second.stdout, second.stderr) == (0, "", f"{NONE_TO_LIST['target']}\n")
    assert tables_of(own.var / "millrace.sqlite3") == TABLES.read_text()
    with closing(sqlite3.connect(own.var / "millrace.sqlite3")) as made:
        assert made.execute("SELECT MIN(applied) > '2026' FROM django_migrations").fetchone() == (1,)
        assert made.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert made.execute("PRAGMA foreign_key_check").fetchall() == []
    assert "No planned migration operations." in own.manage("migrate", "--plan")
