"""A message as a signed POST; docs/notifications.md tells a receiver how to verify it."""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from socket import SHUT_RDWR
from typing import Any

from django.conf import settings

from importer.engine.errors import Problem
from importer.models import Channel
from importer.security.outbound_addresses import web_connection, web_url

LONGEST = 10  # seconds
MOST_SAID = 200


def post(channel: Channel, key: str, payload: dict[str, Any]) -> None:
    """Send it; any answer of 2xx will do. Raises Problem for everything else."""
    body = json.dumps({"id": key, **payload}, ensure_ascii=False).encode()
    connection = web_connection(channel.url, private_allowed=channel.private_allowed, seconds=LONGEST)
    headers = _headers(key, payload["event"], channel.secret, body)
    host = connection.host
    try:
        with _ended_in_time(connection):
            connection.request("POST", _path(channel.url), body, headers)
            answer = connection.getresponse()
            said = "" if 200 <= answer.status < 300 else _said(answer)
    except (HTTPException, OSError, UnicodeError) as error:
        raise Problem(f"{host} gave no answer: {_in_words(error)}.") from error
    if said:
        raise Problem(f"{host} answered {said}")


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What a message carries in X-Millrace-Signature. Made anew, with the time, for each attempt."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _headers(key: str, event: str, secret: str, body: bytes) -> dict[str, str]:
    timestamp = str(int(time.time()))
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Millrace/{settings.VERSION}",
        "X-Millrace-Event": event,
        "X-Millrace-Id": key,
        "X-Millrace-Timestamp": timestamp,
        "X-Millrace-Signature": signature(secret, timestamp, body),
    }


def _path(url: str) -> str:
    parts = web_url(url)
    return f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


@contextmanager
def _ended_in_time(connection: HTTPConnection) -> Iterator[None]:
    """End the exchange after LONGEST, however slowly the other side goes on; and at the end in any case."""
    over = threading.Event()

    def end() -> None:
        over.set()
        with suppress(OSError, AttributeError):
            connection.sock.shutdown(SHUT_RDWR)

    timer = threading.Timer(LONGEST, end)
    timer.start()
    try:
        yield
    except (HTTPException, OSError) as error:
        raise TimeoutError if over.is_set() else error from error
    finally:
        timer.cancel()
        connection.close()


def _said(answer: HTTPResponse) -> str:
    """The status, and how the answer begins or where it leads."""
    status = f"{answer.status} {answer.reason}".strip()
    if 300 <= answer.status < 400:
        return f"{status}, which leads elsewhere: enter the address where it ends, redirects are not followed."
    began = " ".join(answer.read(MOST_SAID).decode(errors="replace").split())
    return f"{status}: {began}" if began else f"{status}."


def _in_words(error: Exception) -> str:
    return f"not within {LONGEST} seconds" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
