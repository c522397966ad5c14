"""A bridge on this machine, and hosts behind it: network namespaces that reach the bridge's address and nothing else.

Only root may make them (ip-netns(8), ip-link(8)).
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psutil

from tests.web_site import Place

# Of a bridge, with the id of the process that made it; a link's name, which has a number behind it, has 15 characters.
NAME = "mr{}"
NETWORK = "10.231.{}"


def can_isolate() -> bool:
    """Whether this account may give processes mounts, a host name and a network of their own."""
    namespaces = ["unshare", "--uts", "--mount", "--net", "true"]
    return (
        os.geteuid() == 0
        and bool(shutil.which("ip"))
        and subprocess.run(namespaces, capture_output=True).returncode == 0
    )


@dataclass(frozen=True)
class Network:
    """The address of the bridge, where servers for all hosts listen, and the place of each host by its name."""

    address: str
    places: dict[str, Place]


@contextmanager
def network(hosts: Sequence[str]) -> Iterator[Network]:
    """The hosts with these names. Bridge and namespaces are removed in the end, those of killed processes before."""
    _remove_left()
    bridge, subnet = NAME.format(os.getpid()), _free_subnet()
    with ExitStack() as made:
        made.callback(_remove, bridge)
        _ip("link", "add", bridge, "type", "bridge")
        _ip("address", "add", f"{subnet}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        places = {name: _add_host(bridge, name, number, subnet) for number, name in enumerate(hosts, 2)}
        yield Network(f"{subnet}.1", places)


def _add_host(bridge: str, name: str, number: int, subnet: str) -> Place:
    space, outside, inside = f"{bridge}-{name}", f"{bridge}o{number}", f"{bridge}i{number}"
    _ip("netns", "add", space)
    _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
    _ip("link", "set", outside, "master", bridge)
    # The hosts do not reach each other, only the bridge (bridge(8), isolated).
    _ip("link", "set", outside, "type", "bridge_slave", "isolated", "on")
    _ip("link", "set", outside, "up")
    _ip("-n", space, "address", "add", f"{subnet}.{number}/24", "dev", inside)
    for device in ("lo", inside):
        _ip("-n", space, "link", "set", device, "up")
    return Place(f"{subnet}.{number}", ("ip", "netns", "exec", space))


def _remove(bridge: str) -> None:
    """Remove the bridge, its hosts' namespaces and their links, as far as they are there."""
    for space in _names("netns", "list"):
        if space.startswith(f"{bridge}-"):
            subprocess.run(["ip", "netns", "delete", space], capture_output=True)
    for link in _names("-o", "link"):
        if re.fullmatch(rf"{bridge}(o\d+)?", link):
            subprocess.run(["ip", "link", "delete", link], capture_output=True)


def _remove_left() -> None:
    """Remove what killed processes have left."""
    for link in {*_names("-o", "link"), *(each.partition("-")[0] for each in _names("netns", "list"))}:
        found = re.fullmatch(NAME.format(r"(\d+)"), link)
        if found and not psutil.pid_exists(int(found[1])):
            _remove(link)


def _free_subnet() -> str:
    used = _ip("-o", "-4", "address")
    return next(each for each in map(NETWORK.format, range(1, 255)) if f" {each}." not in used)


def _names(*listing: str) -> list[str]:
    """The names in a list of ip(8): of namespaces, or of links, as in `7: name@peer: <...>`."""
    lines = _ip(*listing).splitlines()
    return [re.sub(r"^\d+: ", "", line).split()[0].partition("@")[0].rstrip(":") for line in lines]


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout
