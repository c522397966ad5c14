"""What earlier imports into a table make the planner prefer."""

import pytest

from importer.engine.plan.options import Options
from importer.engine.plan.previous_imports import Past, PastImport
from tests.engine.planner.test_planner import plan, why


def runs(parallelism: int, *rates: float, method: str = "load_data_local", indexes: str = "keep") -> list[PastImport]:
    return [PastImport(method, indexes, parallelism, rate) for rate in rates]


def past(*groups: list[PastImport]) -> Past:
    return Past(tuple(run for group in groups for run in group))


USUAL, FAST = runs(6, 100, 105, 105, 110), (1000, 1000, 1000, 1000)
CLEAR = past(USUAL, runs(3, 160, 165, 165, 165, 170))


def test_what_was_clearly_faster_is_chosen_and_told():
    made = plan(past=CLEAR)
    assert made.parallelism == 3
    assert why(made, "3 in parallel").startswith(
        "it was measured 1.6 times faster here (5 imports against 4), compared with 6"
    )


@pytest.mark.parametrize(
    "evidence",
    [
        past(),
        past(runs(3, *FAST)),
        past(USUAL, runs(3, *FAST[1:])),
        past(USUAL[1:], runs(3, *FAST)),
        past(USUAL, runs(3, 112, 113, 113, 113)),
        past(USUAL, runs(3, 109, 400, 400, 400)),
        past(runs(6, *FAST), runs(3, 100, 105, 105, 110)),
        past(USUAL, runs(3, *FAST, indexes="defer")),
        past(USUAL, runs(3, *FAST, method="insert")),
    ],
    ids=[
        "nothing",
        "no default",
        "three runs",
        "three defaults",
        "little",
        "overlap",
        "slower",
        "other keys",
        "other method",
    ],
)
def test_thin_evidence_leaves_the_default(evidence: Past):
    assert plan(past=evidence).parallelism == 6


def test_what_is_asked_for_counts_more():
    assert plan(past=CLEAR, options=Options(parallelism=2)).parallelism == 2
    assert plan(past=CLEAR, options=Options(on_duplicate="skip")).parallelism == 1


def test_any_setting_can_be_asked_about():
    found = past(runs(2, *[100] * 4), runs(2, *[150] * 5, indexes="defer")).preferred("indexes", "keep")
    assert found
    assert (found.value, str(found)) == ("defer", "it was measured 1.5 times faster here (5 imports against 4)")
