"""A slow link: relays connections to another address, with a given delay and bandwidth.

    python -m bench.relay LISTEN_HOST LISTEN_PORT TO_HOST TO_PORT [--delay SECONDS] [--rate BYTES_PER_SECOND]

Prints `ready` once it listens, and runs until it is ended. All connections share the rate, separately each way.
"""

import argparse
import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Queue
from statistics import median

from importer.engine.mysql.connection import Address

LISTEN = "127.0.0.1"
SHORTEST_WAIT = 0.002  # seconds that the event loop can wait with some precision
# A measurement of a link: the most seconds and round trips of single bytes, and the bytes of the bulk.
PING_SECONDS, PINGS, BULK = 0.5, 200, 16 * 1024 * 1024
CLOSE_TIMEOUT = 5  # seconds that a connection may take to close
BLOCK = 16 * 1024  # bytes
# Most blocks of a connection under way. Then the sender has to wait, as with a router whose queue is full.
MOST_BLOCKS = 16


@dataclass(frozen=True)
class Link:
    """A simulated network: the seconds it adds to a round trip, and its bytes per second each way (0: no limit)."""

    round_trip: float
    rate: float = 0


class SlowLink:
    """One direction of a link: seconds of `delay`, and at most `rate` bytes per second (0: no limit)."""

    def __init__(self, delay: float, rate: float) -> None:
        self._delay, self._rate = delay, rate
        self._free_at = 0.0

    def arrives(self, size: int, now: float) -> float:
        """The time when `size` bytes sent at `now` arrive: after all bytes sent before."""
        self._free_at = max(now, self._free_at) + (size / self._rate if self._rate else 0)
        return self._free_at + self._delay


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, link: SlowLink) -> None:
    """Carry bytes over the link until the end of the stream, and forward that end; the other direction stays open."""
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MOST_BLOCKS)
    clock = asyncio.get_running_loop().time

    async def deliver() -> None:
        while (arrival := await under_way.get())[1]:
            await _until(arrival[0], clock)
            # The receiver is gone: the remaining bytes are lost.
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
            await under_way.put((link.arrives(len(data), clock()), data))


async def _until(moment: float, clock: Callable[[], float]) -> None:
    """Wait until the clock has reached the moment.

    The event loop waits whole milliseconds. A shorter time is slept away, so that no connection is served meanwhile.
    """
    wait = moment - clock()
    if wait >= SHORTEST_WAIT:
        await asyncio.sleep(wait)
    elif wait > 0:
        time.sleep(wait)


def relaying(host: str, port: int, there: SlowLink, back: SlowLink) -> Callable[..., Awaitable[None]]:
    """A handler for asyncio.start_server that relays each connection to host and port."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(host, port)
        await asyncio.gather(carry(reader, to_writer, there), carry(to_reader, writer, back))
        for each in (writer, to_writer):
            each.close()

    return relay


def prepare(link: Link) -> tuple[Link, Link]:
    """The link to simulate, so that a relay comes as near to `link` as it can, and what that one does as measured.

    A relay has a delay of its own, which is left out of what it adds.
    """
    own = measure(replace(link, round_trip=0)).round_trip
    simulated = replace(link, round_trip=max(0, link.round_trip - own))
    return simulated, measure(simulated)


def measure(link: Link) -> Link:
    """What a relay makes of the link: the median round trip of a byte, and the bytes per second one way of a bulk."""
    with ExitStack() as stack:
        relayed = stack.enter_context(linked(stack.enter_context(_counting()), link))
        client = stack.enter_context(socket.create_connection((relayed.host, relayed.port)))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips: list[float] = []
        until = time.perf_counter() + PING_SECONDS
        while len(trips) < PINGS and time.perf_counter() < until:
            trips.append(_sent(client, b"."))
        round_trip = median(trips)
        seconds = _sent(client, bytes(BULK - 1) + b".")
    return Link(round_trip, BULK / max(seconds - round_trip, 1e-9))


def _sent(client: socket.socket, data: bytes) -> float:
    """Seconds until the answer to the data, which ends with a dot, has come."""
    begun = time.perf_counter()
    client.sendall(data)
    client.recv(1)
    return time.perf_counter() - begun


@contextmanager
def _counting() -> Iterator[Address]:
    """A server that answers one connection with a dot after each dot that ends what it has read; yields its address."""

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(64 * 1024):
                if data.endswith(b"."):
                    connection.sendall(b".")

    with socket.create_server((LISTEN, 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield Address(LISTEN, listener.getsockname()[1], "", "", "")
        thread.join(CLOSE_TIMEOUT)


@contextmanager
def linked(address: Address, link: Link) -> Iterator[Address]:
    """Run a relay to the server in a thread until the `with` block ends; yields the relay's address.

    The server's certificate does not match the relay's name: connecting with TLS "verify" fails.
    """
    started: Queue[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Queue()

    async def until_done() -> None:
        there, back = (SlowLink(link.round_trip / 2, link.rate) for _ in range(2))
        relay_connection = relaying(address.host, address.port, there, back)
        running: set[asyncio.Task[None]] = set()

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if task := asyncio.current_task():
                running.add(task)
            await relay_connection(reader, writer)

        server = await asyncio.start_server(relay, LISTEN, 0, limit=BLOCK)
        done = asyncio.Event()
        started.put((asyncio.get_running_loop(), done, server.sockets[0].getsockname()[1]))
        await done.wait()
        server.close()
        # Bytes that were under way when the client closed still arrive.
        if running:
            await asyncio.wait(running, timeout=CLOSE_TIMEOUT)

    thread = threading.Thread(target=asyncio.run, args=(until_done(),), name=f"relay to {address.host}", daemon=True)
    thread.start()
    loop, done, port = started.get()
    try:
        yield replace(address, host=LISTEN, port=port)
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()


async def serve(arguments: argparse.Namespace) -> None:
    there, back = (SlowLink(arguments.delay, arguments.rate) for _ in range(2))
    relay = relaying(arguments.to_host, arguments.to_port, there, back)
    server = await asyncio.start_server(relay, arguments.host, arguments.port, limit=BLOCK)
    print("ready", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("to_host")
    parser.add_argument("to_port", type=int)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--rate", type=float, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
