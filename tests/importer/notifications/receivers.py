"""Receivers for tests: a web server and a mail server that store messages and answer as a test wants."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from aiosmtpd.smtp import Envelope

from importer.management.processes.private_servers import free_port
from tests.documents import read


@dataclass
class Hook:
    """The received requests, as (headers, body). `answers` are statuses, the last one for all that follow.

    An answer of 0 is none: the connection stays open until `let_go` is set.
    """

    answers: list[int] = field(default_factory=lambda: [200])
    came: list[tuple[Message, bytes]] = field(default_factory=list)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    let_go: threading.Event = field(default_factory=threading.Event)
    origin: str = ""
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.came.append((handler.headers, body))
        self.arrived.release()
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not status:
            self.let_go.wait(60)
            return
        handler.send_response(status)
        handler.send_header("Location", f"{self.url}elsewhere")
        handler.end_headers()
        handler.wfile.write(b"as the test wants")


@contextmanager
def web_catcher() -> Iterator[Hook]:
    """A web server on loopback. What came fits the schema of webhooks."""
    with catcher() as hook:
        yield hook
    for _, body in hook.came:
        read(body)


@contextmanager
def catcher() -> Iterator[Hook]:
    """A web server on loopback for anything that is sent by POST."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the requests are in the hook."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hook.origin = f"http://127.0.0.1:{server.server_port}"
    hook.url = f"{hook.origin}/hook?from=millrace&"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield hook
    finally:
        hook.let_go.set()
        server.shutdown()
        server.server_close()


class Inbox(MessageHandler):
    """The received mails. Recipients in `refused` are refused."""

    def __init__(self) -> None:
        super().__init__()
        self.came: list[Message] = []
        self.refused: list[str] = []

    @property
    def subjects(self) -> list[str]:
        """The header's value on one line, unfolded."""
        return [" ".join(each["Subject"].split()) for each in self.came]

    async def handle_RCPT(self, _server: object, _session: object, envelope: Envelope, to: str, _: list[str]) -> str:
        """The server's answer to one recipient."""
        if to in self.refused:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    def handle_message(self, message: Message) -> None:
        self.came.append(message)


@contextmanager
def mail_catcher() -> Iterator[tuple[Inbox, int]]:
    """A mail server on loopback, and its port."""
    inbox = Inbox()
    controller = Controller(inbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield inbox, controller.port
    finally:
        controller.stop()
