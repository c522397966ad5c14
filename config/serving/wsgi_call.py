"""Calls a WSGI application for an ASGI request (PEP 3333; asgi.readthedocs.io/en/latest/specs/www.html)."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from config.serving.client import Message, Scope

# A longer file, or a stream of unknown length, is sent in pieces while the application makes them.
WHOLE_BYTES = 2**20
PIECE_BYTES = 2**16  # that a reader has to take in client.ANSWER_SECONDS

WITHOUT_BODY = (204, 304)

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def environ_of(scope: Scope, body: bytes | None) -> Environ:
    """The environ of a request with this body; None: with a body that is not there."""
    client, server = scope.get("client") or ("", 0), scope.get("server") or ("", 0)
    words = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": str(client[0]),
        "REMOTE_PORT": str(client[1]),
        "wsgi.url_scheme": scope["scheme"],
    }
    for name, value in _headers(scope):
        words[name] = f"{words[name]}{'; ' if name == 'HTTP_COOKIE' else ','}{value}" if name in words else value
    if body is not None:
        words["CONTENT_LENGTH"] = str(len(body))
    return environ_with(words, body)


def environ_with(words: Mapping[str, str], body: bytes | None) -> Environ:
    """The environ of a request with these texts, and this body."""
    return {
        **words,
        "wsgi.version": (1, 0),
        "wsgi.input": io.BytesIO(body or b""),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }


def _headers(scope: Scope) -> Iterator[tuple[str, str]]:
    for raw_name, raw_value in scope["headers"]:
        # With an underscore, a client's header could pass for one that only a trusted proxy sends.
        if b"_" in raw_name:
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        yield name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}", raw_value.decode("latin-1")


class Answer:
    """The answer of an application to one request. It is made in threads, and has to be closed."""

    def __init__(self, application: Application, environ: Environ) -> None:
        """Call the application, which must start its answer at once, as Django does."""
        self._head: Message = {"type": "http.response.start"}
        self._pieces = application(environ, self._start)

    def _start(self, status: str, headers: list[tuple[str, str]], _problem: object = None) -> None:
        self._head["status"] = int(status.split(" ", 1)[0])
        self._head["headers"] = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    @property
    def is_short(self) -> bool:
        """Whether whole() may hold it in memory. Django's answers say if they are made in pieces."""
        if self._head["status"] in WITHOUT_BODY or not getattr(self._pieces, "streaming", True):
            return True
        length: bytes = dict(self._head["headers"]).get(b"content-length", b"")
        return length.isdigit() and int(length) <= WHOLE_BYTES

    def whole(self) -> list[Message]:
        """All messages of a short answer."""
        return in_pieces(self._head, b"".join(self._pieces))

    def parts(self) -> Iterator[Message]:
        """The messages of a long answer, each made when it is asked for."""
        yield self._head
        gathered = bytearray()
        for piece in self._pieces:
            gathered += piece
            if len(gathered) >= PIECE_BYTES:
                yield _body(bytes(gathered), more=True)
                gathered.clear()
        yield _body(bytes(gathered), more=False)

    def close(self) -> None:
        """Let the application release what it holds."""
        if close := getattr(self._pieces, "close", None):
            close()


def in_pieces(head: Message, body: bytes) -> list[Message]:
    """The messages of an answer with this head and body."""
    starts = range(0, max(1, len(body)), PIECE_BYTES)
    return [head, *(_body(body[at : at + PIECE_BYTES], more=at != starts[-1]) for at in starts)]


def _body(piece: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": piece, "more_body": more}
