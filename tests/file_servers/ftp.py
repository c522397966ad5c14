"""An FTP server on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, ThrottledDTPHandler, TLS_FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer


@dataclass(frozen=True)
class FtpFiles:
    """An FTP server for `root`, where "me" has the password "secret".

    `url` is its address; `commands` are those that it knows, by name. send_slowly() lets files go out at 64 bytes a
    second.
    """

    url: str
    root: Path
    commands: dict[str, Any]
    handler: Any

    def send_slowly(self) -> None:
        self.handler.dtp_handler = type("Slow", (ThrottledDTPHandler,), {"write_limit": 64})


@contextmanager
def ftp_files(root: Path, certificate: Path | None = None) -> Iterator[FtpFiles]:
    """With a certificate, and its key, over TLS only."""
    accounts = DummyAuthorizer()
    accounts.add_user("me", "secret", str(root), perm="elradfmwMT")
    values: dict[str, Any] = {"authorizer": accounts, "proto_cmds": dict(FTPHandler.proto_cmds), "use_sendfile": False}
    values["unicode_errors"] = "surrogateescape"  # Names go out as they are stored.
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
    yield FtpFiles(f"{scheme}://{host}:{server.address[1]}", root, values["proto_cmds"], handler)
    over.set()
    thread.join()
    server.close_all()
