"""Which tests run on both kinds of server, MariaDB and MySQL, and which of the combinations of parameters run.

Where the server itself is the subject (its SQL, the values it stores, its warnings, locks and files), the module is
marked `both_servers`. Every other test with the fixture `server` runs on one kind.

A test that tries each case in several ways (sizes of chunks, modes of an import) names the parameters of these ways in
the marker `one_of`, if cases and ways have nothing to do with each other. Then each case runs in one way.

A seed chooses the kind and the way, so that all are tried in a few runs, and that the same seed repeats a run.
`--every-case` runs all.
"""

import random
from collections import defaultdict

import pytest
import xxhash

BOTH_SERVERS, ONE_OF = "both_servers", "one_of"


def add_options(parser: pytest.Parser) -> None:
    """Add the options of this choice to pytest's command line."""
    group = parser.getgroup("alternation")
    group.addoption("--every-case", action="store_true", help="run each test on each kind of server and in each way")
    group.addoption("--case-seed", type=int, help="chooses the kind of server and the way of tests that run in one")


def choose_seed(config: pytest.Config) -> None:
    """Take a random seed if none is given."""
    if config.option.case_seed is None:
        config.option.case_seed = random.randrange(10_000)


def alternate(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests of which a twin runs."""
    if config.option.every_case:
        return
    twins = defaultdict(list)
    for item in items:
        twins[_name(item)].append(item)
    removed = []
    for group in twins.values():
        group.pop(_number(f"{config.option.case_seed} {group[0].nodeid}") % len(group))
        removed += group
    if removed:
        config.hook.pytest_deselected(items=removed)
        names = {item.nodeid for item in removed}
        items[:] = [item for item in items if item.nodeid not in names]


def _name(item: pytest.Item) -> object:
    """What the test shares with its twins, and no other test has."""
    callspec = getattr(item, "callspec", None)
    ways = {name for mark in item.iter_markers(ONE_OF) for name in mark.args}
    if not item.get_closest_marker(BOTH_SERVERS):
        ways.add("server")
    if not callspec or ways.isdisjoint(callspec.params):
        return item.nodeid
    # Twins have the very same values; not all values can be compared.
    others = sorted((name, id(value)) for name, value in callspec.params.items() if name not in ways)
    return item.nodeid.partition("[")[0], *others


def _number(text: str) -> int:
    return xxhash.xxh32_intdigest(text.encode())
