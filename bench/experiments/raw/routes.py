"""The two ways to reach a server on this machine: its Unix socket, and TCP."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from importer.engine.errors import TargetProblem
from importer.engine.mysql.addresses import is_socket
from importer.engine.mysql.connection import Address, connect, fetch_row
from importer.engine.mysql.server_info import is_loopback

LOOPBACK = "127.0.0.1"


def by_socket(address: Address) -> Address:
    """The server's Unix socket. Raises TargetProblem if it has none on this machine."""
    if is_socket(address.host):
        return address
    with connect(address) as connection:
        path = str(fetch_row(connection, "SELECT @@socket")[0])
    if not (is_loopback(address.host) and Path(path).is_socket()):
        raise TargetProblem(
            "The server has no Unix socket on this machine.", str(address), "Run the experiment on the server's host."
        )
    return replace(address, host=path, tls="off")


def by_tcp(address: Address) -> Address:
    """The server's port on this machine, or its own address if that is no socket."""
    if not is_socket(address.host):
        return address
    with connect(address) as connection:
        return replace(address, host=LOOPBACK, port=int(fetch_row(connection, "SELECT @@port")[0]))


@dataclass(frozen=True)
class Route:
    """A way to a server: in words, and the function that finds its address."""

    title: str
    address: Callable[[Address], Address]


ROUTES = {"socket": Route("its Unix socket", by_socket), "tcp": Route("TCP", by_tcp)}
