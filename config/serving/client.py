"""The two directions of a request, received and sent in the event loop: a slow client costs no thread there."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, MutableMapping
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, TypeVar

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

Result = TypeVar("Result")

# The connection ends if the client reads nothing of an answer for this number of seconds.
ANSWER_SECONDS = 60
LOOK_SECONDS = 1  # after which a thread that waits for the loop looks whether there still is one


class TooSlow(Exception):
    """The body arrives more slowly than is allowed."""


class TooLong(Exception):
    """The body is longer than is allowed."""


class Gone(Exception):
    """The client is gone, or takes nothing."""


@dataclass(frozen=True)
class Pace:
    """The least rate of a body: in every `grace` seconds of waiting, `rate` bytes for each of them."""

    rate: int
    grace: float


class Client:
    """The client of one request, by the ASGI server's `receive` and `send`."""

    def __init__(self, receive: Receive, send: Send, pace: Pace) -> None:
        self._receive, self._send, self._pace = receive, send, pace
        # Only time spent waiting for the client counts, not that of our own disks.
        self._waited, self._arrived = 0.0, 0
        self.whole = False  # whether all of the body has arrived
        self.gone = False
        self._when_gone: Callable[[], None] | None = None

    def when_gone(self, call: Callable[[], None] | None) -> None:
        """What is called when the client has gone away, at once if it has."""
        self._when_gone = call
        if call and self.gone:
            call()

    def leave(self) -> None:
        """The client has gone away."""
        self.gone = True
        if self._when_gone:
            self._when_gone()

    async def piece(self) -> bytes:
        """The next bytes of the body; `whole` tells if they are the last. Raises TooSlow, or Gone."""
        message = await self._next_message()
        if message["type"] == "http.disconnect":
            self.gone = True
            raise Gone
        body: bytes = message.get("body", b"")
        self._arrived += len(body)
        self.whole = not message.get("more_body", False)
        return body

    async def _next_message(self) -> Message:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                async with asyncio.timeout(self._pace.grace - self._waited):
                    message = await self._receive()
            except TimeoutError:
                if self._arrived < self._pace.rate * self._pace.grace:
                    raise TooSlow from None
                self._waited, self._arrived = 0.0, 0
            else:
                self._waited += loop.time() - began
                return message

    async def body(self, most: int) -> bytes:
        """The whole body. Raises TooLong above `most` bytes, TooSlow, or Gone."""
        pieces = bytearray()
        while not self.whole:
            pieces += await self.piece()
            if len(pieces) > most:
                raise TooLong
        return bytes(pieces)

    async def drop(self, most: int) -> None:
        """Receive up to `most` bytes of the body for nothing. Many clients read no answer before they have sent all."""
        try:
            while not self.whole and most > 0:
                most -= len(await self.piece())
        except (TooSlow, Gone):
            return

    async def send(self, messages: Iterable[Message]) -> None:
        """Send parts of the answer. Raises Gone if the client is gone, or takes nothing for ANSWER_SECONDS."""
        for message in messages:
            if self.gone:
                raise Gone
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._send(message)
            except TimeoutError:
                self.gone = True
                raise Gone from None


def from_thread(doing: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
    """The result of what the loop does for a thread of its own. Raises Gone if the loop has ended meanwhile."""
    try:
        done = asyncio.run_coroutine_threadsafe(doing, loop)
    except RuntimeError:
        doing.close()
        raise Gone from None
    # A loop that ends leaves what it was given last undone; without a look, the thread and its process would not end.
    while not wait([done], LOOK_SECONDS).done:
        if loop.is_closed():
            doing.close()
            raise Gone
    return done.result()
