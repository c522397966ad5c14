"""Measures during a load how long one processor waits for a cache line that another one has written.

On a virtual machine this time may change from one second to the next and stay for minutes; the same load then takes 1.4
times as long (docs/server-behaviour.md, Measuring). The program is handover.c, compiled if there is a compiler.
"""

import atexit
import os
import shutil
import statistics
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import TracebackType

from importer.engine.native.loader import COMPILER

SOURCE = Path(__file__).with_suffix(".c")


class Handover:
    """Measures once a second during a `with`; `mean` is then the mean of the nanoseconds until a cache line is back.

    `mean` is None with one processor only, without a compiler, and where the system is not Linux.
    """

    def __init__(self) -> None:
        self.mean: float | None = None
        self._running: subprocess.Popen[str] | None = None
        self._first = ""

    def __enter__(self) -> "Handover":
        # Only Linux lists the allowed processors and lets a process choose among them.
        processors = sorted(os.sched_getaffinity(0))[:2] if hasattr(os, "sched_getaffinity") else []
        if len(processors) == 2 and (program := _program()):
            command = [str(program), *map(str, processors)]
            self._running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert self._running.stdout
            self._first = self._running.stdout.readline()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._running:
            return
        with self._running:
            self._running.terminate()
            assert self._running.stdout
            samples = [float(line) for line in (self._first, *self._running.stdout) if line]
        self.mean = round(statistics.mean(samples), 1) if samples else None


@cache
def _program() -> Path | None:
    """The compiled program, in a folder that is removed when this process ends; None if it does not compile."""
    folder = Path(tempfile.mkdtemp(prefix="millrace-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / SOURCE.stem
    try:
        subprocess.run([*COMPILER, "-O2", "-pthread", "-o", program, SOURCE], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return program
