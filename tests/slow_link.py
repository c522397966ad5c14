"""A TCP link to a server with a delay each way and a limit of bytes a second, for tests that depend on the network."""

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def slow_line(host: str, port: int, *, delay: float, bytes_per_second: float) -> Iterator[int]:
    """The port of a link to host:port that delays each byte by `delay` seconds and limits the rate."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, (host, port), delay, bytes_per_second), daemon=True).start()
        yield listener.getsockname()[1]


def _serve(listener: socket.socket, server: tuple[str, int], delay: float, rate: float) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            upstream = socket.create_connection(server)
            for source, sink in ((client, upstream), (upstream, client)):
                # A few pieces are in flight at once; a sender of more waits, as with a full TCP window.
                way: queue.Queue = queue.Queue(maxsize=16)
                threading.Thread(target=_receive, args=(source, way, delay, rate), daemon=True).start()
                threading.Thread(target=_deliver, args=(way, sink), daemon=True).start()


def _receive(source: socket.socket, way: queue.Queue, delay: float, rate: float) -> None:
    free_at = time.monotonic()
    data = b"."
    while data:
        try:
            data = source.recv(16384)
        except OSError:
            data = b""
        free_at = max(free_at, time.monotonic()) + len(data) / rate
        way.put((free_at + delay, data))


def _deliver(way: queue.Queue, sink: socket.socket) -> None:
    with suppress(OSError):
        while True:
            due, data = way.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                break
            sink.sendall(data)
        sink.shutdown(socket.SHUT_RDWR)
