"""Arms points, and finds the processes that have stopped at them."""

import os
import resource
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from django.db import transaction

from tests.stack import Process, Stack, wait_until


@dataclass
class Points:
    """The points below `folder`, at which processes of the stack, or the command, stop."""

    folder: Path
    stack: Stack
    times: int = 0
    command: subprocess.Popen[bytes] | None = None
    stopped: list[psutil.Process] = field(default_factory=list)

    def arm(self, point: str, times: int) -> None:
        """Let this many processes stop at the point, once each."""
        self.times = times
        (self.folder / "armed" / point).mkdir(parents=True, exist_ok=True)
        for number in range(times):
            os.mkfifo(self.folder / "armed" / point / str(number))

    def wait(self, point: str) -> None:
        """Return when as many processes as the point was armed for are at it; then all their threads are stopped.

        No thread is stopped while it has the lock of the application's database: there all other processes would wait.
        """
        wait_until(lambda: len(self._held()) == self.times, seconds=60, what=f"{self.times} processes at {point}")
        with transaction.atomic():  # BEGIN IMMEDIATE: nobody else has SQLite's lock.
            self.stopped = [psutil.Process(int(pipe.name)) for pipe in self._held()]
            for each in self.stopped:
                each.send_signal(signal.SIGSTOP)
            wait_until(lambda: {_status(each) for each in self.stopped} == {psutil.STATUS_STOPPED}, what="all stopped")

    def workers(self) -> list[Process]:
        """The workers of the stopped processes."""
        pids = {each.pid for each in self.stopped}
        return [worker for worker in self._workers() if pids & {each.pid for each in _children(worker)}]

    def go_on(self) -> None:
        """Let the stopped processes continue."""
        for each in self.stopped:
            self.let_go(each)

    def let_go(self, process: psutil.Process) -> None:
        """Let the process continue, if it still exists."""
        pipe = self.folder / "armed" / str(process.pid)
        number = pipe.stat().st_ino
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGCONT)
        # It may have been stopped just before it opened the pipe.
        wait_until(lambda: _opened(pipe) or _status(process) in GONE, what=f"{process.pid} at its pipe")
        with suppress(FileNotFoundError):
            if pipe.stat().st_ino == number:  # Else it is at the next armed point already.
                pipe.unlink()

    def wait_until_idle(self) -> None:
        """Return when each stopped process has ended the task that it had, or has ended itself."""
        wait_until(lambda: not any(map(self._works, self.stopped)), seconds=100, what="the end of what had stopped")

    def limit(self, size: int) -> None:
        """No file of the stopped processes may become larger; -1 lifts the limit. Python ignores SIGXFSZ."""
        for each in self.stopped:
            if _status(each) not in GONE:
                _, hard = resource.prlimit(each.pid, resource.RLIMIT_FSIZE)
                resource.prlimit(each.pid, resource.RLIMIT_FSIZE, (size, hard))

    def clear(self) -> None:
        """Disarm all points, and let everything continue."""
        for armed in (self.folder / "armed").glob("*/*"):
            armed.unlink(missing_ok=True)
        for pipe in self._held():
            with suppress(psutil.NoSuchProcess):
                self.let_go(psutil.Process(int(pipe.name)))
            pipe.unlink(missing_ok=True)  # If there is no such process.
        for busy in (self.folder / "busy").iterdir():
            if not psutil.pid_exists(int(busy.name)):
                busy.unlink(missing_ok=True)
        self.stopped, self.command = [], None

    def _works(self, process: psutil.Process) -> bool:
        if self.command and process.pid == self.command.pid:
            return self.command.poll() is None
        return _status(process) not in GONE and (self.folder / "busy" / str(process.pid)).exists()

    def _held(self) -> list[Path]:
        """The pipes at which processes wait, each named by its process."""
        return [each for each in (self.folder / "armed").iterdir() if each.name.isdigit()]

    def _workers(self) -> list[Process]:
        return [self.stack.load_worker, self.stack.control_worker]


def _opened(pipe: Path) -> bool:
    """Whether a process waits for the pipe; it continues now."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:  # ENXIO
        return False
    return True


GONE = ("", psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def _status(process: psutil.Process) -> str:
    """The status of the process; "" if it is gone."""
    try:
        return str(process.status())
    except psutil.NoSuchProcess:
        return ""


def _children(worker: Process) -> list[psutil.Process]:
    if not worker.popen:
        return []
    try:
        return psutil.Process(worker.popen.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def kill(process: psutil.Process) -> None:
    """SIGKILL, and wait until it is gone."""
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: _status(process) in GONE, what=f"the end of {process.pid}")
