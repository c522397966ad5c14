"""SSRF protection: resolves a host, rejects forbidden addresses, and connects only to a checked address.

Which addresses are forbidden: engine/mysql/addresses.py, which targets are checked with as well.
"""

import socket
import ssl
from contextlib import suppress
from http.client import HTTPConnection, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from importer.engine.errors import Problem
from importer.engine.mysql.addresses import AddressInside, Ip, checked_addresses
from importer.security import outbound_waits


def _checked_addresses(host: str, *, private_allowed: bool) -> list[Ip]:
    """All addresses of the host. Inside a network only those of PRIVATE_NETWORKS are allowed, and only if asked for."""
    try:
        return checked_addresses(host, settings.PRIVATE_NETWORKS if private_allowed else ())
    except AddressInside as refused:
        if not private_allowed:
            refused.advice = "If it is meant to be, allow it with --allow-private; else correct the host."
        raise


def connect_checked(host: str, port: int, *, private_allowed: bool, seconds: float) -> socket.socket:
    """A connection to the host. Its name is resolved once, so that the checked address is the one connected to.

    `seconds` is the timeout of connecting to all addresses together, and later of each read and write. Raises
    AddressRefused if any address of the host is not allowed, OSError if none answers.
    """
    addresses = _checked_addresses(host, private_allowed=private_allowed)
    failure: OSError = OSError(f"{host} has no address")
    for address in addresses:
        try:
            wait = outbound_waits.seconds_for(seconds / len(addresses))
            connection = socket.create_connection((str(address), port), timeout=wait)
        except OSError as error:
            failure = error
        else:
            connection.settimeout(seconds)
            outbound_waits.bound(connection)
            return connection
    raise failure


def check_host(url: str, *, private_allowed: bool) -> None:
    """Raise AddressRefused if a URL's host has a forbidden address; for libraries that connect by themselves.

    A name that cannot be resolved passes, because the error of connecting is clearer. Raises Problem for an invalid
    URL.
    """
    host = parse_web_url(url).hostname or ""
    with suppress(OSError, UnicodeError):
        _checked_addresses(host, private_allowed=private_allowed)


def web_connection(url: str, *, private_allowed: bool, seconds: float, tls_ca: str = "") -> HTTPConnection:
    """A connection for requests to the URL's host. The first request checks the address and connects.

    `tls_ca` names a file with certificate authorities that are trusted in addition to this machine's. Redirects are
    not followed: the caller follows them with a new connection. Raises Problem for an invalid URL.
    """
    parts = parse_web_url(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    kind = _CheckedHttps if parts.scheme == "https" else _CheckedHttp
    connection = kind(host, port, timeout=seconds)
    connection.private_allowed = private_allowed
    if tls_ca and isinstance(connection, _CheckedHttps):
        connection.trust(tls_ca)
    return connection


def tls_context(tls_ca: str = "") -> ssl.SSLContext:
    """A TLS context that trusts this machine's certificate authorities and those in the file `tls_ca`.

    Raises Problem if the file does not exist or has no certificate.
    """
    context = ssl.create_default_context()
    if tls_ca:
        try:
            context.load_verify_locations(cafile=tls_ca)
        except OSError as error:  # ssl.SSLError is one.
            raise Problem(f"The CA file cannot be read: {error}.", tls_ca, "Name a PEM file on this server.") from error
    return context


def parse_web_url(url: str) -> SplitResult:
    """The parts of an http:// or https:// URL. Raises Problem, whose text never contains a possible password."""
    try:
        parts = urlsplit(url)
        port_ok = parts.port != 0
    except ValueError:
        parts, port_ok = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_ok:
        raise Problem("That is no URL.", advice="Write it as https://HOST/PATH, with :PORT after the host if need be.")
    if parts.username or parts.password:
        raise Problem("There is a user or a password in the URL.", advice="Take it out: others may read URLs.")
    return parts


class _Checked:
    private_allowed = False
    host: str
    port: int
    timeout: float
    sock: socket.socket

    def _connect_checked(self) -> socket.socket:
        return connect_checked(self.host, self.port, private_allowed=self.private_allowed, seconds=self.timeout)


class _CheckedHttp(_Checked, HTTPConnection):  # type: ignore[misc]
    def connect(self) -> None:
        self.sock = self._connect_checked()


class _CheckedHttps(_Checked, HTTPSConnection):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._tls_context = tls_context()
        super().__init__(*args, **kwargs, context=self._tls_context)

    def trust(self, tls_ca: str) -> None:
        """Trust the authorities in the file as well. Raises Problem as tls_context() does."""
        self._tls_context = tls_context(tls_ca)

    def connect(self) -> None:
        self.sock = self._tls_context.wrap_socket(self._connect_checked(), server_hostname=self.host)
