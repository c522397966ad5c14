"""A release: one command builds it, it installs into a new virtual environment, and one line loads a file."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import psutil
import pytest

from config.version import VERSION
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.native.loader import builds_here, library_file
from importer.management.processes.private_servers import free_port
from tests.stack import ROOT, wait_until

FILE = "id,v\n1,a\n2,b\n3,c\n"
THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a release, with mysqlclient for the Python of the tests alone."""
    folder = tmp_path_factory.mktemp("release")
    command = ["make", "--no-print-directory", "release", f"DIST={folder}", f"PYTHONS={sys.executable}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "PYTHON": sys.executable})
    assert (folder / f"millrace-{VERSION}.tar.gz").is_file()
    (wheel,) = folder.glob(f"millrace-{VERSION}-*.whl")
    return wheel


@pytest.fixture(scope="module")
def millrace(wheel: Path) -> Path:
    """The installed command, in an environment that has the packages of this one, but not this folder.

    Other packages there have the names of Millrace's, and cannot be imported.
    """
    folder = wheel.parent
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), "--no-deps", str(wheel)]
    subprocess.run(uv, check=True)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for name in ("config", "dashboard", "importer", "MySQLdb"):
        (site / f"{name}.py").write_text(f"raise SystemExit('another {name}')\n")
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


def test_the_wheel_needs_no_compiler_and_has_one_package(wheel: Path):
    assert re.search(r"-py3-none-.*manylinux_2_\d+_", wheel.name)
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"millrace-{VERSION}.dist-info/METADATA").decode()
    assert {name.partition("/")[0] for name in names} == {"millrace", f"millrace-{VERSION}.dist-info"}
    (driver,) = re.findall(r"^Requires-Dist: (mysqlclient.*)$", metadata, re.MULTILINE)
    assert driver.endswith(f'; python_version != "{THIS_PYTHON}"')
    # The GPL asks for the sources and the licence of mysqlclient.
    assert {f"millrace/mysqlclient/{driver.partition(';')[0].replace('==', '-')}.tar.gz"} < set(names)
    assert f"millrace-{VERSION}.dist-info/licenses/mysqlclient/LICENSE" in names
    libraries = {Path(name).name for name in names if name.endswith(".so")}
    assert libraries == {library_file(build).name for build in builds_here()} | {f"_mysql{EXTENSION_SUFFIXES[0]}"}


def test_a_missing_client_library_is_named_with_its_packages(millrace: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(millrace.parents[1], copy, symlinks=True)
    (module,) = copy.glob("lib/python*/site-packages/millrace/mysqlclient/MySQLdb/*.so")
    module.write_bytes(module.read_bytes().replace(b"libmariadb.so.3", b"libmissing.so.3"))
    command = [copy / "bin" / "python", copy / "bin" / "millrace", "target", "list", "--json"]
    # In either database: Django has a message of its own without the library.
    for more in ({}, {"DATABASE_URL": "mysql://m@127.0.0.1/millrace"}):
        env = environment_of(tmp_path) | more
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith("The client library for MySQL cannot be loaded: libmissing.so.3: cannot open")
        assert "apt-get install libmariadb3, or on Fedora dnf install mariadb-connector-c." in line
        assert json.loads(done.stdout)["problem"]["advice"] in line


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
