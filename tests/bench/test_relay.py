"""Tests the relay of the slow link: the time when bytes arrive, and that they arrive unchanged."""

import asyncio
import hashlib

import pytest

from bench.relay import BLOCK, MOST_BLOCKS, Link, SlowLink, measure, prepare, relaying
from bench.slow_link import _without_servers


def test_bytes_arrive_after_earlier_ones_at_the_rate_of_the_link():
    line = SlowLink(delay=0.005, rate=1000)
    assert line.arrives(100, now=1.0) == pytest.approx(1.105)
    assert line.arrives(100, now=1.0) == pytest.approx(1.205)
    assert line.arrives(100, now=9.0) == pytest.approx(9.105)
    assert SlowLink(delay=0, rate=0).arrives(10**9, now=1.0) == 1.0


def test_the_relay_passes_all_bytes_unchanged_both_ways():
    # More than the relay holds in flight.
    sent = [bytes([number]) * (BLOCK * MOST_BLOCKS * 3 + number) for number in range(3)]

    async def answer(reader, writer):
        received = await reader.read(-1)
        writer.write(hashlib.sha256(received).digest() + received)
        await writer.drain()
        writer.close()

    async def request(port: int, data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        writer.write_eof()
        return await reader.read(-1)

    async def all_at_once() -> list[bytes]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        there, back = SlowLink(0.001, 1e9), SlowLink(0.001, 1e9)
        relay = relaying("127.0.0.1", server.sockets[0].getsockname()[1], there, back)
        between = await asyncio.start_server(relay, "127.0.0.1", 0)
        port = between.sockets[0].getsockname()[1]
        async with server, between:
            return await asyncio.gather(*(request(port, data) for data in sent))

    assert asyncio.run(all_at_once()) == [hashlib.sha256(data).digest() + data for data in sent]


def test_the_command_behind_the_link_drops_the_servers_of_the_outer_one():
    words = ["--rows=5", "--server", "a=mysql://root@h:1/", "--rounds", "2", "--server=mysql://root@h:2/"]
    assert _without_servers(words) == ["--rows=5", "--rounds", "2"]


def test_a_link_is_measured_with_what_it_adds_and_the_rate_that_it_leaves():
    measured = measure(Link(0.03, 40e6))
    assert measured.round_trip >= 0.03
    assert 0 < measured.rate <= 40e6


def test_the_delay_of_the_relay_itself_is_part_of_that_of_the_link():
    simulated, measured = prepare(Link(0.03))
    assert 0 < simulated.round_trip < 0.03
    assert measured.round_trip >= simulated.round_trip
    assert prepare(Link(0.0))[0] == Link(0.0)
