"""The events of an import as they arrive (server-sent events, HTML Standard 9.2), over one connection or several."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from millrace_client.http import LONGEST_WAIT, TRIES, Server
from millrace_client.problems import TOO_MUCH, ServerProblem, ServerUnreachable

TYPE = "text/event-stream"
END = "end"
NO_CONTENT = 204
READ_BYTES = 2**16
AGAIN_AFTER = 1.0  # seconds after an answer that ended without the event END


@dataclass(frozen=True)
class Event:
    """One event. `id`: what a listener sends as Last-Event-ID when it connects again."""

    name: str
    data: str
    id: str


def events(server: Server, path: str) -> Iterator[Event]:
    """The events until the last one. A connection that breaks is made again, and continues after the last event.

    Raises ServerProblem if the token or the right to see the import has ended, and ServerUnreachable.
    """
    seen, failures = "", 0
    while True:
        try:
            headers = {"Accept": TYPE, **({"Last-Event-ID": seen} if seen else {})}
            answer = server.send("GET", path, headers=headers, streamed=True)
            if answer.status == NO_CONTENT:
                return
            for event in _read(server, answer):
                seen, failures = event.id or seen, 0
                yield event
                if event.name == END:
                    return
        except ServerProblem as refused:
            if refused.status != TOO_MUCH:  # Others of this person listen: a place becomes free when one has ended.
                raise
        except ServerUnreachable:
            failures += 1
            if failures == TRIES:
                raise
        time.sleep(min(LONGEST_WAIT, AGAIN_AFTER * 2**failures))


def _read(server: Server, answer: urllib3.BaseHTTPResponse) -> Iterator[Event]:
    """The events of one answer. An event without its end is none."""
    rest = b""
    try:
        while piece := answer.read1(READ_BYTES):
            *blocks, rest = (rest + piece).split(b"\n\n")
            for block in blocks:
                if event := _event(block.decode()):
                    yield event
    except HTTPError as error:
        raise server.unreachable(error) from error
    finally:
        answer.close()


def _event(block: str) -> Event | None:
    """The event of a block of lines; None for a comment."""
    values: dict[str, Any] = {"event": "message", "data": [], "id": ""}
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            values["data"].append(value)
        elif name in values:
            values[name] = value
    return Event(values["event"], "\n".join(values["data"]), values["id"]) if values["data"] else None
