"""The real processes around a test: Redis, Celery workers, beat and gunicorn, on the test's own database."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.request import urlopen

import psutil
from django.conf import settings
from django.db import connection

from importer.management.processes.command_lines import CELERY
from importer.management.processes.private_servers import PrivateRedis, free_port
from importer.worker.hosts import presence
from importer.worker.hosts.installation import queue_names
from tests.documents import check_output

ROOT = Path(__file__).resolve().parent.parent
PYTHON = Path(sys.executable)


def wait_until(holds: Callable[[], object], seconds: float = 90, what: str = "") -> None:
    """Return soon after `holds()` is true, fail after `seconds`: the longer it has taken, the longer between looks."""
    began = time.monotonic()
    while not holds():
        waited = time.monotonic() - began
        assert waited < seconds, f"still not true after {seconds} s: {what or holds}"
        time.sleep(min(max(0.02, waited / 100), 0.1))


def announce_workers() -> None:
    """One worker for each queue, for a while: without them every page says that imports wait."""
    for queue in queue_names():
        presence.announce(f"{queue}@here", 4, [queue])


def database_url() -> str:
    """The test's own database, for processes that read their settings from the environment."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return f"{settings.DATABASE_URL.rpartition('/')[0]}/{name}"


@dataclass
class Process:
    """One of our processes, with all its children, in a group of its own.

    Started again when it ends by itself, as supervisord and the containers do: a Celery worker that acknowledges a
    task at the very moment Redis goes down gives up (kombu 5.7.0, AttributeError on a closed connection).
    """

    command: list[str]
    env: dict[str, str]
    log: Path
    popen: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                self.command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        threading.Thread(target=self._start_again, args=(self.popen,), daemon=True).start()

    def _start_again(self, popen: subprocess.Popen[bytes]) -> None:
        popen.wait()
        if self.popen is popen:
            self.start()

    def children(self) -> list[int]:
        assert self.popen
        return [child.pid for child in psutil.Process(self.popen.pid).children()]

    def kill(self) -> None:
        """SIGKILL for it and everything under it at once."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        self._signal(signal.SIGTERM)

    def end(self) -> int:
        """SIGTERM for it alone, as supervisord and containers send it; its exit status once it has ended."""
        popen, self.popen = self.popen, None
        assert popen
        popen.terminate()
        return popen.wait(timeout=90)

    def _signal(self, how: signal.Signals) -> None:
        popen, self.popen = self.popen, None
        if not popen:
            return
        with suppress(ProcessLookupError):
            os.killpg(popen.pid, how)
        try:
            popen.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(popen.pid, signal.SIGKILL)
            popen.wait(timeout=20)


class Stack:
    """Redis, a worker for loads, a worker for the rest, beat, and gunicorn on request."""

    started: ClassVar["Stack | None"] = None

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.redis = PrivateRedis(folder / "redis", socket=settings.REDIS_SOCKET)
        self.port = free_port()
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "VAR_DIR": str(settings.VAR_DIR),
            "DATABASE_URL": database_url(),
            "LEASE_SECONDS": str(settings.LEASE_SECONDS),
            "SWEEP_SECONDS": str(settings.SWEEP_SECONDS),
            "PYTHONPATH": str(ROOT),
        }
        self.load_worker = self._celery("load", "worker", "-Q", "load", "-c", "2", "-n", "load@%h")
        self.control_worker = self._celery("control", "worker", "-Q", "control,scan", "-c", "2", "-n", "control@%h")
        self.beat = self._celery("beat", "beat", "-s", str(folder / "beat-schedule"))
        self.web = self._process(
            "web", str(PYTHON.parent / "gunicorn"), "config.asgi", "-k", "config.serving.worker.Worker",
            "--asgi-lifespan=off", "--no-control-socket", "-b", f"127.0.0.1:{self.port}",
        )  # fmt: skip

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start Redis; `stack` and workers_with() start the workers that they need."""
        self.redis.start()
        Stack.started = self

    def start_workers(self) -> None:
        """The processes that do not run."""
        for process in (self.load_worker, self.control_worker, self.beat):
            if not process.popen:
                process.start()

    def stop_workers(self) -> None:
        for process in (self.beat, self.load_worker, self.control_worker):
            process.stop()

    @contextmanager
    def workers_with(self, children: int, **env: str) -> Iterator[None]:
        """In this context there are workers with this many children each, all with these environment variables."""
        usual, loaders = dict(self.env), (self.load_worker, self.control_worker)
        before = [list(worker.command) for worker in loaders]
        self.stop_workers()
        self.env.update(env)
        for worker in loaders:
            worker.command[worker.command.index("-c") + 1] = str(children)
        self.start_workers()
        try:
            yield
        finally:
            self.stop_workers()
            self.env.clear()
            self.env.update(usual)
            for worker, command in zip(loaders, before, strict=True):
                worker.command = command

    def stop(self) -> None:
        Stack.started = None
        for process in (self.web, self.beat, self.load_worker, self.control_worker):
            process.stop()
        self.redis.stop()

    def answers(self) -> bool:
        """Whether the web server answers."""
        try:
            with urlopen(f"{self.url}/healthz", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def manage(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` on the test's database."""
        done = subprocess.run(
            [str(PYTHON), "manage.py", *args], cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=120
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        check_output(args, done.stdout)
        return done

    def _celery(self, name: str, *args: str) -> Process:
        return self._process(name, str(PYTHON), "-m", CELERY, *args)

    def _process(self, name: str, *command: str) -> Process:
        return Process(list(command), self.env, self.folder / f"{name}.log")


def running(folder: Path) -> Iterator[Stack]:
    """A stack that is started, and stopped again by the process ids it was started with."""
    stack = Stack(folder)
    stack.start()
    try:
        yield stack
    finally:
        stack.stop()
