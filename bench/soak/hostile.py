"""Servers that never come to an end: one that is silent, one that is slow, and one whose answer has no end."""

import asyncio
import struct
from collections.abc import Awaitable, Callable

SECONDS = 3  # between two bytes of the slow one
_OK = b"\x00\x00\x00\x02\x00\x00\x00"
_COLUMN = b"".join(bytes([len(each)]) + each for each in (b"def", b"d", b"t", b"t", b"c", b"c"))
_COLUMN += b"\x0c\x21\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def greeting() -> bytes:
    """The first packet of a server of MySQL (protocol version 10, mysql_native_password)."""
    flags = 0x000FF7DF  # what a server of 5.7 offers, without TLS and compression
    body = b"\x0a8.0.36\x00" + struct.pack("<I", 7) + b"12345678\x00" + struct.pack("<H", flags & 0xFFFF)
    body += b"\x21" + struct.pack("<H", 2) + struct.pack("<H", flags >> 16) + b"\x15" + bytes(10)
    return packet(0, body + b"123456789012\x00mysql_native_password\x00")


def packet(number: int, body: bytes) -> bytes:
    """A packet of the protocol."""
    return struct.pack("<I", len(body))[:3] + bytes([number % 256]) + body


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Send nothing until the client goes."""
    await reader.read()


async def slow(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send the greeting, a byte every few seconds."""
    for each in greeting():
        writer.write(bytes([each]))
        await writer.drain()
        await asyncio.sleep(SECONDS)


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Let the client in, and answer its first query with columns without end."""
    writer.write(greeting())
    await _read_packet(reader)
    writer.write(packet(2, _OK))
    await _read_packet(reader)
    writer.write(packet(1, b"\xfe" + struct.pack("<Q", 2**40)))
    number = 2
    while True:
        writer.write(b"".join(packet(number + each, _COLUMN) for each in range(1000)))
        number += 1000
        await writer.drain()


KINDS: tuple[Serve, ...] = (silent, slow, endless)


async def start(serve: Serve) -> int:
    """Start such a server on this machine; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The client has gone, or all ends.
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    return port


async def _read_packet(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(4)
    return await reader.readexactly(int.from_bytes(head[:3], "little"))
