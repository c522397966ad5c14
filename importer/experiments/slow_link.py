"""Hands connections on to another address, and can be as far away and as narrow as a line is told to be."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Queue

from importer.engine.mysql.connection import Address

LISTEN = "127.0.0.1"
LAST_WORDS = 5  # seconds that a connection may take to close
BLOCK = 16 * 1024  # bytes
# So many blocks of a connection may be under way; then its sender has to wait, as at a router whose queue is full.
MOST_BLOCKS = 16


class SlowLink:
    """One direction of a line: seconds of `delay`, and at most `rate` bytes a second (0: no limit)."""

    def __init__(self, delay: float, rate: float) -> None:
        self._delay, self._rate = delay, rate
        self._free_at = 0.0

    def arrives(self, size: int, now: float) -> float:
        """When bytes that are sent now arrive: behind all that were sent before."""
        self._free_at = max(now, self._free_at) + (size / self._rate if self._rate else 0)
        return self._free_at + self._delay


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: SlowLink) -> None:
    """Carry bytes over the line until their end, and that too; the other direction stays open."""
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MOST_BLOCKS)
    clock = asyncio.get_running_loop().time

    async def deliver() -> None:
        while (arrival := await under_way.get())[1]:
            await asyncio.sleep(max(0, arrival[0] - clock()))
            # Nobody there any more: what still comes is lost, as on any line.
            with suppress(ConnectionError):
                writer.write(arrival[1])
                await writer.drain()
        with suppress(OSError):
            writer.write_eof()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(deliver())
        data = b"begin"
        while data:
            try:
                data = await reader.read(BLOCK)
            except ConnectionError:
                data = b""
            await under_way.put((line.arrives(len(data), clock()), data))


def relaying(host: str, port: int, there: SlowLink, back: SlowLink) -> Callable[..., Awaitable[None]]:
    """What is done with each connection that comes in."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(host, port)
        await asyncio.gather(carry(reader, to_writer, there), carry(to_reader, writer, back))
        for each in (writer, to_writer):
            each.close()

    return relay


@contextmanager
def delayed(address: Address, seconds: float) -> Iterator[Address]:
    """The address of a relay to the server, `seconds` there and back away, in a thread of ours until the `with` ends.

    A certificate for the server's name is none for the relay's: with TLS "verify" connecting fails.
    """
    told: Queue[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Queue()

    async def until_done() -> None:
        hand_on = relaying(address.host, address.port, SlowLink(seconds / 2, 0), SlowLink(seconds / 2, 0))
        running: set[asyncio.Task[None]] = set()

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if task := asyncio.current_task():
                running.add(task)
            await hand_on(reader, writer)

        server = await asyncio.start_server(relay, LISTEN, 0, limit=BLOCK)
        done = asyncio.Event()
        told.put((asyncio.get_running_loop(), done, server.sockets[0].getsockname()[1]))
        await done.wait()
        server.close()
        # What was on its way when the client closed arrives yet.
        if running:
            await asyncio.wait(running, timeout=LAST_WORDS)

    thread = threading.Thread(target=asyncio.run, args=(until_done(),), name=f"relay to {address.host}", daemon=True)
    thread.start()
    loop, done, port = told.get()
    try:
        yield replace(address, host=LISTEN, port=port)
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
