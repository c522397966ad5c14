"""A release: one command builds it, it installs into a new virtual environment, and one line loads a file."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from config.version import VERSION
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.management.processes.private_servers import free_port
from tests.stack import ROOT, wait_until

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


def environment_of(home: Path) -> dict[str, str]:
    """That of a person with this home folder and no settings."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home)}


def run(millrace: Path, home: Path, *words: str) -> str:
    """What the installed command prints."""
    command, env = [millrace, *words], environment_of(home)
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_line_loads_a_file_after_the_installation(millrace: Path, database: Address, tmp_path: Path):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE three (id INT PRIMARY KEY, v VARCHAR(20))")
    path = tmp_path / "three.csv"
    path.write_text(FILE)
    url = f"mysql://{database.user}@{database.host}:{database.port}/{database.database}.three"
    assert run(millrace, tmp_path, "--version") == f"millrace {VERSION}\n"
    planned = run(millrace, tmp_path, "plan", "three.csv", url)
    assert "LOAD DATA LOCAL" in planned
    assert "Read as csv: utf-8, " in planned
    assert "  v -> v varchar(20)" in planned
    assert "three.csv into" in planned
    assert "three.csv: 3 rows, all of them could be loaded." in run(millrace, tmp_path, "check", "three.csv")
    assert "Import 1 succeeded: 3 = 3" in run(millrace, tmp_path, "load", "three.csv", url)
    assert "1: succeeded, three.csv" in run(millrace, tmp_path, "job", "list")
    assert (tmp_path / ".local/share/millrace/var/millrace.sqlite3").is_file()
    with connect(database) as connection:
        assert fetch_all(connection, "SELECT COUNT(*) FROM three") == [(3,)]


def test_one_line_serves_the_pages_until_ctrl_c(millrace: Path, tmp_path: Path):
    port, said = free_port(), tmp_path / "said"
    with said.open("w") as out:
        serves = subprocess.Popen(
            [millrace, "serve", "--port", str(port)],
            cwd=tmp_path,
            env=environment_of(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: "Millrace serves" in said.read_text() or serves.poll() is not None)
        assert re.search(r"Sign in as admin, password \S+ \(printed only this once\)", said.read_text())
        with urlopen(f"http://127.0.0.1:{port}/login/", timeout=30) as page:
            assert b"<form" in page.read()
        started = psutil.Process(serves.pid).children(recursive=True)
        assert len(started) > 5
        serves.send_signal(signal.SIGINT)
        assert serves.wait(60) == 0
        # What its parent has not waited for yet has ended, too.
        alive = [each for each in started if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
        assert alive == []
    finally:
        serves.kill()
        serves.wait()
