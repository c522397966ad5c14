"""Decides parallel chunks and chunk sizes for a server on another machine, from the measured network."""

import math

from importer.engine.load.network_probe import NetworkProbe
from importer.engine.planner.context import PlanningContext
from importer.engine.units import MIB, human_rate

# Bytes a second that one session loads (server-behaviour.md, Speed). The cores of a remote server are not visible.
SESSION_RATE = 20 * 10**6
BUSY_SESSIONS = 4
# Round trips that a chunk waits for, from its ledger row to its COMMIT (server-behaviour.md, Speed).
ROUND_TRIPS = 6
# From this round-trip time on, one connection seldom fills a line: TCP limits the bytes in flight.
FAR = 5  # milliseconds
FEWEST, MOST = 2, 8
# Over a slow line a chunk takes about CHUNK_SECONDS, so that the first rows arrive early, and at least TIMES_THE_WAIT
# times its waits.
CHUNK_SECONDS = 2
TIMES_THE_WAIT = 20
SMALLEST, LARGEST = MIB, 32 * MIB


def sessions(distance: NetworkProbe | None) -> int:
    """The number of sessions that keep a remote server, or the line to it, busy."""
    if distance is None:
        return BUSY_SESSIONS
    busy, wait = _busy(distance), ROUND_TRIPS * distance.round_trip_ms / 1000
    chunk = LARGEST / min(SESSION_RATE, distance.bytes_per_second or SESSION_RATE)
    return max(FEWEST, min(MOST, round(busy * (1 + wait / chunk))))


def _busy(distance: NetworkProbe) -> int:
    rate = distance.bytes_per_second
    if rate is None or distance.round_trip_ms >= FAR:
        return BUSY_SESSIONS
    return min(BUSY_SESSIONS, math.ceil(rate / SESSION_RATE))


def largest_chunk(context: PlanningContext, parallelism: int) -> int | None:
    """The most bytes of a chunk for a slow or long line; None for a fast line and for an unknown one."""
    distance = context.distance
    if context.server.local or distance is None:
        return None
    line = distance.bytes_per_second or SESSION_RATE
    if line >= SESSION_RATE and distance.round_trip_ms < FAR:
        return None
    seconds = max(CHUNK_SECONDS, TIMES_THE_WAIT * ROUND_TRIPS * distance.round_trip_ms / 1000)
    return max(SMALLEST, min(LARGEST, int(min(SESSION_RATE, line / parallelism) * seconds)))


def smallest_chunk(context: PlanningContext) -> int:
    """The fewest bytes of a chunk for which its waits do not matter; 0 for a server on this machine."""
    distance = context.distance
    if context.server.local or distance is None:
        return 0
    wait = ROUND_TRIPS * distance.round_trip_ms / 1000
    rate = min(SESSION_RATE, distance.bytes_per_second or SESSION_RATE)
    return min(LARGEST, int(TIMES_THE_WAIT * wait * rate))


def why(distance: NetworkProbe | None) -> str:
    """The reason for the number of sessions."""
    if distance is None:
        return "a remote server keeps some sessions busy while others wait for the network"
    latency = f"a round trip takes {distance.round_trip_ms:.3g} ms"
    if distance.bytes_per_second is None:
        return f"{latency}: some sessions load while others wait for the network"
    rate = f"one session sends {human_rate(distance.bytes_per_second)}"
    if _busy(distance) == 1:
        return f"{latency} and {rate}, which fills the line: another only bridges the waits"
    return f"{latency} and {rate}: some sessions load while others wait for the network"
