"""How far away a server is: the time of a round trip, and how many bytes a second one session gets to it."""

import statistics
import time
from dataclasses import dataclass

import MySQLdb

from importer.engine.errors import MethodRefused
from importer.engine.load import ledger
from importer.engine.load.methods import load_data_local
from importer.engine.mysql.connection import FEED_NAME, Address, LoaderConnection, connect_loader, execute
from importer.engine.mysql.quoting import quote_text
from importer.engine.units import MIB

PINGS = 9
LINE = b"x" * 1023 + b"\n"
BLOCK = LINE * 64
MIN_BYTES, MAX_BYTES = len(BLOCK), 8 * MIB
# Twice as much is sent until that takes so long (seconds); all of it together takes less than a second then.
ENOUGH_SECONDS = 0.25

# Reads every line and keeps none. The number must be theirs: the server goes on counting after the end of the data.
_SEND = f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} INTO TABLE {ledger.TABLE} IGNORE {{lines}} LINES (@ignored)"


@dataclass(frozen=True)
class NetworkProbe:
    """A median round trip in milliseconds; bytes a second that one session sends, None where it was not measured."""

    round_trip_ms: float
    bytes_per_second: float | None = None


def probe(address: Address) -> NetworkProbe:
    """Look how far away the server is; sends 64 KiB to some MiB that it throws away. Needs the ledger to be there.

    Raises TargetProblem if it cannot be reached.
    """
    with connect_loader(address) as connection:
        round_trip = statistics.median(_seconds_of_ping(connection) for _ in range(PINGS))
        try:
            rate = _upward(connection, round_trip)
        except (
            MySQLdb.Error,
            MethodRefused,
        ):  # LOAD DATA LOCAL is not for this account or server; other findings say so.
            rate = None
    return NetworkProbe(round(round_trip * 1000, 2), rate)


def _seconds_of_ping(connection: LoaderConnection) -> float:
    began = time.perf_counter()
    connection.ping()
    return time.perf_counter() - began


def _upward(connection: LoaderConnection, round_trip: float) -> float:
    """Bytes a second, from the largest piece that was sent; the statement's own round trip does not count."""
    size = MIN_BYTES
    while True:
        began = time.perf_counter()
        load_data_local.load(connection, _SEND.format(lines=size // len(LINE)), [BLOCK] * (size // len(BLOCK)))
        took = max(time.perf_counter() - began - round_trip, 1e-6)
        execute(connection, "ROLLBACK")
        if took >= ENOUGH_SECONDS or size >= MAX_BYTES:
            return round(size / took)
        size *= 2
