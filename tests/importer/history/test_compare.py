"""When the comparison of two imports calls their difference clear, and which runs count."""

import re

import pytest

from importer.history.charts import TimingSpread
from importer.history.compare import compare, doubts, runs_like
from importer.history.facts import FACTS, Value
from importer.history.read import rows
from importer.models import JobFact
from tests.importer.history.own_pace import OTHER_PACE
from tests.sample_imports import made_up_imports

SLOW = (8.0, 8.2, 8.4, 9.0)


@pytest.mark.parametrize(
    ("fast", "slow", "doubt"),
    [
        pytest.param((10.0, 10.1, 10.2, 11.0), SLOW, "", id="clear"),
        pytest.param((10.0, 10.1, 11.0), SLOW, "with fewer than 4 runs of either, it may be chance", id="few"),
        pytest.param((8.9, 10.1, 10.2, 11.0), SLOW, "they overlap, so it may be chance", id="overlap"),
        pytest.param((9.2, 9.2, 9.2, 9.2), SLOW, "", id="a tenth"),
        pytest.param(
            (100.2, 100.3, 100.4, 100.5),
            (100.0, 100.0, 100.1, 100.1),
            "the medians differ by less than 10 %",
            id="tiny",
        ),
        pytest.param((7.0, *(10.0,) * 7), (*SLOW, *SLOW), "", id="an outlier among eight"),
    ],
)
def test_a_difference_is_clear_if_it_is_neither_chance_nor_tiny(fast, slow, doubt: str):
    one, other = TimingSpread.of(fast), TimingSpread.of(slow)
    assert (doubts(one, other), doubts(other, one)) == (doubt, doubt)


def put(job: int, **facts: Value) -> None:
    """Change facts of the import's record."""
    for name, value in facts.items():
        kept = {"number": None, "text": value} if isinstance(value, str) else {"number": value, "text": ""}
        JobFact.objects.update_or_create(record_id=job, name=name, defaults=kept)


@pytest.fixture
def runs(db):
    """Eight imports into one table that succeeded, four like the first one and four others, which are slower."""
    with made_up_imports(16, 16, tables=1) as made:
        jobs = [job for job, facts in made.items() if "rows_per_second" in facts][:8]
        for number, job in enumerate(jobs):
            like = "fast" if number < 4 else "slow"
            rate = 200.0 if number < 4 else 100.0
            put(job, settings_digest=like, overall_rows_per_second=rate + number, data_bytes=10_000_000)
        yield jobs


def test_runs_of_another_size_do_not_count_and_are_not_judged(runs: list[int]):
    put(runs[-1], data_bytes=10_000)
    assert runs_like(rows([runs[-1]], list(FACTS))[runs[-1]]).jobs == 1
    (verdict,) = compare([runs[0], runs[-2]]).verdicts
    assert verdict.words.startswith("4 of similar size like the first (spread 1 %), 3 like this one ")
    (verdict,) = compare([runs[0], runs[-1]]).verdicts
    assert (verdict.clear, verdict.words) == (
        False,
        "the sizes differ by more than a factor of 1.5, and a smaller import is slower by itself",
    )


def test_four_runs_each_are_clearly_different(runs: list[int]):
    (verdict,) = compare([runs[0], runs[-1]]).verdicts
    assert verdict.clear
    assert verdict.words.endswith(": the difference is clear")


@pytest.mark.parametrize("other_pace", OTHER_PACE)
def test_runs_whose_pace_was_not_their_own_do_not_count(runs: list[int], other_pace: dict[str, Value]):
    put(runs[-1], **other_pace)
    (verdict,) = compare([runs[0], runs[-2]]).verdicts
    assert not verdict.clear
    assert verdict.words.endswith("3 like this one (spread 1 %): with fewer than 4 runs of either, it may be chance")
    assert runs_like(rows([runs[-1]], list(FACTS))[runs[-1]]) is None
    (verdict,) = compare([runs[0], runs[-1]]).verdicts
    assert re.match("this one (took|was|waited|had) .+: its pace tells nothing about its settings$", verdict.words)
