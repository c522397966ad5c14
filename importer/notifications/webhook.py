"""Sends a message as a signed POST, and declares the channel kind `webhook`.

docs/notifications.md explains to receivers how to verify the signature.
"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from http.client import HTTPException, HTTPResponse
from typing import Any

from django.conf import settings
from django.utils.encoding import iri_to_uri

from importer.engine.errors import NoConnection, Problem
from importer.engine.mysql.waits import within
from importer.models import Channel
from importer.notifications.channel_kind import ChannelField, ChannelKind
from importer.security.outbound_addresses import check_host, parse_web_url, web_connection
from importer.security.outbound_waits import talking

LONGEST = 10  # seconds
MOST_QUOTED = 200  # bytes of an answer that a problem quotes
SHORTEST_SECRET = 16  # characters
STANDARD_PREFIX = "whsec_"


def check_url(text: str) -> None:
    """Raise Problem unless the text is the URL of a web server, without credentials."""
    host = parse_web_url(text).hostname or ""
    try:
        host.encode("idna")
        web_connection(text, private_allowed=False, seconds=LONGEST).close()
    except (HTTPException, UnicodeError) as error:
        raise Problem(f"{host} is no host name: {error}.", advice="Correct the host in the URL.") from error


def check_secret(secret: str) -> None:
    """Raise Problem if the signing secret has fewer than SHORTEST_SECRET characters, or characters without a code."""
    if len(secret) < SHORTEST_SECRET:
        raise Problem(f"The secret has {len(secret)} characters.", advice=f"Take at least {SHORTEST_SECRET}.")
    try:
        secret.encode()
    except UnicodeError as error:
        raise Problem("The secret is no text in UTF-8.", advice="Take letters, digits and signs.") from error


def require_allowed_host(values: Mapping[str, Any]) -> None:
    """Raise Problem if the URL's host has an address that the channel may not send to. Sending checks it again."""
    check_host(values["url"], private_allowed=values["private_allowed"])


def post(channel: Channel, key: str, payload: dict[str, Any]) -> str:
    """Post the message. A status of 2xx accepts it: returns "". Raises Problem for every other outcome."""
    body = json.dumps({"id": key, **payload}, ensure_ascii=False).encode()
    connection = web_connection(channel.url, private_allowed=channel.private_allowed, seconds=LONGEST)
    headers = _headers(key, payload["event"], channel.secret, body)
    host = connection.host
    try:
        with within(LONGEST), talking(host), closing(connection):
            connection.request("POST", _path(channel.url), body, headers)
            answer = connection.getresponse()
            refusal = "" if 200 <= answer.status < 300 else _refusal(answer)
    except (HTTPException, OSError, UnicodeError, NoConnection) as error:
        raise Problem(f"{host} gave no answer: {_in_words(error)}.") from error
    if refusal:
        raise Problem(f"{host} answered {refusal}")
    return ""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The value of X-Millrace-Signature. It differs for each attempt, since the timestamp is signed too."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def standard_signature(secret: str, key: str, timestamp: str, body: bytes) -> str:
    """The value of webhook-signature (https://www.standardwebhooks.com, version 1): over id, timestamp and body.

    A secret that begins with whsec_ has its key in Base64 behind that; any other is the key itself.
    """
    signed = f"{key}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(_standard_key(secret), signed, "sha256")).decode()


def _standard_key(secret: str) -> bytes:
    encoded = secret.removeprefix(STANDARD_PREFIX)
    if encoded != secret:
        with suppress(binascii.Error, ValueError):
            return base64.b64decode(encoded, validate=True)
    return secret.encode()


def _headers(key: str, event: str, secret: str, body: bytes) -> dict[str, str]:
    timestamp = str(int(time.time()))
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Millrace/{settings.VERSION}",
        "X-Millrace-Event": event,
        "X-Millrace-Id": key,
        "X-Millrace-Timestamp": timestamp,
        "X-Millrace-Signature": signature(secret, timestamp, body),
        "webhook-id": key,
        "webhook-timestamp": timestamp,
        "webhook-signature": standard_signature(secret, key, timestamp, body),
    }


def _path(url: str) -> str:
    parts = parse_web_url(url)
    return iri_to_uri(f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")


def _refusal(answer: HTTPResponse) -> str:
    """The status, and the beginning of the answer or an advice about a redirect."""
    status = f"{answer.status} {answer.reason}".strip()
    if 300 <= answer.status < 400:
        return f"{status}, which leads elsewhere: enter the address where it ends, redirects are not followed."
    text = " ".join(answer.read(MOST_QUOTED).decode(errors="replace").split())
    return f"{status}: {text}" if text else f"{status}."


def _in_words(error: Exception) -> str:
    return (
        f"not within {LONGEST} seconds"
        if isinstance(error, TimeoutError | NoConnection)
        else str(error) or type(error).__name__
    )


KIND = ChannelKind(
    name="webhook",
    label="a webhook",
    title="New webhook",
    fields=(
        ChannelField("url", "URL", help="Where messages are posted to; a redirect is not followed.", check=check_url),
        ChannelField(
            "private_allowed",
            "Private addresses allowed",
            help="Hosts inside your network, or this machine itself. Cloud metadata never.",
            switch=True,
        ),
        ChannelField("secret", "Secret to sign with", check=check_secret, secret=True),
    ),
    metavar="URL",
    option_help="where it is posted to",
    require_sendable=require_allowed_host,
    send=post,
    describe=lambda channel: [channel.url],
)
