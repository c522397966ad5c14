"""A way to a server on loopback on which the first bytes come at once, and all others one by one."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.tcp_server import tcp_server

PAUSE = 0.02  # seconds between two bytes, which no time-out of a read notices


@contextmanager
def slow_after(port: int, quick: int) -> Iterator[int]:
    """The port of the way to the server at `port`, on which so many bytes of each connection come at once."""

    def attend(client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", port)) as server:
            threading.Thread(target=forward, args=(client, server), daemon=True).start()
            left = quick
            while data := server.recv(65_536):
                client.sendall(data[:left])
                for each in data[left:]:
                    client.sendall(bytes([each]))
                    time.sleep(PAUSE)
                left -= min(left, len(data))

    def forward(client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    with tcp_server(attend) as found:
        yield found
