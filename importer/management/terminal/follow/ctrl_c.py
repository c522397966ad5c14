"""Ctrl-C while a command follows an import: once ends the import cleanly, twice ends the command at once.

So do SIGTERM, of `kill`, `timeout` and systemd, and SIGHUP, of a terminal that was closed.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from importer.engine.errors import Problem
from importer.jobs.actions import commands
from importer.jobs.actions.obstacles import end_without, is_stuck
from importer.models import ImportJob
from importer.models.outcomes import UNKNOWN
from importer.worker.shutdown import ENDS


class CtrlC:
    """Counts Ctrl-C. `act`, called at each look at the import, cancels it after the first one."""

    def __init__(self, write: Callable[[str], None], job_id: int) -> None:
        self._write, self._job_id = write, job_id
        self._pressed, self._acted, self._cancelled = 0, False, False

    @property
    def pressed(self) -> bool:
        """Whether it was pressed."""
        return self._pressed > 0

    def act(self, job: ImportJob) -> None:
        """Cancel the import after the first Ctrl-C, or end one that the server keeps from ending.

        One that can no longer be cancelled is about to end, and its end is waited for.
        """
        if not self._pressed or self._acted or job.ended:
            return
        self._acted = True
        self._write(f"Ending import {job.pk}. Ctrl-C once more ends at once.")
        end = end_without if is_stuck(job) else commands.cancel
        try:
            end(job.pk)
            self._cancelled = True
        except Problem as problem:
            self._write(str(problem))

    def press(self, number: int, _frame: FrameType | None) -> None:
        """Count one. The second ends this process and those that load; the server rolls back what they had begun.

        The command that it names for the missing rows ends the import first if that is cancelled, and else continues.
        """
        self._pressed += 1
        # systemd may send SIGHUP after SIGTERM, and a shell after its terminal.
        if self._pressed == 1 or number == signal.SIGHUP:
            return
        for each in multiprocessing.active_children():
            each.kill()
        verb = "retry" if self._cancelled else "run"
        left = f"What is committed stays. The missing rows: millrace job {verb} {self._job_id}"
        os.write(2, f"\nEnded at once. {left}\n".encode())
        os._exit(UNKNOWN)


@contextmanager
def counted(write: Callable[[str], None], job_id: int) -> Iterator[CtrlC]:
    """Count the signals of ENDS inside the block. One that is ignored, as in the background of a shell, stays so."""
    ctrl_c = CtrlC(write, job_id)
    takes = threading.current_thread() is threading.main_thread()
    taken = [each for each in ENDS if takes and signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, ctrl_c.press) for each in taken}
    try:
        yield ctrl_c
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
