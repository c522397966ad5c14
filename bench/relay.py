"""Hands connections on to another address, and can be as far away and as narrow as a line is told to be.

    python -m bench.relay LISTEN_HOST LISTEN_PORT TO_HOST TO_PORT [--delay SECONDS] [--rate BYTES_PER_SECOND]

Prints `ready` once it listens, and runs until it is ended. All its connections share the line's rate, each way.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

BLOCK = 16 * 1024  # bytes
# So many blocks of a connection may be under way; then its sender has to wait, as at a router whose queue is full.
MOST_BLOCKS = 16


class Line:
    """One direction of a line: seconds of `delay`, and at most `rate` bytes a second (0: no limit)."""

    def __init__(self, delay: float, rate: float) -> None:
        self._delay, self._rate = delay, rate
        self._free_at = 0.0

    def arrives(self, size: int, now: float) -> float:
        """When bytes that are sent now arrive: behind all that were sent before."""
        self._free_at = max(now, self._free_at) + (size / self._rate if self._rate else 0)
        return self._free_at + self._delay


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: Line) -> None:
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


def relaying(host: str, port: int, there: Line, back: Line) -> Callable[..., Awaitable[None]]:
    """What is done with each connection that comes in."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(host, port)
        await asyncio.gather(carry(reader, to_writer, there), carry(to_reader, writer, back))
        for each in (writer, to_writer):
            each.close()

    return relay


async def serve(arguments: argparse.Namespace) -> None:
    there, back = (Line(arguments.delay, arguments.rate) for _ in range(2))
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
