"""What a check found out about one thing, in words that say what to do about it."""

from dataclasses import dataclass
from typing import Any

from importer.engine.load.network_probe import NetworkProbe
from importer.engine.mysql.connection import Address, Connection
from importer.engine.mysql.server_info import Server


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `status` is "ok", "warn" or "fail"; `fix` is what to run or write, or "".

    `distance` is what the planner goes by later, from the step that measures it.
    """

    name: str
    status: str
    message: str
    fix: str = ""
    distance: NetworkProbe | None = None

    def as_json(self) -> dict[str, Any]:
        """What is shown."""
        return {each: getattr(self, each) for each in ("name", "status", "message", "fix")}


@dataclass(frozen=True)
class Subject:
    """What the steps of a check look at."""

    connection: Connection
    address: Address
    server: Server
