"""Which tests run on both kinds of server, MariaDB and MySQL, and which of the combinations of parameters run.

Where the server itself is the subject (its SQL, the values it stores, its warnings, locks and files), the module is
marked `both_servers`. Every other test with the fixture `server` runs on one kind.

A test that tries each case in several ways (sizes of chunks, modes of an import) names the parameters of these ways in
the marker `one_of`, if cases and ways have nothing to do with each other. Then each case runs in one way: with
`shared`, all tests of a module in the same one, which a fixture of the module makes for all.

The application's own tables are in SQLite or on a server (DATABASE_URL). The tests in TABLES depend on them. With
`--one-database` each of them runs on one kind of database: either in a run on SQLite or in one on a server.

Runs on several Pythons share their tests by `--share`, so that each test runs on one of them.

A seed chooses the kinds and the way, so that all are tried in a few runs, and that the same seed repeats a run.
`--every-case` runs all.
"""

import os
import random
from collections import defaultdict

import pytest
import xxhash
from django.db import connection

# Compare-and-set updates, concurrent claims, unique names, JSON, order, conditions and sums in SQL, and whole imports
# by real workers. The tests of reading, of the target and of forms use these tables only by the same few updates.
TABLES = (
    "tests/importer/history",
    "tests/importer/schedules",
    "tests/importer/notifications",
    "tests/importer/jobs/test_reject_counts.py",
    "tests/importer/jobs/test_lifecycle.py",
    "tests/importer/lab/test_lifecycle.py",
    "tests/importer/management/test_lab.py",
    "tests/importer/preparation/test_previous_imports.py",
    "tests/importer/preparation/test_presets.py",
    "tests/importer/worker/test_rejects.py",
    "tests/importer/worker/test_load_chunks.py",
    "tests/importer/test_targets.py",
    "tests/dashboard/channels/test_pages.py",
    "tests/dashboard/jobs/test_charts.py",
    "tests/dashboard/jobs/test_compare.py",
    "tests/dashboard/connections/test_pages.py",
    "tests/dashboard/history/test_pages.py",
    "tests/dashboard/jobs/test_detail.py",
    "tests/dashboard/jobs/test_list.py",
    "tests/dashboard/jobs/test_rejected_rows.py",
    "tests/dashboard/new_import/test_presets.py",
    "tests/dashboard/schedules/test_pages.py",
    "tests/dashboard/jobs/test_chunk_timings.py",
    "tests/dashboard/new_import/uploading/test_tus.py",
)
INHERITED = "MILLRACE_CASE_SEED"
BOTH_SERVERS, ONE_OF = "both_servers", "one_of"


def add_options(parser: pytest.Parser) -> None:
    """Add the options of this choice to pytest's command line."""
    group = parser.getgroup("alternation")
    group.addoption("--every-case", action="store_true", help="run each test on each kind of server and in each way")
    group.addoption("--one-database", action="store_true", help="leave tests of TABLES to a run with another database")
    group.addoption("--share", default="1/1", help="such as 1/2: the half of the tests that another run leaves out")
    group.addoption("--case-seed", type=int, help="chooses the kind of server and the way of tests that run in one")


def choose_seed(config: pytest.Config) -> None:
    """Take a random seed if none is given; the processes of a parallel run inherit it."""
    if config.option.case_seed is None:
        config.option.case_seed = int(os.environ.setdefault(INHERITED, str(random.randrange(10_000))))


def alternate(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests of which a twin runs."""
    if config.option.every_case:
        return
    seed = config.option.case_seed
    share, shares = (int(each) for each in config.option.share.split("/"))
    twins = defaultdict(list)
    for item in items:
        twins[_name(item)].append(item)
    removed = []
    for group in twins.values():
        chosen = group.pop(_number(f"{seed} {_chooser(group[0])}") % len(group))
        removed += group
        if _number(f"{chosen.nodeid} {seed}") % shares != share - 1:
            removed.append(chosen)
            continue
        if config.option.one_database and _runs_elsewhere(chosen, seed):
            removed.append(chosen)
    if removed:
        config.hook.pytest_deselected(items=removed)
        gone = {id(item) for item in removed}
        items[:] = [item for item in items if id(item) not in gone]


def _chooser(item: pytest.Item) -> str:
    """The text that chooses the way, together with the seed: the id of the test, or the path of its module."""
    is_shared = any(mark.kwargs.get("shared") for mark in item.iter_markers(ONE_OF))
    return item.nodeid.partition("::")[0] if is_shared else item.nodeid


def _runs_elsewhere(item: pytest.Item, seed: int) -> bool:
    """Whether the test runs with another kind of database for the application's tables.

    All cases of a test run with the same one: which of them are chosen depends on the servers that a run has.
    """
    if not item.nodeid.startswith(TABLES):
        return False
    on_server = _number(f"{seed} {item.nodeid.partition('[')[0]}") % 2 == 1
    return on_server != (connection.vendor == "mysql")


def _name(item: pytest.Item) -> object:
    """What the test shares with its twins, and no other test has."""
    callspec = getattr(item, "callspec", None)
    ways = {name for mark in item.iter_markers(ONE_OF) for name in mark.args}
    if not item.get_closest_marker(BOTH_SERVERS):
        ways.add("server")
    if not callspec or ways.isdisjoint(callspec.params):
        return id(item)  # the tests that schemathesis makes all have the same nodeid
    # Twins have the very same values; not all values can be compared.
    others = sorted((name, id(value)) for name, value in callspec.params.items() if name not in ways)
    return item.nodeid.partition("[")[0], *others


def _number(text: str) -> int:
    return xxhash.xxh32_intdigest(text.encode())
