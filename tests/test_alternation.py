"""Tests which of several combinations of a test run (alternation.py)."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import alternation

ROOT = Path(__file__).resolve().parent


def item(case: int, *, both: bool = False, one_of: tuple[str, ...] = (), shared: bool = False, **ways: int) -> Any:
    """A test with this case, tried in these ways."""
    return SimpleNamespace(
        nodeid=f"test_rows.py::test_all[{case}-{'-'.join(str(each) for each in ways.values())}]",
        callspec=SimpleNamespace(params={"case": case, **ways}),
        get_closest_marker=lambda name: both and name == alternation.BOTH_SERVERS,
        iter_markers=lambda name: [SimpleNamespace(args=one_of, kwargs={"shared": shared})],
    )


def config(seed: int, *, every_case: bool = False, one_database: bool = False, share: str = "1/1") -> Any:
    return SimpleNamespace(
        option=SimpleNamespace(case_seed=seed, every_case=every_case, one_database=one_database, share=share),
        hook=SimpleNamespace(pytest_deselected=lambda items: None),
    )


def kept(items: list[Any], seed: int, **options: Any) -> list[dict[str, int]]:
    """The parameters of the tests that run."""
    left = list(items)
    alternation.alternate(config(seed, **options), left)
    return [each.callspec.params for each in left]


TWINS = [item(case, server=kind) for case in range(40) for kind in (0, 1)]


@pytest.mark.parametrize("seed", [1, 2])
def test_one_of_two_twins_runs_and_both_kinds_have_some(seed):
    run = kept(TWINS, seed)
    assert [each["case"] for each in run] == list(range(40))
    assert {each["server"] for each in run} == {0, 1}
    assert run == kept(TWINS, seed)


def test_another_seed_chooses_otherwise():
    assert kept(TWINS, 1) != kept(TWINS, 2)
    assert len(kept(TWINS, 1, every_case=True)) == len(TWINS)


def test_each_test_is_in_one_share_and_another_seed_shares_otherwise():
    first, second = (kept(TWINS, 1, share=each) for each in ("1/2", "2/2"))
    assert sorted(each["case"] for each in first + second) == list(range(40))
    assert first
    assert second
    assert kept(TWINS, 2, share="1/2") != first


def test_a_test_about_the_server_runs_on_both_and_one_without_a_twin_runs():
    assert len(kept([item(1, both=True, server=0), item(1, both=True, server=1), item(2, server=1)], 1)) == 3


def test_of_a_named_parameter_one_value_runs_and_of_others_all():
    ways = [
        item(case, both=True, one_of=("size",), server=kind, size=size, mode=mode)
        for case in range(9) for kind in (0, 1) for size in (0, 1, 2) for mode in (0, 1)
    ]  # fmt: skip
    run = kept(ways, 3)
    assert len(run) == len(ways) / 3
    assert len({(each["case"], each["server"], each["mode"]) for each in run}) == len(run)
    assert {each["size"] for each in run} == {0, 1, 2}


def test_a_way_that_a_module_shares_is_the_same_for_all_its_tests():
    ways = [item(case, one_of=("site",), shared=True, site=site) for site in (0, 1) for case in range(9)]
    sites = [{each["site"] for each in kept(ways, seed)} for seed in range(9)]
    assert {len(each) for each in sites} == {1}
    assert set.union(*sites) == {0, 1}


def test_a_test_of_tables_runs_with_one_kind_of_database(monkeypatch):
    on = {}
    for vendor in ("sqlite", "mysql"):
        monkeypatch.setattr(alternation, "connection", SimpleNamespace(vendor=vendor))
        some = [SimpleNamespace(nodeid=f"{folder}test_{n}.py::test", iter_markers=lambda name: [],
                                get_closest_marker=lambda name: None, callspec=None)
                for n in range(20) for folder in ("", alternation.TABLES[0] + "/")]  # fmt: skip
        alternation.alternate(config(1, one_database=True), some)
        on[vendor] = {each.nodeid for each in some}
    assert sorted(on["sqlite"] & on["mysql"]) == sorted(f"test_{n}.py::test" for n in range(20))
    assert len(on["sqlite"] | on["mysql"]) == 40
    assert on["sqlite"] - on["mysql"]
    assert on["mysql"] - on["sqlite"]


def test_what_expects_something_else_of_each_kind_runs_on_both():
    asks = re.compile(r"server\.flavour ([!=]=|in)|\[server\.flavour\]|\(server\.flavour, ")
    modules = [each for each in ROOT.rglob("test_*.py") if asks.search(each.read_text())]
    assert len(modules) > 10
    assert [each for each in modules if alternation.BOTH_SERVERS not in each.read_text()] == []
