"""Runs tasks in the plain client, which is a process of its own (bench/client.py)."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from bench.ways.way import BEFORE, LoadTiming
from importer.engine.mysql.connection import Address


def run_statements(
    address: Address,
    steps: Sequence[Sequence[str]],
    sessions: int = 1,
    *,
    settings: dict[str, int] | None = None,
    last: Sequence[str] = (),
    keys: str = BEFORE,
) -> LoadTiming:
    """Run the steps, the statements of each over `sessions`; then the `last` statements with the settings."""
    arguments = {"steps": steps, "sessions": sessions, "settings": settings or {}, "last": last}
    return call("run", address, arguments, keys)


def arguments_of(address: Address) -> dict[str, Any]:
    """The arguments of MySQLdb.connect() for an address."""
    return {
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "passwd": address.password,
        "db": address.database,
    }


def call(name: str, address: Address, arguments: dict[str, Any], keys: str = BEFORE) -> LoadTiming:
    """Run a call and return its cost, from its first connection to its end; starting Python does not count."""
    task = json.dumps({"call": name, "address": arguments_of(address), "arguments": arguments})
    done = subprocess.run(
        [sys.executable, "-m", "bench.client"], input=task, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"The plain client failed:\n{done.stderr[-2000:]}")
    took = json.loads(done.stdout)
    return LoadTiming(took["seconds"], took["first_row"], took["cpu"], {"client": took["peak_mb"]}, keys, took["parts"])
