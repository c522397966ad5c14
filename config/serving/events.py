"""The agreement by which an application lets the server send events (server-sent events, HTML Standard 9.2).

A listener may wait for hours. The application answers such a request at once, and leaves in the environ's Feed where
the events come from. The server asks there for news every few seconds, in a thread of a small pool of its own; between
the questions no thread belongs to the listener. A server without the agreement sends what there is, and the listener
asks again.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

FEED = "millrace.feed"  # the key in a WSGI environ
TYPE = "text/event-stream"
HEARTBEAT = b": still here\n\n"
HEARTBEAT_SECONDS = 15.0  # without an event, after which a comment keeps the connection alive


class Events(Protocol):
    """Where the events of one listener come from."""

    def news(self) -> bytes:
        """The events since the last question, as they are sent; b"" for none. Called in different threads in turn."""

    @property
    def over(self) -> bool:
        """Whether no further event will come."""


@dataclass
class Feed:
    """Where the events of one request come from, after its answer."""

    events: Events | None = None
    seconds: float = 1.0  # between two questions
    held: ExitStack = field(default_factory=ExitStack)  # what the listener has until it is gone


def event(name: str, data: str, number: int | None = None) -> bytes:
    """An event as it is sent. `data` has one line; `number` is what a listener sends as Last-Event-ID later."""
    at = "" if number is None else f"id: {number}\n"
    return f"{at}event: {name}\ndata: {data}\n\n".encode()
