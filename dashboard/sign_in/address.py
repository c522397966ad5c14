"""The address that a request comes from, behind the proxies that settings.TRUSTED_PROXIES names."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network


def client_address(request: HttpRequest) -> str:
    """The nearest address that is no trusted proxy; only a trusted proxy's header is believed.

    Each proxy appends the address that it was called from, so the header is read from its end.
    """
    nearest = request.META.get("REMOTE_ADDR", "")
    trusted = [ip_network(each, strict=False) for each in settings.TRUSTED_PROXIES]
    header = "HTTP_" + settings.PROXY_HEADER.upper().replace("-", "_")
    forwarded = [each.strip() for each in request.META.get(header, "").split(",") if each.strip()]
    while forwarded and _is_in(nearest, trusted) and _parsed(forwarded[-1]):
        nearest = forwarded.pop()
    parsed = _parsed(nearest)
    return str(parsed) if parsed else nearest


def network_of(address: str) -> str:
    """What counts as one place: an IPv4 address, or the /64 of an IPv6 address, which belongs to one customer."""
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed, 64), strict=False))
    return address


def is_address(text: str) -> bool:
    """Whether the text is an address: a web server at a Unix socket knows none."""
    return _parsed(text) is not None


def _is_in(address: str, networks: list[IPNetwork]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in networks)


def _parsed(text: str) -> IPAddress | None:
    """The address in a text such as 192.0.2.1, 192.0.2.1:4711, 2001:db8::1 or [2001:db8::1]:4711."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
