"""Compares ways to load over a slow link: 10 ms there and back and 100 Mbit/s, in a network namespace of its own.

    python -m bench.slow_link --rows 500000 --rounds 3 [--delay-ms 10] [--mbit 100]

Needs root. The clients and Millrace run in the namespace, and reach the servers over a pair of virtual interfaces and a
relay. `tc netem` slows the link down on both ends; in a kernel without it the relay does, and the report says so.
Nothing else on this machine is slowed down, and the namespace is deleted at the end.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from bench import settings
from bench.comparison import comparison
from bench.results import ROOT
from bench.rounds import Case
from bench.servers import Server, servers_to_measure
from bench.ways import way
from bench.workloads import WORKLOADS
from importer.management.processes.private_servers import free_port

# Addresses for tests of networks (RFC 2544), which are not routed.
OUTSIDE, INSIDE = "198.18.77.1", "198.18.77.2"
WAYS = ("single", "split-4", "insert-1", "insert-1000", "millrace")
# Rows of `insert-1`, which waits for the link with each row.
SAMPLE = 500
# This variable is set for the process in the namespace; it describes the link.
LINK = "MILLRACE_BENCH_LINK"


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("--delay-ms", type=float, default=10, help="there and back")
    parser.add_argument("--mbit", type=float, default=100, help="millions of bits a second, each way")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=("nodes",), metavar="NAME")
    parser.add_argument("--ways", nargs="+", default=WAYS, metavar="WAY")
    arguments = parser.parse_args()
    if LINK in os.environ:
        _compare(arguments)
    elif os.geteuid():
        print("A network namespace takes root; skipped. Run it with sudo, or in a container with CAP_NET_ADMIN.")
    else:
        subprocess.run([ROOT / "scripts" / "setup.sh", "link"], check=True)
        sys.exit(_from_outside(arguments))


def _compare(arguments: argparse.Namespace) -> None:
    with comparison("link", arguments) as compared:
        compared.results.made["notes"].append(os.environ[LINK])
        for name in arguments.workloads:
            files = compared.files(name, WORKLOADS[name], settings.rows_of(WORKLOADS[name], arguments))
            cases = [Case(name, files, way(each, SAMPLE)) for each in arguments.ways]
            compared.measure(cases, parts=len(arguments.workloads))
    print(compared.report())


def _from_outside(arguments: argparse.Namespace) -> int:
    """Start servers, link and relays, run this program again behind them, and return its exit status."""
    options = settings.server_options(arguments)
    with (
        servers_to_measure(arguments.server, arguments.folder / "servers", options) as servers,
        _namespace() as (name, interface),
    ):
        shaped = _slow_down(name, interface, arguments)
        delay = 0 if shaped else arguments.delay_ms / 2000
        rate = 0 if shaped else arguments.mbit * 1e6 / 8
        maker = "tc netem" if shaped else "the relay, as this kernel has no netem"
        link = f"The link: {arguments.delay_ms:g} ms there and back, {arguments.mbit:g} Mbit/s, made by {maker}."
        with _relays(servers, delay, rate) as named:
            command = [sys.executable, "-m", "bench.slow_link", *_without_servers(sys.argv[1:]), *named]
            inside = ["ip", "netns", "exec", name, *command]
            return subprocess.run(inside, env={**os.environ, LINK: link}, check=False).returncode


@contextmanager
def _namespace() -> Iterator[tuple[str, str]]:
    """Create a namespace with one end of a pair of interfaces; yield its name and the name of the outer end."""
    name, outside, inside = f"bench-{os.getpid()}", f"mb{os.getpid()}o", f"mb{os.getpid()}i"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", name)
        _ip("address", "add", f"{OUTSIDE}/30", "dev", outside)
        _ip("link", "set", outside, "up")
        for each in (
            ("address", "add", f"{INSIDE}/30", "dev", inside),
            ("link", "set", inside, "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", name, *each)
        yield name, outside
    finally:
        # Deletes the pair of interfaces, too.
        _ip("netns", "delete", name)


def _slow_down(name: str, interface: str, arguments: argparse.Namespace) -> bool:
    """Slow both ends down with tc netem; False if the kernel does not have it."""
    inside = interface.removesuffix("o") + "i"
    # Half of the delay each way; a queue longer than the data in flight, so that it drops nothing.
    netem = ["root", "netem", "delay", f"{arguments.delay_ms / 2}ms", "rate", f"{arguments.mbit}mbit", "limit", "10000"]
    for command in (["tc", "qdisc", "add", "dev", interface], ["tc", "-n", name, "qdisc", "add", "dev", inside]):
        done = subprocess.run([*command, *netem], capture_output=True, text=True, check=False)
        if "unknown" in done.stderr:
            return False
        done.check_returncode()
    return True


@contextmanager
def _relays(servers: list[Server], delay: float, rate: float) -> Iterator[list[str]]:
    """Start a relay to each server; yield the options that name the servers behind the relays."""
    running = []
    try:
        named = []
        for server in servers:
            address, port = server.address, free_port()
            ends = [OUTSIDE, str(port), address.host, str(address.port)]
            relay = subprocess.Popen(
                [sys.executable, "-m", "bench.relay", *ends, f"--delay={delay}", f"--rate={rate}"],
                stdout=subprocess.PIPE, text=True, cwd=ROOT,
            )  # fmt: skip
            running.append(relay)
            assert relay.stdout
            assert relay.stdout.readline() == "ready\n"
            account = f"{quote(address.user)}:{quote(address.password)}"
            named.append(f"--server={server.name}=mysql://{account}@{OUTSIDE}:{port}/")
        yield named
    finally:
        for relay in running:
            relay.terminate()
            relay.wait()


def _without_servers(words: list[str]) -> list[str]:
    """The command line without its --server options, which those of the relays replace."""
    others = []
    left = iter(words)
    for word in left:
        if word == "--server":
            next(left)
        elif not word.startswith("--server="):
            others.append(word)
    return others


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


if __name__ == "__main__":
    main()
