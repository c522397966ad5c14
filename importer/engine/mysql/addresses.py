"""The addresses that a host name leads to, and which of them are connected to."""

import ipaddress
import socket
from collections.abc import Sequence

from importer.engine.errors import Problem

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

LOOPBACK = ipaddress.IPv4Address("127.0.0.1")
# All of them: which addresses inside networks are allowed is decided by the caller (settings.PRIVATE_NETWORKS).
EVERY_NETWORK = ("0.0.0.0/0", "::/0")
# Link-local networks, and the services of clouds that give credentials to any process of a machine. A network
# that translates IPv6 to IPv4 leads to them, too.
FORBIDDEN = tuple(
    ipaddress.ip_network(each)
    for each in (
        "169.254.0.0/16",
        "fe80::/10",
        # Amazon: docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html, and
        # docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
        "fd00:ec2::254/128",
        "fd00:ec2::23/128",
        # Google: cloud.google.com/compute/docs/metadata/querying-metadata
        "fd20:ce::254/128",
        # Azure, WireServer: learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
        "168.63.129.16/32",
        # Oracle Classic: docs.oracle.com/en/cloud/iaas/compute-iaas-cloud/stcsg/retrieving-instance-metadata.html;
        # Oracle over IPv6: cloud-init, DataSourceOracle.py
        "192.0.0.192/32",
        "fd00:c1::a9fe:a9fe/128",
        # Alibaba: alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata; over IPv6: cloud-init,
        # DataSourceAliYun.py
        "100.100.100.200/32",
        "fd00:100::100:200/128",
        # Scaleway: docs.cloud-init.io/en/latest/reference/datasources/scaleway.html
        "fd00:42::42/128",
        # Akamai (Linode): techdocs.akamai.com/cloud-computing/docs/metadata-service-api
        "fd00:a9fe:a9fe::1/128",
        # NAT64 of a network's own (RFC 8215): where in it the IPv4 address stands, only the network knows.
        "64:ff9b:1::/48",
    )
)
# The last 32 bits of an address in these networks are the IPv4 address that it leads to: NAT64 (RFC 6052),
# IPv4-compatible (RFC 4291) and IPv4-translated (RFC 2765) addresses.
LEADING_TO_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
# All other IPv6 addresses are inside a network, or have no meaning yet (iana.org/assignments/ipv6-address-space).
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class AddressRefused(Problem):
    """The address of the host is forbidden."""


class AddressInside(AddressRefused):
    """The address of the host is inside a network that is not allowed."""


def is_socket(host: str) -> bool:
    """Whether a target's host is the path of a Unix socket on this machine. Such a path begins with /."""
    return host.startswith("/")


def resolve(host: str) -> list[Ip]:
    """All current addresses of the host, each once; of a Unix socket the loopback's. Raises OSError, UnicodeError."""
    if is_socket(host):
        return [LOOPBACK]
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    found = [ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in entries]
    return list(dict.fromkeys(found))


def check_address(host: str, address: Ip, networks: Sequence[str]) -> None:
    """Raise AddressRefused if the host's address is forbidden, or inside a network and not in one of `networks`."""
    leads_to = effective(address)
    if any(leads_to in network for network in FORBIDDEN):
        raise AddressRefused(
            f"{host} is {leads_to}, a link-local, cloud metadata or local NAT64 address: it is never connected to.",
            advice="Use the address that the server has on your network.",
        )
    if _is_outside(leads_to):
        return
    if not any(leads_to in ipaddress.ip_network(network) for network in networks):
        raise AddressInside(
            f"{host} is {leads_to}, an address inside a network or of this machine.",
            advice="If it is meant to be, add its network to the setting PRIVATE_NETWORKS; else correct the host.",
        )


def checked_addresses(host: str, networks: Sequence[str]) -> list[Ip]:
    """All addresses of the host, each one allowed.

    A connection to one of them is a connection to what was checked: another look-up may have another answer. Raises
    AddressRefused as check_address() does, OSError, UnicodeError.
    """
    addresses = resolve(host)
    for address in addresses:
        check_address(host, address, networks)
    return addresses


def effective(address: Ip) -> Ip:
    """The IPv4 address in a NAT64, mapped, compatible, translated or 6to4 address; any other address unchanged."""
    if not isinstance(address, ipaddress.IPv6Address) or address.is_loopback or address.is_unspecified:
        return address
    if any(address in network for network in LEADING_TO_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_outside(address: Ip) -> bool:
    """Whether the address is outside all networks of one's own. Python takes site-local ones (fec0::/10) for global."""
    if address.version == 6 and address not in GLOBAL_UNICAST:
        return False
    return address.is_global and not address.is_multicast
