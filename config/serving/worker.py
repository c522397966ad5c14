"""gunicorn's asynchronous worker, with a limit on how long a client may take to send the headers of its first request.

gunicorn 27.0.1 has one for each further request on a connection only, so that idle connections could use up all that
the system allows to a process.
"""

import asyncio

from django.conf import settings
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from config.serving.front import Front


class Protocol(ASGIProtocol):
    """One connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the headers. gunicorn itself stops the timer when they are there."""
        super().connection_made(transport)
        self._keepalive_handle = self.worker.loop.call_later(settings.BODY_GRACE_SECONDS, self._keepalive_timeout)


gasgi.ASGIProtocol = Protocol


class Worker(gasgi.ASGIWorker):
    """A process that serves requests; `--worker-class` names it."""

    def handle_exit_signal(self) -> None:
        """End after SIGTERM. gunicorn waits for the connections, and those of listeners would not end by themselves."""
        super().handle_exit_signal()
        if isinstance(self.asgi, Front):
            self.asgi.end_listening()
