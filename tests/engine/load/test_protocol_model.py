"""The protocol that loads each chunk exactly once, on random schedules of a model (protocol_model.py)."""

import pytest

from tests.engine.load.protocol_model import CASES, NO_HANDS, Sealed, Unsealed, find, play


def test_without_seals_a_row_comes_twice_soon():
    schedule = find(Unsealed(), range(1000), {*CASES, NO_HANDS})
    assert 0 < len(schedule) <= 5
    assert "times in the table" in play(Unsealed(), schedule)
    assert not play(Sealed(), schedule)


def test_with_seals_each_row_comes_once_and_nobody_is_accused_for_nothing():
    assert find(Sealed(), range(10_000)) == []


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_the_server_cannot_tell_is_not_noticed(case: str):
    assert find(Sealed(), range(10_000), CASES - {case})
