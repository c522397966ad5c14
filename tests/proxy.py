"""A TCP proxy to a MySQL server. It drops connections on request, or at a statement: before that statement reaches the
server, or before its answer returns. It can also change bytes on their way to the server.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

# COM_QUERY and the beginning of the statement (MySQL internals, Client/Server Protocol).
COMMIT = b"\x03COMMIT"
RENAME = b"\x03RENAME TABLE"


@dataclass(frozen=True)
class Loss:
    """What gets lost: each of these `statements`, or the answer if the statement `arrives`; with `once`, the first."""

    statements: tuple[bytes, ...]
    arrives: bool
    once: bool = False


@dataclass
class Proxy:
    """A proxy that listens on `port`. `sent`: the bytes that it has passed on to the server.

    `edits`: pairs of bytes of equal length, of which the first are replaced by the second, one pair after the other.
    """

    server: tuple[str, int]
    listener: socket.socket
    loss: Loss | None = None
    edits: tuple[tuple[bytes, bytes], ...] = ()
    sent: int = 0
    _open: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def cut(self) -> None:
        """Drop all connections; new ones are possible."""
        with self._lock:
            dropped, self._open = self._open, []
        for line in dropped:
            _close(line)

    def serve(self) -> None:
        """Accept connections until the listener is closed."""
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                upstream = socket.create_connection(self.server)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open = [line for line in self._open if line.fileno() >= 0] + [client, upstream]
            cut = threading.Event()
            threading.Thread(target=self._to_server, args=(client, upstream, cut), daemon=True).start()
            threading.Thread(target=_to_client, args=(upstream, client, cut), daemon=True).start()

    def _to_server(self, client: socket.socket, upstream: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError):
            while data := _receive(client):
                if loss := self._lost_with(data):
                    cut.set()
                    if not loss.arrives:
                        break
                for original, changed in self.edits:
                    data = data.replace(original, changed)
                upstream.sendall(data)
                with self._lock:
                    self.sent += len(data)
        _close(upstream)
        _close(client)

    def _lost_with(self, data: bytes) -> Loss | None:
        with self._lock:
            loss = self.loss
            if not loss or not any(each in data for each in loss.statements):
                return None
            if loss.once:
                self.loss = None
            return loss


@contextmanager
def proxy(host: str, port: int, on: str = "127.0.0.1") -> Iterator[Proxy]:
    """A proxy to host:port on the address `on`, that lets everything through until it is set otherwise."""
    with socket.create_server((on, 0)) as listener:
        made = Proxy((host, port), listener)
        threading.Thread(target=made.serve, daemon=True).start()
        yield made
        # A thread that waits for a connection is not woken by close().
        listener.shutdown(socket.SHUT_RDWR)
        made.cut()


@contextmanager
def cutting_at_commit(host: str, port: int, *, arrives: bool) -> Iterator[int]:
    """The port of a proxy to host:port; a COMMIT gets through if it `arrives`, its answer never does."""
    with proxy(host, port) as made:
        made.loss = Loss((COMMIT,), arrives)
        yield made.port


def _to_client(upstream: socket.socket, client: socket.socket, cut: threading.Event) -> None:
    with suppress(OSError):
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
