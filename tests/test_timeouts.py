"""A test that takes too long is ended and named."""

import subprocess
import sys
from pathlib import Path

from tests.stack import ROOT

ENDLESS = """
import threading

def test_quick(): ...

def test_endless():
    threading.Event().wait()
"""


def test_a_test_without_an_end_is_ended_with_its_stack(tmp_path: Path):
    (tmp_path / "test_it.py").write_text(ENDLESS)
    line = [*(sys.executable, "-m", "pytest", "-p", "no:django", "-p", "no:schemathesis", "-p", "tests.timeouts")]
    limits = ["--timeout", "1", "--timeout-method", "thread", "--rootdir", str(tmp_path), "-c", "/dev/null"]
    done = subprocess.run([*line, *limits, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert "in test_endless" in done.stdout + done.stderr
    assert "Stack of MainThread" in done.stdout + done.stderr
