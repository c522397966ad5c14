"""Clients that stock generators make of the API's description, by the commands of docs/api.md.

Each has every operation, and loads a file: it uploads, plans, imports, and waits for the end.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dashboard.api.urls import description
from importer.access import tokens
from importer.engine.mysql.connection import connect, fetch_all
from importer.models import Scope
from tests.people import operator
from tests.stack import ROOT
from tests.targets import target_with

HERE = Path(__file__).parent
EXAMPLE = "https://millrace.example.org"
CREATE = "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, amount DECIMAL(8,2))"
ROWS = 1000
# Go may be where its own installer puts it, and is not on PATH there. -trimpath: folders have no part in what is kept.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/local/go/bin"])
ENVIRONMENT = {**os.environ, "PATH": PATH, "GOFLAGS": "-trimpath -buildvcs=false"}
SECONDS = 600  # Go compiles the generator once on a machine


@dataclass(frozen=True)
class Language:
    """A language with a generator of clients.

    `missing`: why there can be no client on this machine, "" where there can. `operations`: a pattern in the client's
    files for the name of each operation. `run`: the commands that run the program next to it.
    """

    name: str
    generator: str
    missing: str
    files: str
    operations: str
    run: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def no_python() -> str:
    found = importlib.util.find_spec("openapi_python_client")
    return "" if found else "openapi-python-client is not installed; `make clients` does it"


def no_typescript() -> str:
    if not shutil.which("node", path=PATH):
        return "Node.js is not installed"
    return "" if (HERE / "typescript" / "node_modules").is_dir() else "`make clients` installs openapi-ts"


def no_go() -> str:
    return "" if shutil.which("go", path=PATH) else "Go is not installed"


LANGUAGES = (
    Language(
        "python",
        "openapi-python-client",
        no_python(),
        "millrace_api/api/*/*.py",
        r"^# (\w+)\n(?=[\s\S]*\ndef sync_detailed\()",
        ("python load.py",),
    ),
    Language(
        "typescript",
        "openapi-ts",
        no_typescript(),
        "millrace-api/sdk.gen.ts",
        r"^export const (\w+) = <",
        ("npx tsc", "node built/load.js"),
    ),
    Language(
        "go",
        "oapi-codegen",
        no_go(),
        "millrace.go",
        r"^func \(c \*ClientWithResponses\) (\w+?)(?:WithBody)?WithResponse\(",
        ("go run .",),
    ),
)

PARAMETERS = [
    pytest.param(each, marks=pytest.mark.skipif(bool(each.missing), reason=each.missing)) for each in LANGUAGES
]


def carried_out(line: str, folder: Path, **environment: str) -> str:
    """The output of a command, which succeeds."""
    done = subprocess.run(
        shlex.split(line),
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def documented(generator: str) -> str:
    """The command of docs/api.md that makes a client."""
    lines = (ROOT / "docs" / "api.md").read_text().splitlines()
    (line,) = (each.strip() for each in lines if generator in each and f"{EXAMPLE}/api/v1/openapi.json" in each)
    return line


def operations_of(folder: Path, language: Language) -> set[str]:
    """The operations of a client, by their names without capitals and underscores, as each language writes them."""
    # A Python client has a file for each operation.
    texts = (f"# {each.stem}\n{each.read_text()}" for each in folder.glob(language.files))
    return {plain(name) for text in texts for name in re.findall(language.operations, text, re.MULTILINE)}


def plain(name: str) -> str:
    return name.replace("_", "").lower()


@pytest.fixture
def token(transactional_db) -> str:
    return tokens.make(operator("ann"), "nightly", 30, Scope.values)[1]


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("language", PARAMETERS, ids=str)
def test_a_generated_client_has_all_operations_and_loads_a_file(language, mariadb, token, web, tmp_path):
    target_with(mariadb, CREATE)
    folder = tmp_path / language.name
    shutil.copytree(HERE / language.name, folder, ignore=shutil.ignore_patterns("node_modules"))
    if (modules := HERE / language.name / "node_modules").is_dir():
        (folder / "node_modules").symlink_to(modules)
    said = carried_out(documented(language.generator).replace(EXAMPLE, web.url), folder)
    assert "warning" not in said.lower()
    every = {
        plain(each["operationId"]) for methods in description.schema["paths"].values() for each in methods.values()
    }
    assert operations_of(folder, language) == every

    file = tmp_path / "orders.csv"
    file.write_text("id,name,amount\n" + "".join(f"{number},ann,{number}.50\n" for number in range(ROWS)))
    for line in language.run:
        said = carried_out(line, folder, MILLRACE=web.url, TOKEN=token, FILE=str(file))
    # The first line is the program's; Go says afterwards what it has fetched.
    assert json.loads(said.splitlines()[0]) == [1200, "planned", "succeeded", True]
    with connect(mariadb) as connection:
        (counted,) = fetch_all(connection, "SELECT COUNT(*), SUM(amount) FROM orders")
    assert counted == (ROWS, sum(range(ROWS)) + ROWS // 2)
