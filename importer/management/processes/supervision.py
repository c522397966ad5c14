"""Starts Millrace's processes under supervisord, waits until they work, and stops them."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xmlrpc.client import Fault, ServerProxy

from django.conf import settings
from supervisor.xmlrpc import SupervisorTransport

from config.environment import private_folder, python_path, socket_path
from importer.engine.errors import Problem
from importer.worker.shutdown import GRACE_SECONDS, end_with_parent

START_TIMEOUT = 120  # seconds
PATIENCE = round(2 * GRACE_SECONDS)  # seconds until a process that was asked to stop is killed
STOP_TIMEOUT = 60  # seconds
LOG_TAIL = 3000  # characters

BECOME = "python -m importer.management.processes {name}"
REDIS = "redis"
APPLICATION = ("web", "worker-load", "worker-control", "beat")

# Paths are relative to VAR_DIR, where supervisord runs, because a space, %, ; or # in an absolute one would be parsed.
HEAD = """\
[supervisord]
nodaemon=true
logfile=log/supervisord.log
pidfile=run/supervisord.pid

[unix_http_server]
file=%(ENV_SUPERVISOR_SOCKET)s
chmod=0700

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
"""
# A stop signal goes to the worker alone, so that it finishes its chunk; after the wait it is killed with its children.
PROGRAM = """
[program:{name}]
command={command}
autorestart=true
startsecs=5
startretries=10
stopwaitsecs={patience}
killasgroup=true
redirect_stderr=true
stdout_logfile=log/{name}.log
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=3
"""
# The application's group stops before the servers' group, so that no process loses a server while it works.
GROUP = """
[group:{name}]
programs={programs}
priority={priority}
"""


class Stopped(Exception):
    """The program is to stop: Ctrl-C, SIGTERM or a closed terminal."""


class CannotStart(Problem):
    """The start failed; the message has the cause and the remedy."""


def to_terminal(text: str) -> None:
    """Write the text to standard output at once."""
    print(text, end="", flush=True)


class Supervisor:
    """Controls the processes of one VAR_DIR, which end with this process."""

    def __init__(self, servers: Mapping[str, str], write: Callable[[str], None] = to_terminal) -> None:
        """`servers`: the command line of each private server, by its name. `write`: takes what people read."""
        self.servers = servers
        self._write = write
        self.run_dir = settings.VAR_DIR / "run"
        self.log_dir = settings.VAR_DIR / "log"
        self.socket = socket_path(settings.VAR_DIR, "supervisor.sock")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        for folder in (self.run_dir, self.log_dir, self.socket.parent):
            private_folder(folder)
        configuration = self.run_dir / "supervisord.conf"
        configuration.write_text(configuration_of(self.servers))
        with (self.log_dir / "supervisord.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "supervisor.supervisord", "-c", str(configuration)],
                cwd=settings.VAR_DIR,
                env=os.environ | self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                # supervisord must not get the terminal's Ctrl-C: we stop the processes in order.
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509 (one thread only at this point)
            )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": python_path(settings.BASE_DIR),
            "SUPERVISOR_SOCKET": str(self.socket),
            "VAR_DIR": str(settings.VAR_DIR),
        }

    def wait_for(self, what: str, holds: Callable[[], bool]) -> None:
        """Print `what` and wait until `holds` is true.

        Raises CannotStart after START_TIMEOUT seconds, or as soon as a process fails to start.
        """
        self._write(f"  waiting for {what} ...")
        began = time.monotonic()
        while not holds():
            self._raise_if_in("BACKOFF", "FATAL")
            if time.monotonic() - began > START_TIMEOUT:
                raise CannotStart(f"Still waiting for {what} after {START_TIMEOUT} s. The logs are in {self.log_dir}")
            time.sleep(0.1)
        self._write(f" {time.monotonic() - began:.1f} s\n")

    def wait_for_stop(self) -> None:
        """Never returns: raises Stopped, or CannotStart if supervisord or one of its processes fails for good."""
        while True:
            self._raise_if_in("FATAL")
            time.sleep(1)

    def stop(self) -> None:
        """Stop all processes, the application before the servers, and wait for their end."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            # Its processes end with it (processes.end_with_parent).
            self.process.kill()
            self.process.wait()
        self.process = None

    def _raise_if_in(self, *states: str) -> None:
        """Raise CannotStart if a process is in one of supervisord's `states`. BACKOFF: it failed and is retried."""
        assert self.process is not None
        if self.process.poll() is not None:
            raise CannotStart(f"supervisord ended:\n{tail(self.log_dir / 'supervisord.log')}")
        for process in self._processes():
            if process["statename"] in states:
                name = process["name"]
                raise CannotStart(f"{name} does not start; the end of its log:\n{tail(self.log_dir / f'{name}.log')}")

    def _processes(self) -> list[dict[str, Any]]:
        """supervisord's information on each process; empty while supervisord is starting."""
        try:
            answer = rpc(self.socket).supervisor.getAllProcessInfo()
        except (OSError, Fault):
            return []
        assert isinstance(answer, list)
        return answer


def configuration_of(servers: Mapping[str, str]) -> str:
    """supervisord's configuration for the private `servers`, by their command lines, and the application."""
    parts = [HEAD]
    parts += [PROGRAM.format(name=name, command=command, patience=30) for name, command in servers.items()]
    parts += [PROGRAM.format(name=name, command=BECOME.format(name=name), patience=PATIENCE) for name in APPLICATION]
    if servers:
        parts.append(GROUP.format(name="servers", programs=",".join(servers), priority=1))
    parts.append(GROUP.format(name="application", programs=",".join(APPLICATION), priority=2))
    return "".join(parts)


@contextmanager
def only_one() -> Iterator[None]:
    """Lock this VAR_DIR. Raises CannotStart if another instance has locked it."""
    path = settings.VAR_DIR / "run" / "lock"
    private_folder(path.parent)
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f"Millrace is already running on {settings.VAR_DIR} (process {path.read_text().strip()}).\n"
                "Stop it with Ctrl-C where it runs, or choose another folder with VAR_DIR=... (and another PORT)."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Turn the first stop signal into Stopped; later ones are ignored, so they do not interrupt the stopping."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(_number: int, _frame: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise Stopped

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def rpc(socket: Path) -> ServerProxy:
    """supervisord's XML-RPC interface, through its Unix socket."""
    return ServerProxy("http://localhost", transport=SupervisorTransport(serverurl=f"unix://{socket}"))


def tail(path: Path) -> str:
    return path.read_text(errors="replace")[-LOG_TAIL:] if path.exists() else "(no log)"
