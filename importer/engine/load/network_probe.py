"""Measures the network to a server: the time of a round trip, and the bytes per second that one session sends."""

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
# The amount is doubled until sending takes this long (seconds); all steps together take less than a second.
ENOUGH_SECONDS = 0.25

# Reads every line and stores none. IGNORE must have the exact number: the server counts on after the end of the data.
_SEND = f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} INTO TABLE {ledger.TABLE} IGNORE {{lines}} LINES (@ignored)"


@dataclass(frozen=True)
class NetworkProbe:
    """The median round trip in milliseconds, and the bytes per second that one session sends; None: not measured."""

    round_trip_ms: float
    bytes_per_second: float | None = None


def probe(address: Address) -> NetworkProbe:
    """Measure the network to the server. Sends 64 KiB to some MiB, which the server discards. Needs the ledger table.

    Raises TargetProblem if the server cannot be reached.
    """
    with connect_loader(address) as connection:
        round_trip = statistics.median(_seconds_of_ping(connection) for _ in range(PINGS))
        try:
            rate = _upload_rate(connection, round_trip)
        except (MySQLdb.Error, MethodRefused):  # The server refuses LOAD DATA LOCAL; other findings report that.
            rate = None
    return NetworkProbe(round(round_trip * 1000, 2), rate)


def _seconds_of_ping(connection: LoaderConnection) -> float:
    began = time.perf_counter()
    connection.ping()
    return time.perf_counter() - began


def _upload_rate(connection: LoaderConnection, round_trip: float) -> float:
    """Bytes per second of the largest amount sent, without the statement's own round trip."""
    size = MIN_BYTES
    while True:
        began = time.perf_counter()
        load_data_local.load(connection, _SEND.format(lines=size // len(LINE)), [BLOCK] * (size // len(BLOCK)))
        took = max(time.perf_counter() - began - round_trip, 1e-6)
        execute(connection, "ROLLBACK")
        if took >= ENOUGH_SECONDS or size >= MAX_BYTES:
            return round(size / took)
        size *= 2
