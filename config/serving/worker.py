"""gunicorn's asynchronous worker, which decides itself how long a connection without a request stays open.

gunicorn 27.0.1 limits the wait for each further request only, so that connections without a request could use up all
that the system allows to a process. When it ends, it waits for idle connections as for those with a request.
"""

import asyncio
from itertools import islice
from typing import ClassVar

from django.conf import settings
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from config.serving.front import Front

# Seconds that a connection may be without a request before it is closed. Longer than proxies keep one (nginx and AWS
# 60, Traefik 90, Caddy 120, Google Cloud 600): they answer 502 if it is closed while they send a request on it.
IDLE_SECONDS = 620
# With so many open connections of a process, each new one closes an idle one. Many systems allow 1,024 open files.
CROWDED = 500
# How many of the newest connections are never closed for others: they may be about to send a request.
ABOUT_TO_SEND = 50


class Protocol(ASGIProtocol):
    """One connection."""

    # In the order in which they were opened.
    open: ClassVar[dict["Protocol", None]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the headers. gunicorn itself stops the timer when they are there."""
        super().connection_made(transport)
        self._keepalive = IDLE_SECONDS
        if len(self.open) >= CROWDED:
            older = islice(self.open, len(self.open) - ABOUT_TO_SEND)
            if oldest := next((each for each in older if each.is_idle), None):
                oldest.close()
        self.open[self] = None
        self._keepalive_handle = self.worker.loop.call_later(settings.BODY_GRACE_SECONDS, self._keepalive_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self.open.pop(self, None)

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and without a request: its timer runs then, and only then."""
        return self._keepalive_handle is not None and not self._closed

    def close(self) -> None:
        """Close the connection, as when its time without a request is over."""
        self._keepalive_timeout()

    @classmethod
    def idle(cls) -> list["Protocol"]:
        """The connections without a request, the oldest first."""
        return [each for each in cls.open if each.is_idle]


gasgi.ASGIProtocol = Protocol


class Worker(gasgi.ASGIWorker):
    """A process that serves requests; `--worker-class` names it."""

    def init_process(self) -> None:
        """Start the process of the errands while there is no thread, and then to serve."""
        if isinstance(front := self.app.wsgi(), Front):
            front.start_errands([each.sock for each in self.sockets])
        super().init_process()

    def handle_exit_signal(self) -> None:
        """End after SIGTERM. gunicorn waits for all connections, so idle ones and those of listeners are ended here."""
        super().handle_exit_signal()
        for each in Protocol.idle():
            each.close()
        if isinstance(self.asgi, Front):
            self.asgi.end_listening()
