"""The result of one preflight check in words, with its fix."""

from dataclasses import dataclass
from typing import Any

from importer.engine.load.network_probe import NetworkProbe
from importer.engine.mysql.connection import Address, Connection
from importer.engine.mysql.server_info import Server


@dataclass(frozen=True)
class Finding:
    """The result of one check. `status` is "ok", "warn" or "fail"; `fix` is SQL to run or a setting to write, or "".

    `tls_to_offer`: the target's TLS setting, "off", "encrypt" or "verify", with which the connection would work; or "".
    `distance` is the measured network, for the planner; only the step `network` has it.
    """

    name: str
    status: str
    message: str
    fix: str = ""
    tls_to_offer: str = ""
    distance: NetworkProbe | None = None

    def as_json(self) -> dict[str, Any]:
        """The fields that are shown: name, status, message and fix; and the TLS setting to offer, if there is one."""
        shown = {each: getattr(self, each) for each in ("name", "status", "message", "fix")}
        return shown | ({"tls_to_offer": self.tls_to_offer} if self.tls_to_offer else {})


@dataclass(frozen=True)
class Subject:
    """The input of each step: an open connection, its address, and the server's properties."""

    connection: Connection
    address: Address
    server: Server
