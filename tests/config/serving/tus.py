"""Uploads as programs send them: whole by requests, or by hand, so that they can stop in the middle of a part."""

import base64
import hashlib
import socket
from dataclasses import dataclass

import requests

from tests.web_site import PATIENCE, WebSite

PART = "application/offset+octet-stream"


@dataclass(frozen=True)
class Uploader:
    """Somebody who is signed in and uploads."""

    site: WebSite
    browser: requests.Session

    def headers(self) -> dict[str, str]:
        return {"Tus-Resumable": "1.0.0", "X-CSRFToken": self.browser.cookies["csrftoken"]}

    def begin(self, size: int, name: str = "a.csv") -> str:
        """Announce a file; the path of its upload."""
        metadata = "filename " + base64.b64encode(name.encode()).decode()
        answer = self.browser.post(
            f"{self.site.url}/uploads/",
            headers={**self.headers(), "Upload-Length": str(size), "Upload-Metadata": metadata},
            timeout=PATIENCE,
        )
        assert answer.status_code == 201, answer.text
        return answer.headers["Location"]

    def send(self, path: str, offset: int, content: bytes, **more: str) -> requests.Response:
        headers = {**self.headers(), "Content-Type": PART, "Upload-Offset": str(offset), **more}
        return self.browser.patch(self.site.url + path, data=content, headers=headers, timeout=PATIENCE)

    def arrived(self, path: str) -> int:
        """How many bytes count."""
        answer = self.browser.head(self.site.url + path, headers=self.headers(), timeout=PATIENCE)
        assert answer.status_code == 200
        return int(answer.headers["Upload-Offset"])

    def announce_part(self, path: str, offset: int, length: int, **more: str) -> socket.socket:
        """A part of which nothing is sent before the server asks for it."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())
        headers = {**self.headers(), "Content-Type": PART, "Upload-Offset": str(offset), "Cookie": cookies, **more}
        return begin_request(self.site, "PATCH", path, length, b"", {**headers, "Expect": "100-continue"})

    def begin_part(self, path: str, offset: int, length: int, first: bytes, **more: str) -> socket.socket:
        """A part that the server has let in, and of which only the first bytes are sent."""
        connection = self.announce_part(path, offset, length, **more)
        assert answer_of(connection).startswith("HTTP/1.1 100")
        connection.sendall(first)
        return connection


def begin_request(
    site: WebSite, method: str, path: str, length: int, first: bytes, headers: dict[str, str]
) -> socket.socket:
    """A request with a body of `length` bytes of which only the first ones are sent."""
    connection = site.connect()
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{site.port}", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + first)
    return connection


def answer_of(connection: socket.socket) -> str:
    """The status line and the headers of the answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        assert piece, f"the server closed the connection after {received!r}"
        received += piece
    return received.decode("latin-1")


def is_unanswered(connection: socket.socket) -> bool:
    """Whether the connection is open, and nothing has come back yet."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b"never"
    except BlockingIOError:
        return True
    finally:
        connection.setblocking(True)
        connection.settimeout(PATIENCE)


def checksum(content: bytes, algorithm: str = "sha256") -> dict[str, str]:
    """The header with the checksum of a part."""
    digest = base64.b64encode(hashlib.new(algorithm, content).digest()).decode()
    return {"Upload-Checksum": f"{algorithm} {digest}"}


def stored(site: WebSite, path: str) -> bytes:
    """The bytes of an upload's file."""
    return (site.var_dir / "uploads" / path.split("/")[-2]).read_bytes()
