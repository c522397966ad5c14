"""Checks the network to the server, with a few round trips and some megabytes that the server discards."""

from importer.engine.load import ledger
from importer.engine.load.network_probe import NetworkProbe, probe
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.units import MIB, human_rate

# Bytes per second. On a fast network a session loads some 20 MB/s (server-behaviour.md, Speed), so a slower network
# determines the duration of a load.
SLOW_LINE = 20 * 10**6
FAR = 50  # milliseconds


def network(subject: Subject) -> Finding:
    """Whether the network determines the duration of loads. Not measured if the server is on this machine."""
    if subject.server.local:
        return Finding("network", "ok", "The server is on this machine: there is no network in between.")
    if not ledger.exists(subject.connection):
        return Finding("network", "ok", f"Not measured, because there is no table {ledger.TABLE}.")
    distance = probe(subject.address)
    return Finding("network", *_judged(distance), distance=distance)


def _judged(distance: NetworkProbe) -> tuple[str, str, str]:
    """Status, message and fix."""
    trip = f"A round trip to the server takes {distance.round_trip_ms:.3g} ms"
    rate = distance.bytes_per_second
    if rate is None:
        return "ok", f"{trip}; the bytes per second could not be measured.", ""
    message = f"{trip}, and one session sends {human_rate(rate)}: 1 GiB takes at least {_time(1024 * MIB / rate)}."
    if rate < SLOW_LINE or distance.round_trip_ms > FAR:
        advice = "The network determines the duration of loads. Run Millrace on a machine nearer to the server."
        return "warn", message, advice
    return "ok", message, ""


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
