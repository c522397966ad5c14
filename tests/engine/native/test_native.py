"""Compiled code: ours is there wherever it can be, as compiled for this processor, and numpy's starts no threads."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from importer.engine.native import loader

CPUINFO = Path("/proc/cpuinfo")


def test_it_is_compiled_where_there_is_a_compiler():
    assert loader.library() or not shutil.which(loader.COMPILER[0])


@pytest.mark.skipif(not loader.library() or not CPUINFO.exists(), reason="not compiled here, or not on Linux")
def test_newer_processors_take_what_is_compiled_for_them():
    flags = set(re.findall(r"\b(?:avx2|bmi1|bmi2|popcnt)\b", CPUINFO.read_text()))
    processor = "newer" if len(flags) == 4 else "any"
    taken = loader.library()
    assert taken
    assert taken._name == os.fspath(loader.library_file(processor))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="not on Linux")
def test_numpy_starts_no_threads():
    program = "import os, importer.engine, numpy; print(len(os.listdir('/proc/self/task')))"
    without = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    told = subprocess.run([sys.executable, "-c", program], env=without, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "1"
