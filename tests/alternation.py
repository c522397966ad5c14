"""Which tests run on both kinds of server, MariaDB and MySQL, and on which one the others run.

Where the server itself is the subject (its SQL, the values it stores, its warnings, locks and files), the module is
marked `both_servers`. Every other test with the fixture `server` runs on one kind. A seed chooses it, so that both
kinds are tried in a few runs, and that the same seed repeats a run. `--every-server` runs all tests on both.
"""

import random
from collections import defaultdict

import pytest
import xxhash

MARKER = "both_servers"


def add_options(parser: pytest.Parser) -> None:
    """Add the options of this choice to pytest's command line."""
    group = parser.getgroup("servers")
    group.addoption("--every-server", action="store_true", help="run each test on each kind of server")
    group.addoption("--server-seed", type=int, help="chooses the kind of server of tests that run on one")


def choose_seed(config: pytest.Config) -> None:
    """Take a random seed if none is given."""
    if config.option.server_seed is None:
        config.option.server_seed = random.randrange(10_000)


def alternate(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests whose twin on the other kind of server runs."""
    if config.option.every_server:
        return
    twins = defaultdict(list)
    for item in items:
        if (flavour := _flavour(item)) and not item.get_closest_marker(MARKER):
            twins[_without(item.nodeid, flavour)].append(item)
    removed = []
    for name, group in twins.items():
        group.pop(_number(f"{config.option.server_seed} {name}") % len(group))
        removed += group
    if removed:
        config.hook.pytest_deselected(items=removed)
        names = {item.nodeid for item in removed}
        items[:] = [item for item in items if item.nodeid not in names]


def _flavour(item: pytest.Item) -> str:
    """The kind of server that the test was made for; "" if it has none."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get("server", "")) if callspec else ""


def _without(nodeid: str, flavour: str) -> str:
    """The test's name, which it shares with its twins."""
    name, _, parameters = nodeid.partition("[")
    return f"{name}[{'-'.join(each for each in parameters.removesuffix(']').split('-') if each != flavour)}]"


def _number(text: str) -> int:
    return xxhash.xxh32_intdigest(text.encode())
