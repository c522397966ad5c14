"""Calls a WSGI application for an ASGI request (PEP 3333; asgi.readthedocs.io/en/latest/specs/www.html)."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote_to_bytes

from config.serving.client import Message, Scope

# A longer answer, or one of unknown length, is sent in pieces while the application makes it.
WHOLE_BYTES = 2**20
PIECE_BYTES = 2**16

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def environ_of(scope: Scope, body: bytes | None) -> Environ:
    """The environ of a request with this body; None: with a body that is not there."""
    client, server = scope.get("client") or ("", 0), scope.get("server") or ("", 0)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": str(client[0]),
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": io.BytesIO(body or b""),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in _headers(scope):
        environ[name] = f"{environ[name]}{'; ' if name == 'HTTP_COOKIE' else ','}{value}" if name in environ else value
    if body is not None:
        environ["CONTENT_LENGTH"] = str(len(body))
    return environ


def _headers(scope: Scope) -> Iterator[tuple[str, str]]:
    for raw_name, raw_value in scope["headers"]:
        # With an underscore, a client's header could pass for one that only a trusted proxy sends.
        if b"_" in raw_name:
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        yield name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}", raw_value.decode("latin-1")


def call(application: Application, environ: Environ, stream: Callable[[Message], None]) -> list[Message]:
    """Call the application, in a thread. Returns the last messages of its answer.

    A short answer is returned whole, so that sending it takes no thread. Of a long one, all before the last messages is
    given to `stream`, which waits for the client, so that the answer is never held in memory.
    """
    head: Message = {"type": "http.response.start"}

    def start_response(status: str, headers: list[tuple[str, str]], _problem: object = None) -> None:
        head["status"] = int(status.split(" ", 1)[0])
        head["headers"] = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    answer = application(environ, start_response)
    try:
        length = dict(head["headers"]).get(b"content-length", b"")
        if length.isdigit() and int(length) <= WHOLE_BYTES:
            return [head, {"type": "http.response.body", "body": b"".join(answer)}]
        stream(head)
        gathered = bytearray()
        for piece in answer:
            gathered += piece
            if len(gathered) >= PIECE_BYTES:
                stream({"type": "http.response.body", "body": bytes(gathered), "more_body": True})
                gathered.clear()
        return [{"type": "http.response.body", "body": bytes(gathered)}]
    finally:
        if close := getattr(answer, "close", None):
            close()
