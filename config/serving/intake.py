"""The agreement by which an application lets the server write a request's body somewhere while it arrives.

The server calls the application twice for such a request. The first call finds an Intake without a sink in the environ,
and no body: the application checks the request by its headers, and either sets a sink or refuses. Between the calls no
thread belongs to the request. The second call finds in the same Intake how the body ended, and gives the answer.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

INTAKE = "millrace.intake"  # the key in a WSGI environ
# The Content-Types of the bodies that are received so: that of tus, and the general one, which generated clients send.
ANNOUNCED_TYPES = ("application/offset+octet-stream", "application/octet-stream")


class Sink(Protocol):
    """Takes the bytes of a body in order. The server calls one method at a time, from different threads."""

    def write(self, piece: bytes, /) -> bool:
        """Take the next bytes; False if no more are wanted, because the request fails anyway."""

    def close(self) -> None:
        """Release what the sink holds. Called after the answer, and however the request ends."""


class Ended(Enum):
    """How a body ended."""

    WHOLE = "whole"
    SLOW = "slow"
    BROKEN = "broken"
    UNWANTED = "unwanted"


@dataclass
class Intake:
    """The body of one request, between the two calls."""

    sink: Sink | None = None
    ended: Ended | None = None
