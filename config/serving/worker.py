"""gunicorn's asynchronous worker, which decides itself how long a connection without a request stays open.

gunicorn 27.0.1 limits the wait for each further request only, so that connections without a request could use up all
that the system allows to a process. When it ends, it waits for idle connections as for those with a request.
"""

import asyncio
import resource
from functools import partial
from typing import ClassVar

from django.conf import settings
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from config.serving.front import Front

# Seconds that a connection may be without a request before it is closed. Longer than proxies keep one (nginx and AWS
# 60, Traefik 90, Caddy 120, Google Cloud 600): they answer 502 if it is closed while they send a request on it.
IDLE_SECONDS = 620
# From this number of open connections of a process on, each new connection closes an idle one.
CROWDED = 500
# Seconds for which a new connection is never closed for others: it may be about to send a request.
ABOUT_TO_SEND = 5

# Files and connections that a process may have open, where the system lets it.
OPEN_FILES = 2**16


class Protocol(ASGIProtocol):
    """One connection."""

    # In the order in which they were opened.
    open: ClassVar[dict["Protocol", None]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the headers. gunicorn itself stops the timer when they are there."""
        super().connection_made(transport)
        self._keepalive = IDLE_SECONDS
        if len(self.open) >= CROWDED and (oldest := next((each for each in self.open if each.is_left_idle), None)):
            oldest.close()
        self.open[self] = None
        loop = self.worker.loop
        # A loop reads what has come before it calls what is due, so after this call no request waits to be read.
        self._is_new = True
        loop.call_later(ABOUT_TO_SEND, self._grow_old)
        self._keepalive_handle = loop.call_later(settings.BODY_GRACE_SECONDS, self._end_without_a_request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self.open.pop(self, None)

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and without a request."""
        # The timer runs on for a moment after the headers of a request have been read.
        return self._keepalive_handle is not None and not self._request_ready.is_set() and not self._closed

    @property
    def is_left_idle(self) -> bool:
        """Whether the connection is idle though it has had time to send a request."""
        return self.is_idle and not self._is_new

    def close(self) -> None:
        """Close the connection, as when its time without a request is over."""
        self._keepalive_timeout()

    def _grow_old(self) -> None:
        self._is_new = False

    def _end_without_a_request(self) -> None:
        if self.is_idle:
            self.close()

    @classmethod
    def idle(cls) -> list["Protocol"]:
        """The connections without a request, the oldest first."""
        return [each for each in cls.open if each.is_idle]


gasgi.ASGIProtocol = Protocol


class Worker(gasgi.ASGIWorker):
    """A process that serves requests; `--worker-class` names it."""

    def init_process(self) -> None:
        """Allow many connections. Start the process of the errands while there is no thread, and then to serve."""
        own, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Many systems start a process with 1,024 open files, and let it have more.
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(own, min(most, OPEN_FILES)), most))
        if isinstance(front := self.app.wsgi(), Front):
            front.start_errands([each.sock for each in self.sockets])
        super().init_process()

    def run(self) -> None:
        """Serve, with the backlog of connections that gunicorn is configured for: asyncio's default is 100."""
        self.loop.create_server = partial(self.loop.create_server, backlog=self.cfg.backlog)
        super().run()

    def handle_exit_signal(self) -> None:
        """End after SIGTERM. gunicorn waits for all connections, so idle ones and those of listeners are ended here."""
        super().handle_exit_signal()
        for each in Protocol.idle():
            each.close()
        if isinstance(self.asgi, Front):
            self.asgi.end_listening()
