"""A TCP proxy that drops the connection at COMMIT: before it reaches the MySQL server, or before the answer returns."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

COMMIT = b"\x03COMMIT"  # COM_QUERY and the statement (MySQL internals, Client/Server Protocol)


@contextmanager
def cutting_at_commit(host: str, port: int, *, arrives: bool) -> Iterator[int]:
    """The port of a proxy to host:port; a COMMIT gets through if it `arrives`, its answer never does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, (host, port), arrives), daemon=True).start()
        yield listener.getsockname()[1]


def _serve(listener: socket.socket, server: tuple[str, int], arrives: bool) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        upstream = socket.create_connection(server)
        cut = threading.Event()
        threading.Thread(target=_to_server, args=(client, upstream, arrives, cut), daemon=True).start()
        threading.Thread(target=_to_client, args=(upstream, client, cut), daemon=True).start()


def _to_server(client: socket.socket, upstream: socket.socket, arrives: bool, cut: threading.Event) -> None:
    while data := _receive(client):
        if COMMIT in data:
            cut.set()
            if arrives:
                upstream.sendall(data)
                continue
            break
        upstream.sendall(data)
    _close(upstream)
    _close(client)


def _to_client(upstream: socket.socket, client: socket.socket, cut: threading.Event) -> None:
    while (data := _receive(upstream)) and not cut.is_set():
        client.sendall(data)
    _close(client)
    _close(upstream)


def _receive(line: socket.socket) -> bytes:
    try:
        return line.recv(65536)
    except OSError:
        return b""


def _close(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
