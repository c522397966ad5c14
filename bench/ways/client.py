"""Tasks for the plain client, which runs in a process of its own (bench/client.py)."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from bench.ways.way import BEFORE, Clocked
from importer.engine.mysql.connection import Address


def run_statements(
    address: Address,
    steps: Sequence[Sequence[str]],
    sessions: int = 1,
    *,
    settings: dict[str, int] | None = None,
    last: Sequence[str] = (),
    keys: str = BEFORE,
) -> Clocked:
    """One step after the other, each one's statements over so many sessions; then the last ones with the settings."""
    arguments = {"steps": steps, "sessions": sessions, "settings": settings or {}, "last": last}
    return call("run", address, arguments, keys)


def call(name: str, address: Address, arguments: dict[str, Any], keys: str = BEFORE) -> Clocked:
    """What the call takes, from its first connection to its end; starting Python is not counted."""
    connect = {
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "passwd": address.password,
        "db": address.database,
    }
    task = json.dumps({"call": name, "address": connect, "arguments": arguments})
    done = subprocess.run(
        [sys.executable, "-m", "bench.client"], input=task, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"The plain client failed:\n{done.stderr[-2000:]}")
    took = json.loads(done.stdout)
    return Clocked(took["seconds"], took["first_row"], took["cpu"], {"client": took["peak_mb"]}, keys, took["parts"])
