"""What the distance to a server on another machine means for chunks: how many at once, and how large."""

import math

from importer.engine.load.network_probe import NetworkProbe
from importer.engine.planner.context import PlanningContext
from importer.engine.units import MIB

# What one session of a server takes, in bytes a second (server-behaviour.md, Speed); a remote server's own cores are
# not visible.
SESSION_RATE = 20 * 10**6
BUSY_SESSIONS = 4
# What a chunk waits for on its way, from its ledger row to the COMMIT (server-behaviour.md, Speed).
ROUND_TRIPS = 6
# From here on one connection seldom fills a line, since it may have only so many bytes on their way.
FAR = 5  # milliseconds
FEWEST, MOST = 2, 8
# Over a slow line a chunk takes about so long (seconds), so that the first rows are in early, but not less than so
# many times what it waits.
CHUNK_SECONDS = 2
TIMES_THE_WAIT = 20
SMALLEST, LARGEST = MIB, 32 * MIB


def sessions(distance: NetworkProbe | None) -> int:
    """How many sessions keep a remote server, or the line to it, busy."""
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
    """The most bytes of a chunk for a slow line, or a server far away; None where neither is known."""
    distance = context.distance
    if context.server.local or distance is None:
        return None
    line = distance.bytes_per_second or SESSION_RATE
    if line >= SESSION_RATE and distance.round_trip_ms < FAR:
        return None
    seconds = max(CHUNK_SECONDS, TIMES_THE_WAIT * ROUND_TRIPS * distance.round_trip_ms / 1000)
    return max(SMALLEST, min(LARGEST, int(min(SESSION_RATE, line / parallelism) * seconds)))


def smallest_chunk(context: PlanningContext) -> int:
    """The fewest bytes of a chunk beside which its waits do not show; 0 on this machine."""
    distance = context.distance
    if context.server.local or distance is None:
        return 0
    wait = ROUND_TRIPS * distance.round_trip_ms / 1000
    rate = min(SESSION_RATE, distance.bytes_per_second or SESSION_RATE)
    return min(LARGEST, int(TIMES_THE_WAIT * wait * rate))


def why(distance: NetworkProbe | None) -> str:
    """Why so many sessions."""
    if distance is None:
        return "a remote server keeps some sessions busy while others wait for the network"
    said = f"a round trip takes {distance.round_trip_ms:.3g} ms"
    if distance.bytes_per_second is None:
        return f"{said}: some sessions load while others wait for the network"
    rate = f"one session sends {distance.bytes_per_second / 1e6:.3g} MB/s"
    if _busy(distance) == 1:
        return f"{said} and {rate}, which fills the line: another only bridges the waits"
    return f"{said} and {rate}: some sessions load while others wait for the network"
