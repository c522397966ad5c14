"""Errands: requests that wait for servers of others or read files, each answered by a process of its own.

The application says in the Errand of a request's environ that the request is one, and gives no answer. The server then
has it answered by a child process (errand_process.py) with the memory and the time that an errand may take: no thread
waits, and the system ends what takes more. An errand that only looks ends when its client is gone. A server without the
agreement gets the answer at once.
"""

import asyncio
import json
import logging
import os
import signal
import socket
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from config.serving.client import Client, Message
from config.serving.wsgi_call import Environ, in_pieces

ERRAND = "millrace.errand"  # the key in a WSGI environ
logger = logging.getLogger(__name__)

PATIENCE = 10.0  # seconds that an errand waits for its turn
MOST_ANSWER = 2**26  # bytes
LENGTH = 4  # bytes of a frame's length
# A child that is kept answers at once: its first answer takes twice as long as the next ones.
MOST_IDLE = 2
MOST_ERRANDS = 100  # of one child
# After this many seconds an errand's process gets this niceness, so that pages come first.
SLOW_SECONDS, GIVES_WAY = 5.0, 5


class NoTurn(Exception):
    """All places are taken by others."""


class NoAnswer(Exception):
    """The child has ended without an answer. `late`: it took all the time that it may take."""

    def __init__(self, *, late: bool) -> None:
        self.late = late


@dataclass
class Errand:
    """Whether a request is an errand: `seconds` that it may take, 0 for none. `held`: what it holds until its end.

    `ends_with_client`: it is worth nothing when the client is gone, and leaves nothing half done. `ended`: the child
    had no answer; the application is called again to say so.
    """

    seconds: float = 0
    ends_with_client: bool = False
    held: ExitStack = field(default_factory=ExitStack)
    ended: NoAnswer | None = None


@dataclass
class _Child:
    """A process that answers one errand after another. `handle`: its descriptor; a number could become another's."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    process: int
    handle: int
    errands: int = 0

    @classmethod
    async def begin(cls, control: socket.socket) -> "_Child":
        own, childs = socket.socketpair()
        with childs:
            socket.send_fds(control, [b"1"], [childs.fileno()])
        reader, writer = await asyncio.open_connection(sock=own)
        process = int.from_bytes(await reader.readexactly(LENGTH))
        return cls(reader, writer, process, os.pidfd_open(process))

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def end(self) -> None:
        """Let the process end, if it has not ended."""
        self.writer.close()
        os.close(self.handle)


class Errands:
    """The errands of a web process, `most` at a time. `control`: the socket to the process that forks the children."""

    def __init__(self, control: socket.socket, most: int) -> None:
        self._control, self._free = control, asyncio.Semaphore(most)
        self._idle: list[_Child] = []

    async def answer(self, environ: Environ, errand: Errand, client: Client) -> list[Message]:
        """The answer to a request. Raises NoTurn and NoAnswer."""
        body = environ["wsgi.input"].getvalue()
        words = {name: value for name, value in environ.items() if isinstance(value, str)}
        asked = framed(json.dumps({"environ": words, "seconds": errand.seconds}).encode()) + framed(body)
        async with self._turn():
            began = time.monotonic()
            try:
                return await self._ask(asked, client if errand.ends_with_client else None)
            except (asyncio.IncompleteReadError, OSError):
                raise NoAnswer(late=time.monotonic() - began >= errand.seconds) from None

    def end(self) -> None:
        """End the process that forks the children, and with it all of them."""
        self._control.close()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        try:
            await asyncio.wait_for(self._free.acquire(), PATIENCE)
        except TimeoutError:
            raise NoTurn from None
        try:
            yield
        finally:
            self._free.release()

    async def _ask(self, asked: bytes, client: Client | None) -> list[Message]:
        child = await self._child()
        if client:
            client.when_gone(child.kill)
        slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, _give_way, child)
        told: dict[str, Any] = {}
        try:
            child.writer.write(asked)
            told, body = json.loads(await _frame(child.reader)), await _frame(child.reader)
        finally:
            if client:
                client.when_gone(None)
            slow.cancel()
            self._keep(child, told.get("fresh", False) and not slow.when() <= asyncio.get_running_loop().time())
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told["headers"]]
        return in_pieces({"type": "http.response.start", "status": told["status"], "headers": headers}, body)

    async def _child(self) -> _Child:
        while self._idle:
            child = self._idle.pop()
            if not child.reader.at_eof():
                return child
            child.end()  # Somebody has killed it.
        try:
            return await _Child.begin(self._control)
        except BrokenPipeError:
            # Its place is taken by a web process with another one.
            logger.critical("The process of the errands is gone. The web process ends, and another one begins.")
            os.kill(os.getpid(), signal.SIGTERM)
            raise NoTurn from None

    def _keep(self, child: _Child, good: bool) -> None:
        """Keep a child that may answer another errand, or let it end."""
        child.errands += 1
        if good and child.errands < MOST_ERRANDS and len(self._idle) < MOST_IDLE:
            self._idle.append(child)
        else:
            child.end()


def _give_way(child: _Child) -> None:
    """Let others go first on the processors, for the rest of the child's life."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, child.process, GIVES_WAY)


def framed(data: bytes) -> bytes:
    """The data with its length before it."""
    return len(data).to_bytes(LENGTH) + data


async def _frame(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(LENGTH))
    if length > MOST_ANSWER:
        raise OSError(f"An answer of {length:,} bytes.")
    return await reader.readexactly(length)
