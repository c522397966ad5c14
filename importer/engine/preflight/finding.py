"""The result of one preflight check in words, with its fix."""

from dataclasses import dataclass
from typing import Any

from importer.engine.load.network_probe import NetworkProbe
from importer.engine.mysql.connection import Address, Connection
from importer.engine.mysql.server_info import Server


@dataclass(frozen=True)
class Finding:
    """The result of one check. `status` is "ok", "warn" or "fail"; `fix` is SQL to run or a setting to write, or "".

    `distance` is the measured network, for the planner; only the step `network` has it.
    """

    name: str
    status: str
    message: str
    fix: str = ""
    distance: NetworkProbe | None = None

    def as_json(self) -> dict[str, Any]:
        """The fields that are shown: name, status, message and fix."""
        return {each: getattr(self, each) for each in ("name", "status", "message", "fix")}


@dataclass(frozen=True)
class Subject:
    """The input of each step: an open connection, its address, and the server's properties."""

    connection: Connection
    address: Address
    server: Server
