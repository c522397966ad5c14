"""Where this machine may be sent to: which addresses a host may have, and connections to no other ones."""

import ipaddress
import socket
import ssl
from contextlib import suppress
from http.client import HTTPConnection, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, urlsplit

from importer.engine.errors import Problem

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

# What a cloud's machines are told about themselves, credentials included, is served there, and nothing else.
FORBIDDEN = tuple(
    ipaddress.ip_network(each)
    for each in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::254/128",  # Amazon, over IPv6
        "100.100.100.200/32",  # Alibaba
    )
)
# The last 32 bits of such an address are the IPv4 address that it leads to (RFC 6052).
NAT64 = ipaddress.ip_network("64:ff9b::/96")


class AddressRefused(Problem):
    """A host whose address nobody is to be sent to."""


def resolve(host: str) -> list[Ip]:
    """All addresses that the host's name stands for now, as they lead on the network. Raises OSError, UnicodeError."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [_effective_address(ipaddress.ip_address(str(entry[4][0]).split("%")[0])) for entry in found]


def is_forbidden(address: Ip) -> bool:
    """Whether it is a link-local or cloud metadata address, to which nothing of ours ever goes."""
    return any(address in network for network in FORBIDDEN)


def check_address(host: str, address: Ip, *, private_allowed: bool) -> None:
    """Raise AddressRefused if nobody is to be sent to that address of the host."""
    if is_forbidden(address):
        raise AddressRefused(
            f"{host} is {address}, a link-local or cloud metadata address: nothing is asked of it.",
            advice="Use the address that the server has on your network.",
        )
    if not private_allowed and (address.is_multicast or not address.is_global):
        raise AddressRefused(
            f"{host} is {address}, an address inside a network or of this machine.",
            advice="If it is meant to be, allow private addresses; else correct the host.",
        )


def connect_checked(host: str, port: int, *, private_allowed: bool, seconds: float) -> socket.socket:
    """A connection to the host. Its name is looked up once: what was checked is what is connected to.

    `seconds` is how long connecting in all, and later each read and write, may take. Raises AddressRefused if any
    address of the host is not allowed, OSError if none answers.
    """
    found = resolve(host)
    for address in found:
        check_address(host, address, private_allowed=private_allowed)
    failure: OSError = OSError(f"{host} has no address")
    for address in found:
        try:
            made = socket.create_connection((str(address), port), timeout=seconds / len(found))
        except OSError as error:
            failure = error
        else:
            made.settimeout(seconds)
            return made
    raise failure


def check_host(url: str, *, private_allowed: bool) -> None:
    """Raise AddressRefused if a URL's host has an address that is not allowed: for libraries that connect themselves.

    A name that nobody knows passes: connecting says better what is wrong. Raises Problem if it is no such URL.
    """
    host = parse_web_url(url).hostname or ""
    with suppress(OSError, UnicodeError):
        for address in resolve(host):
            check_address(host, address, private_allowed=private_allowed)


def web_connection(url: str, *, private_allowed: bool, seconds: float, tls_ca: str = "") -> HTTPConnection:
    """For requests to the URL's host, which is connected to, and checked, by the first of them.

    `tls_ca` names a file with authorities that sign its certificate, besides those that this machine trusts. No
    redirect is followed: that is for who asks, with a new connection. Raises Problem if it is no such URL.
    """
    parts = parse_web_url(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    kind = _CheckedHttps if parts.scheme == "https" else _CheckedHttp
    made = kind(host, port, timeout=seconds)
    made.private_allowed = private_allowed
    if tls_ca and isinstance(made, _CheckedHttps):
        made.trust(tls_ca)
    return made


def tls_context(tls_ca: str = "") -> ssl.SSLContext:
    """For TLS to servers whose certificate this machine trusts, or an authority in the file `tls_ca`.

    Raises Problem if there is no such file, or no certificate in it.
    """
    made = ssl.create_default_context()
    if tls_ca:
        try:
            made.load_verify_locations(cafile=tls_ca)
        except OSError as error:  # ssl.SSLError is one.
            raise Problem(f"The CA file cannot be read: {error}.", tls_ca, "Name a PEM file on this server.") from error
    return made


def parse_web_url(url: str) -> SplitResult:
    """An http:// or https:// URL taken apart. Raises Problem, which never repeats what may be a password."""
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

    def _reached(self) -> socket.socket:
        return connect_checked(self.host, self.port, private_allowed=self.private_allowed, seconds=self.timeout)


class _CheckedHttp(_Checked, HTTPConnection):  # type: ignore[misc]
    def connect(self) -> None:
        self.sock = self._reached()


class _CheckedHttps(_Checked, HTTPSConnection):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._certificates = tls_context()
        super().__init__(*args, **kwargs, context=self._certificates)

    def trust(self, tls_ca: str) -> None:
        """Raises Problem as certificates() does."""
        self._certificates = tls_context(tls_ca)

    def connect(self) -> None:
        self.sock = self._certificates.wrap_socket(self._reached(), server_hostname=self.host)


def _effective_address(address: Ip) -> Ip:
    """The IPv4 address to which an IPv6 one leads, where it is only a way to write that."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address
