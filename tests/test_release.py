"""A release: one command builds it, it installs into a new virtual environment, and one line loads a file."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from config.version import VERSION
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from tests.stack import ROOT

FILE = "id,v\n1,a\n2,b\n3,c\n"


@pytest.fixture(scope="module")
def millrace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed command, in an environment that has the packages of this one, but not this folder."""
    folder = tmp_path_factory.mktemp("release")
    command = ["make", "--no-print-directory", "release", f"DIST={folder}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "PYTHON": sys.executable})
    assert (folder / f"millrace-{VERSION}.tar.gz").is_file()
    (wheel,) = folder.glob(f"millrace-{VERSION}-*.whl")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), "--no-deps", str(wheel)]
    subprocess.run(uv, check=True)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python.parent / "millrace"


def run(millrace: Path, home: Path, *words: str) -> str:
    """What the installed command prints, for a person with this home folder and no settings."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    done = subprocess.run(
        [millrace, *words], cwd=home, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_line_loads_a_file_after_the_installation(millrace: Path, database: Address, tmp_path: Path):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE three (id INT PRIMARY KEY, v VARCHAR(20))")
    path = tmp_path / "three.csv"
    path.write_text(FILE)
    url = f"mysql://{database.user}@{database.host}:{database.port}/{database.database}.three"
    assert run(millrace, tmp_path, "--version") == f"millrace {VERSION}\n"
    assert "LOAD DATA LOCAL" in run(millrace, tmp_path, "plan", "three.csv", url)
    assert "Import 1 succeeded: 3 = 3" in run(millrace, tmp_path, "load", "three.csv", url)
    assert "1: succeeded, three.csv" in run(millrace, tmp_path, "job", "list")
    assert (tmp_path / ".local/share/millrace/var/millrace.sqlite3").is_file()
    with connect(database) as connection:
        assert fetch_all(connection, "SELECT COUNT(*) FROM three") == [(3,)]
