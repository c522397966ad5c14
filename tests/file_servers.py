"""Real file servers on loopback for the tests of connections: HTTP, S3, SFTP and FTP."""

import asyncio
import hashlib
import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import asyncssh
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer

from importer.management.processes.private_servers import free_port

MODIFIED = "Sat, 21 Nov 2026 10:00:00 GMT"


class WebFiles(ThreadingHTTPServer):
    """Serves `files` by path, with ETags. `redirects` lead elsewhere, `sent` records each request.

    `password`: what /closed/ wants as a header. Files below /broken/ end too early, below /chunked/ and /endless/ come
    without a length, those below /silent/ never.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _WebRequest)
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.sent: list[tuple[str, str, dict[str, str]]] = []
        self.refused = ""
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _WebRequest(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WebFiles

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.sent.append((self.command, self.path, dict(self.headers)))
        data = self.server.files.get(self.path)
        etag = f'"{hashlib.md5(data).hexdigest()}"' if data else ""
        self.close_connection = True
        if self.path in self.server.redirects:
            self._answer(302, {"Location": self.server.redirects[self.path], "Content-Length": "0"})
        elif self.path.startswith("/silent/"):
            self.server.over.wait(30)
        elif data is None:
            self._answer(404, {"Content-Length": "0"})
        elif self.command == self.server.refused:
            self._answer(405, {"Content-Length": "0"})
        elif self.headers["If-None-Match"] == etag:
            self._answer(304, {})
        elif self.path.startswith("/endless/"):
            self._answer(200, {"ETag": etag}, data)
        elif self.path.startswith("/chunked/"):
            pieces = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (data[:7], data[7:]) if each)
            self._answer(200, {"ETag": etag, "Transfer-Encoding": "chunked"}, pieces + b"0\r\n\r\n")
        elif self.path.startswith("/broken/"):
            self._answer(200, {"ETag": etag, "Content-Length": str(len(data) + 1)}, data)
        else:
            self._answer(200, {"ETag": etag, "Content-Length": str(len(data)), "Last-Modified": MODIFIED}, data)

    def _answer(self, status: int, headers: dict[str, str], data: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def certificate_of_localhost(folder: Path, *addresses: str) -> Path:
    """A self-signed certificate for localhost and the IP addresses, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]), datetime.now(UTC)
    names = [x509.DNSName("localhost"), *(x509.IPAddress(ip_address(each)) for each in addresses)]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "localhost.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + made.public_bytes(Encoding.PEM))
    return path


@contextmanager
def web_files(certificate: Path | None = None) -> Iterator[WebFiles]:
    """With a certificate, and its key, over HTTPS."""
    with WebFiles() as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


class S3Files:
    """A SeaweedFS with S3 on it, one process that listens on one address; `client` is an admin's."""

    key, secret = "key", "secret-of-the-key"

    def __init__(self, folder: Path, address: str = "127.0.0.1") -> None:
        self._folder = folder
        ports = [free_port() for _ in range(8)]
        self.url = f"http://{address}:{ports[0]}"
        rights = {
            "name": "all",
            "actions": ["Admin"],
            "credentials": [{"accessKey": self.key, "secretKey": self.secret}],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [rights]}))
        names = (
            "s3",
            "s3.port.grpc",
            "master",
            "master.port.grpc",
            "volume",
            "volume.port.grpc",
            "filer",
            "filer.port.grpc",
        )
        flags = [f"-{name if '.' in name else f'{name}.port'}={port}" for name, port in zip(names, ports, strict=True)]
        flags += [
            "-s3",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            f"-s3.config={folder / 's3.json'}",
            f"-dir={folder}",
            f"-ip={address}",
        ]
        flags += [f"-ip.bind={address}", "-volume.max=5", "-master.volumeSizeLimitMB=64", "-master.telemetry=false"]
        self._command = [str(Path(sys.executable).with_name("weed")), "server", *flags]
        self.start()
        try:
            self.client = self._connect()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Start it, also after stop(): with the objects that it had."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log)

    def _connect(self) -> Any:
        client = botocore.session.get_session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=self.url,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            config=Config(retries={"max_attempts": 1}, request_checksum_calculation="when_required"),
        )
        until = time.monotonic() + 60
        while True:
            try:
                client.create_bucket(Bucket="files")
                client.put_object(Bucket="files", Key="ready", Body=b"yes")
                return client
            except (BotoCoreError, ClientError) as error:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self._folder / "log").read_text()[-2000:]) from error
                if "BucketAlready" in str(error):
                    client.delete_bucket(Bucket="files")
                time.sleep(0.1)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def s3_files(folder: Path, address: str = "127.0.0.1") -> Iterator[S3Files]:
    server = S3Files(folder, address)
    try:
        yield server
    finally:
        server.stop()


class _SshAccount(asyncssh.SSHServer):
    """Accepts the user "me" with the password "secret", or with a key in `keys`."""

    def __init__(self, keys: list[asyncssh.SSHKey]) -> None:
        self.keys = keys

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("me", "secret")

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == "me" and key in self.keys


@dataclass(frozen=True)
class SftpFiles:
    """An SFTP server for `root` at `url`.

    `host_key` is the fingerprint of its key `public_key`; `private_key` signs in.
    """

    url: str
    root: Path
    host_key: str
    private_key: str
    public_key: str


@contextmanager
def sftp_files(root: Path) -> Iterator[SftpFiles]:
    host_key, key = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    keys = [key.convert_to_public()]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: _SshAccount(keys),
            server_host_keys=[host_key],
            # Both factories belong to this server: several servers run at the same time in one test process.
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(root)),
        )

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(30)
    yield SftpFiles(
        f"sftp://127.0.0.1:{server.get_port()}",
        root,
        host_key.get_fingerprint("sha256"),
        key.export_private_key("openssh").decode(),
        host_key.export_public_key().decode().strip(),
    )
    loop.call_soon_threadsafe(server.close)
    asyncio.run_coroutine_threadsafe(server.wait_closed(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@dataclass(frozen=True)
class FtpFiles:
    """An FTP server for `root`, where "me" has the password "secret".

    `url` is its address; `commands` are those that it knows, by name.
    """

    url: str
    root: Path
    commands: dict[str, Any]


@contextmanager
def ftp_files(root: Path, certificate: Path | None = None) -> Iterator[FtpFiles]:
    """With a certificate, and its key, over TLS only."""
    accounts = DummyAuthorizer()
    accounts.add_user("me", "secret", str(root), perm="elradfmwMT")
    values: dict[str, Any] = {"authorizer": accounts, "proto_cmds": dict(FTPHandler.proto_cmds), "use_sendfile": False}
    if certificate:
        values["proto_cmds"] = dict(TLS_FTPHandler.proto_cmds)
        values |= {"certfile": str(certificate), "tls_control_required": True, "tls_data_required": True}
    handler = type("Handler", (TLS_FTPHandler if certificate else FTPHandler,), values)
    loop = IOLoop()
    server = FTPServer(("127.0.0.1", 0), handler, ioloop=loop)
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            loop.loop(timeout=0.01, blocking=False)

    thread = threading.Thread(target=serve)
    thread.start()
    host, scheme = ("localhost", "ftps") if certificate else ("127.0.0.1", "ftp")
    yield FtpFiles(f"{scheme}://{host}:{server.address[1]}", root, values["proto_cmds"])
    over.set()
    thread.join()
    server.close_all()
