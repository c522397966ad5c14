"""A web server with files on loopback."""

import hashlib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODIFIED = "Sat, 21 Nov 2026 10:00:00 GMT"


class WebFiles(ThreadingHTTPServer):
    """Serves `files` by path, with ETags. `redirects` lead elsewhere, `sent` records each request.

    `modified` is the time of the files, "" that of each answer. Without `etags` only that tells versions apart.
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
        self.modified, self.etags = MODIFIED, True
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
        etag = f'"{hashlib.md5(data).hexdigest()}"' if data and self.server.etags else ""
        self.close_connection = True
        if self.path in self.server.redirects:
            self._answer(302, {"Location": self.server.redirects[self.path], "Content-Length": "0"})
        elif self.path.startswith("/silent/"):
            self.server.over.wait(30)
        elif data is None:
            self._answer(404, {"Content-Length": "0"})
        elif self.command == self.server.refused:
            self._answer(405, {"Content-Length": "0"})
        elif etag and self.headers["If-None-Match"] == etag:
            self._answer(304, {})
        elif not etag and self._is_not_newer():
            self._answer(304, {"Last-Modified": self.server.modified})
        elif self.path.startswith("/endless/"):
            self._answer(200, {"ETag": etag}, data)
        elif self.path.startswith("/chunked/"):
            pieces = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (data[:7], data[7:]) if each)
            self._answer(200, {"ETag": etag, "Transfer-Encoding": "chunked"}, pieces + b"0\r\n\r\n")
        elif self.path.startswith("/broken/"):
            self._answer(200, {"ETag": etag, "Content-Length": str(len(data) + 1)}, data)
        else:
            length = {
                "Content-Length": str(len(data)),
                "Last-Modified": self.server.modified or self.date_time_string(),
            }
            self._answer(200, {"ETag": etag, **length} if etag else length, data)

    def _is_not_newer(self) -> bool:
        """Whether the files are as old as the request wants them, or older."""
        since = self.headers["If-Modified-Since"]
        return bool(since and self.server.modified) and parsedate_to_datetime(
            self.server.modified
        ) <= parsedate_to_datetime(since)

    def _answer(self, status: int, headers: dict[str, str], data: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


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
