"""Tests which kind of server a test runs on (alternation.py)."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import alternation

ROOT = Path(__file__).resolve().parent


def item(flavour: str, number: int, *, both: bool = False) -> Any:
    return SimpleNamespace(
        nodeid=f"tests/mysql/test_rows.py::test_all[{number}-{flavour}]",
        callspec=SimpleNamespace(params={"server": flavour}),
        get_closest_marker=lambda name: both and name == alternation.MARKER,
    )


def kept(items: list[Any], seed: int, *, every_server: bool = False) -> list[str]:
    """The names of the tests that run."""
    config: Any = SimpleNamespace(
        option=SimpleNamespace(server_seed=seed, every_server=every_server),
        hook=SimpleNamespace(pytest_deselected=lambda items: None),
    )
    left = list(items)
    alternation.alternate(config, left)
    return [each.nodeid for each in left]


TWINS = [item(flavour, number) for number in range(40) for flavour in ("mariadb", "mysql")]


@pytest.mark.parametrize("seed", [1, 2])
def test_one_of_two_twins_runs_and_both_kinds_have_some(seed):
    names = kept(TWINS, seed)
    assert [name.rpartition("-")[0] for name in names] == [each.nodeid.rpartition("-")[0] for each in TWINS[::2]]
    assert {name.rpartition("-")[2] for name in names} == {"mariadb]", "mysql]"}
    assert names == kept(TWINS, seed)


def test_another_seed_chooses_otherwise():
    assert kept(TWINS, 1) != kept(TWINS, 2)


def test_a_test_about_the_server_runs_on_both_and_one_without_a_twin_runs():
    marked = [item(flavour, 1, both=True) for flavour in ("mariadb", "mysql")]
    assert len(kept([*marked, item("mysql", 2)], 1)) == 3
    assert len(kept(TWINS, 1, every_server=True)) == len(TWINS)


def test_what_expects_something_else_of_each_kind_runs_on_both():
    asks = re.compile(r"server\.flavour ([!=]=|in)|\[server\.flavour\]|\(server\.flavour, ")
    modules = [each for each in ROOT.rglob("test_*.py") if asks.search(each.read_text())]
    assert len(modules) > 10
    assert [each for each in modules if alternation.MARKER not in each.read_text()] == []
