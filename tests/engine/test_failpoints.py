"""Failpoints: each is declared once and reached, no user can switch them on, and an armed one stops a process."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from importer.engine import failpoints
from tests.stack import ROOT, wait_until

PRODUCT = ("config", "importer", "dashboard", "scripts")


def calls_of(function: str) -> list[ast.Call]:
    """The calls of failpoints.FUNCTION in the product."""
    texts = (path.read_text() for folder in PRODUCT for path in sorted((ROOT / folder).rglob("*.py")))
    trees = [ast.parse(text) for text in texts if function in text]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node for node in nodes if ast.unparse(node.func).rpartition(".")[2] == function]


def test_each_declared_point_is_reached_in_one_place_and_no_other_point():
    reached = [ast.literal_eval(each.args[0]) for each in calls_of("reach")]
    assert sorted(reached) == sorted(failpoints.POINTS)


def test_nothing_in_the_product_switches_them_on():
    assert calls_of("switch_on") == []


def test_the_product_does_not_start_with_the_variable_of_the_tests(tmp_path: Path):
    env = {**os.environ, "VAR_DIR": str(tmp_path), "FAILPOINTS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", "import config.settings"], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "ImproperlyConfigured: FAILPOINTS is set" in done.stderr


def test_the_variable_in_the_file_env_is_refused_as_well(tmp_path: Path):
    (tmp_path / ".env").write_text(f"FAILPOINTS={tmp_path}\n")
    read = f"import config.environment as e; e.env.read_env({str(tmp_path / '.env')!r}); import config.settings"
    env = {**os.environ, "VAR_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", read], cwd=ROOT, env=env, capture_output=True, text=True)
    assert "ImproperlyConfigured: FAILPOINTS is set" in done.stderr


def test_switched_off_a_point_does_nothing(tmp_path: Path):
    (tmp_path / "chunk.sent").mkdir()
    (tmp_path / "chunk.sent" / "1").touch()
    failpoints.reach("chunk.sent")
    assert (tmp_path / "chunk.sent" / "1").exists()


REACH_TWICE = (
    "import pathlib, sys; from importer.engine import failpoints; failpoints.switch_on(pathlib.Path(sys.argv[1]));"
    " failpoints.reach('chunk.seen'); failpoints.reach('chunk.sent'); failpoints.reach('chunk.sent')"
)


@pytest.mark.parametrize("armed", [0, 1])
def test_an_armed_point_holds_one_process_once(tmp_path: Path, armed: int):
    (tmp_path / "chunk.sent").mkdir()
    for number in range(armed):
        os.mkfifo(tmp_path / "chunk.sent" / str(number))
    process = subprocess.Popen([sys.executable, "-c", REACH_TWICE, str(tmp_path)], cwd=ROOT)
    for _ in range(armed):
        wait_until((tmp_path / str(process.pid)).exists)
        assert list((tmp_path / "chunk.sent").iterdir()) == []
        assert process.poll() is None
        (tmp_path / str(process.pid)).open("wb").close()
    assert process.wait(timeout=60) == 0
