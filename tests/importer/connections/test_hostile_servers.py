"""Whatever a web, FTP, SFTP or S3 server sends, a check and a list of its files end as a message."""

import random
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import pytest

from importer.connections import operations
from importer.connections.protocols import file_server, ftp, http, sftp
from importer.engine.errors import Problem
from importer.engine.units import MIB
from importer.models import SourceConnection
from importer.sources.store import s3_client
from tests.tcp_server import tcp_server

pytestmark = pytest.mark.django_db

SECRET = "canary-7f3a"
ENOUGH = 64 * MIB  # bytes after which an endless server ends
HEAD = b"HTTP/1.1 200 OK\r\n"
NOISE = random.Random(7).randbytes(4096)


def endless(block: bytes) -> Iterator[bytes]:
    for _ in range(ENOUGH // len(block)):
        yield block


# What a server sends, whatever it is asked; then it says nothing.
KINDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "silent": lambda: iter(()),
    "noise": lambda: iter([NOISE]),
    "a line without end": lambda: endless(b"2" * 65_536),
    "an endless greeting": lambda: iter([b"220-hello\r\n", *endless(b"220-hello\r\n" * 4096)]),
    "an endless banner": lambda: endless(b"SSH hello\r\n" * 4096),
    "a greeting with codes": lambda: iter([b"220 \x1b[2J\xff\xfe\0\r\n530 \x1b[2J\xff\xfe\r\n"]),
    "endless headers": lambda: iter([HEAD, *endless(b"X-A: b\r\n" * 4096)]),
    "a header without end": lambda: iter([HEAD, b"X-A: ", *endless(b"b" * 65_536)]),
    "a length of words": lambda: iter([HEAD + b"Content-Length: many\r\nETag: \xff\xfe\r\nDate: x\r\n\r\n"]),
    "a negative length": lambda: iter([HEAD + b"Content-Length: -5\r\n\r\nabc"]),
    "a very large length": lambda: iter([HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc"]),
    "chunks of words": lambda: iter([HEAD + b"Transfer-Encoding: chunked\r\n\r\nmany\r\nabc\r\n"]),
    "an endless body": lambda: iter([HEAD + b"Connection: close\r\n\r\n", *endless(b"<a>" * 20_000)]),
    "a redirect to nowhere": lambda: iter([b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n"]),
    "a redirect to itself": lambda: iter([b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"]),
    "a status of words": lambda: iter([b"HTTP/1.1 fine OK\r\n\r\n"]),
    "broken XML": lambda: iter([HEAD + b"Content-Length: 20\r\n\r\n<ListBucketResult><a"]),
    "XML of words": lambda: iter(
        [
            HEAD + b"Connection: close\r\nContent-Length: 139\r\n\r\n<ListBucketResult><IsTruncated>x</IsTruncated>"
            b"<Contents><Key>a</Key><Size>many</Size><LastModified>never</LastModified></Contents></ListBucketResult>"
        ]
    ),
}


@contextmanager
def serving(kind: str) -> Iterator[tuple[int, bytearray]]:
    """A server of the kind; its port, and what it has received."""
    received = bytearray()

    def attend(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(5)
            if not kind.startswith(("an endless greeting", "an endless banner", "a greeting")):
                received.extend(client.recv(65_536))
            for each in KINDS[kind]():
                client.sendall(each)
            while part := client.recv(65_536):
                received.extend(part)

    with tcp_server(attend) as port:
        yield port, received


def connection_to(kind: str, port: int) -> SourceConnection:
    place = f"127.0.0.1:{port}"
    base = {"http": f"http://{place}/", "ftp": f"ftp://{place}/", "sftp": f"sftp://{place}/", "s3": "s3://files/"}[kind]
    made = SourceConnection(name=kind, kind=kind, base=base, private_allowed=True)
    made.settings = {"user": "me", "auth": "", "host_key": "x"}
    secret = "password"
    if kind == "s3":
        made.settings = {"endpoint": f"http://{place}", "region": "us-east-1", "access_key": "key"}
        secret = "secret_key"
    made.set_secrets({secret: SECRET})
    made.save()
    return made


@pytest.mark.one_of("protocol")
@pytest.mark.parametrize("protocol", ["http", "ftp", "sftp", "s3"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_as_a_message(protocol: str, kind: str, monkeypatch):
    for module in (file_server, ftp, http, sftp):
        monkeypatch.setattr(module, "SILENCE", 0.5)
    config, quick = s3_client.Config, {"read_timeout": 0.5, "retries": {"max_attempts": 1}}
    monkeypatch.setattr(s3_client, "Config", lambda **options: config(**{**options, **quick}))
    with serving(kind) as (port, received):
        made = connection_to(protocol, port)
        operations.check(made)
        with suppress(Problem):
            operations.find(made, "a.csv", datetime.now(UTC), UTC)
        with suppress(Problem):
            operations.folders(made, "")
    if protocol != "ftp":
        assert SECRET.encode() not in received
