"""The process that forks a child for each errand, and the child, whose memory and time the system bounds."""

import gc
import json
import logging
import os
import random
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from config.frames import in_one_piece
from config.serving.errands import LENGTH, framed
from config.serving.wsgi_call import Answer, Application, environ_with

logger = logging.getLogger(__name__)

STILL_FRESH = 0.1  # the part of its memory that a child may keep after an errand, to be asked again


def start(
    application: Application, errand_bytes: int, warm: Callable[[], None], not_for_it: list[socket.socket]
) -> socket.socket:
    """Fork the process; the socket by which it is asked for children, and with whose end it ends.

    To be called before the first thread begins. `errand_bytes`: of memory that a child may take in addition to what the
    process has. `warm` is called in it first: what is imported there, no child needs to. `not_for_it`: sockets that it
    closes.
    """
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork():
        other.close()
        return own
    try:
        own.close()
        for each in not_for_it:
            each.close()
        _fork_on(other, application, errand_bytes, warm)
    except BaseException:
        logger.exception("The process of the errands has ended.")
    os._exit(1)


def _fork_on(control: socket.socket, application: Application, errand_bytes: int, warm: Callable[[], None]) -> None:
    """Fork a child for each socket that arrives. At the end of `control` all children are killed."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The system forgets children that have ended.
    warm()
    gc.freeze()
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            os.killpg(0, signal.SIGKILL)
        if os.fork() == 0:
            control.close()
            _run_errands(socket.socket(fileno=descriptors[0]), application, errand_bytes)
        os.close(descriptors[0])


def _run_errands(asked: socket.socket, application: Application, errand_bytes: int) -> NoReturn:
    """Answer requests until there is none, and end."""
    try:
        for number in (signal.SIGCHLD, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        random.seed()
        before = _data_bytes()
        resource.setrlimit(resource.RLIMIT_DATA, (before + errand_bytes, before + errand_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        asked.sendall(os.getpid().to_bytes(LENGTH))
        with asked.makefile("rb") as reading:
            while told := reading.read(int.from_bytes(reading.read(LENGTH))):
                body = reading.read(int.from_bytes(reading.read(LENGTH)))
                head, answered = _answer(application, body, **json.loads(told))
                head["fresh"] = _data_bytes() - before < errand_bytes * STILL_FRESH
                asked.sendall(framed(json.dumps(head).encode()) + framed(answered))
    except BaseException:
        logger.exception("An errand has ended.")
    os._exit(1)


@in_one_piece
def _answer(
    application: Application, body: bytes, environ: dict[str, str], seconds: float
) -> tuple[dict[str, Any], bytes]:
    """The head of the answer and its body. The system ends the process if that takes longer than these seconds."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    answer = Answer(application, environ_with(environ, body))
    try:
        head, *pieces = answer.whole()
    finally:
        answer.close()
    signal.setitimer(signal.ITIMER_REAL, 0)
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in head["headers"]]
    return {"status": head["status"], "headers": headers}, b"".join(each["body"] for each in pieces)


def _data_bytes() -> int:
    """What this process itself has in memory: neither files that are mapped, nor space that is only reserved."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
