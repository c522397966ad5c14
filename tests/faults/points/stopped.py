"""Arms points, and finds the processes that have stopped at them."""

import os
import resource
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import psutil

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
        """Let so many processes stop at the point, once each."""
        self.times = times
        (self.folder / "armed" / point).mkdir(parents=True, exist_ok=True)
        for number in range(times):
            (self.folder / "armed" / point / str(number)).touch()

    def wait(self, point: str) -> None:
        """Return when as many processes have stopped as the point was armed for."""

        def all_stopped() -> bool:
            self.stopped = [each for each in self._processes() if _status(each) == psutil.STATUS_STOPPED]
            return len(self.stopped) == self.times

        wait_until(all_stopped, seconds=60, what=f"{self.times} processes at {point}")

    def workers(self) -> list[Process]:
        """The workers of the stopped processes."""
        pids = {each.pid for each in self.stopped}
        return [worker for worker in self._workers() if pids & {each.pid for each in _children(worker)}]

    def go_on(self) -> None:
        """Let the stopped processes go on."""
        for each in self.stopped:
            each.send_signal(signal.SIGCONT)

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
        """Disarm all points, and let everything go on."""
        for armed in (self.folder / "armed").glob("*/*"):
            armed.unlink(missing_ok=True)
        for each in self._processes():
            if _status(each) == psutil.STATUS_STOPPED:
                each.send_signal(signal.SIGCONT)
        for busy in (self.folder / "busy").iterdir():
            if not psutil.pid_exists(int(busy.name)):
                busy.unlink(missing_ok=True)
        self.stopped, self.command = [], None

    def _works(self, process: psutil.Process) -> bool:
        if self.command and process.pid == self.command.pid:
            return self.command.poll() is None
        return _status(process) not in GONE and (self.folder / "busy" / str(process.pid)).exists()

    def _processes(self) -> list[psutil.Process]:
        own = [psutil.Process(self.command.pid)] if self.command and self.command.poll() is None else []
        return own + [child for worker in self._workers() for child in _children(worker)]

    def _workers(self) -> list[Process]:
        return [self.stack.load_worker, self.stack.control_worker]


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
