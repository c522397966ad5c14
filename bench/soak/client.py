"""A client of the web server that sends a body at a given pace, and keeps the beginning of the answer only."""

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """A request. `seconds`: the time over which its body is sent."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0


@dataclass(frozen=True)
class Answer:
    """The status of an answer, its headers, and the bytes of its body."""

    status: int
    headers: dict[str, str]
    body: bytes


async def send(port: int, request: Request, until: float) -> Answer | None:
    """Send the request on a connection of its own. None if the answer is not whole at `until` (the loop's time)."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer, sending = asyncio.create_task(_read(reader)), asyncio.create_task(_write(writer, request))
    try:
        # A refusal may come before the whole body is sent.
        async with asyncio.timeout_at(until):
            return await answer
    except TimeoutError:
        return None
    finally:
        for each in (answer, sending):
            each.cancel()
        await asyncio.gather(answer, sending, return_exceptions=True)
        writer.close()


async def _write(writer: asyncio.StreamWriter, request: Request) -> None:
    headers = {"Host": "127.0.0.1", "Connection": "close", **request.headers}
    if request.body or request.method != "GET":
        headers["Content-Length"] = str(len(request.body))
    lines = [f"{request.method} {request.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    pieces = max(1, int(request.seconds))
    size = -(-len(request.body) // pieces)
    for number in range(pieces):
        writer.write(request.body[number * size : (number + 1) * size])
        await writer.drain()
        await asyncio.sleep(request.seconds / pieces)


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    first = await reader.read(4096)
    while await reader.read(2**16):
        pass
    return Answer(int(head[0].split()[1]), headers, first)
