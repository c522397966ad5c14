"""Each part of Millrace stays below its ceiling (tests/budget.py)."""

import pytest

from tests.budget import BUDGET, Part


@pytest.mark.parametrize("part", BUDGET, ids=str)
def test_the_part_is_not_larger_than_its_ceiling(part: Part):
    lines = part.lines()
    assert lines, "the part has moved"
    assert lines <= part.ceiling
