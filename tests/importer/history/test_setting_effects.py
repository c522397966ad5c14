"""A gain of a setting is reported only if runs that differ in that setting alone clearly differ in speed."""

import pytest

from importer.history.facts import FACTS
from importer.history.query import Query
from importer.history.setting_effects import differences, untried
from importer.models import JobFact, JobRecord
from tests.dashboard.job_data import Status, make_job
from tests.importer.history.own_pace import OTHER_PACE

pytestmark = pytest.mark.django_db

USUAL = {
    "table": "shop.orders",
    "target": "warehouse",
    "mode": "append",
    "method": "load_data_local",
    "parallelism": 2,
    "chunk_bytes": 8 * 2**20,
    "indexes": "keep",
    "data_bytes": 10**8,
    "rows_before": 0,
    "secondary_keys": 2,
    "planned_parallelism": None,
}
RATES = (100, 101, 103, 104)


def remember(rate, **changed):
    """Store an import that ran at this rate, with some facts changed; None makes a fact unknown."""
    record = JobRecord.objects.create(job=make_job(Status.SUCCEEDED, chunks=1))
    facts = {name: value for name, value in (USUAL | changed).items() if value is not None}
    JobFact.objects.bulk_create(
        JobFact(record=record, name=name, number=None, text=value)
        if isinstance(value, str)
        else JobFact(record=record, name=name, number=value, text="")
        for name, value in (facts | {"overall_rows_per_second": rate, "ended": record.pk}).items()
    )


def gains():
    return [(each.fact.name, each.value, each.against, round(each.times, 2)) for each in differences(Query()).gains]


def test_runs_that_differ_in_one_setting_are_compared(db):
    for rate in RATES:
        remember(rate)
        remember(rate * 2, indexes="defer")
    assert gains() == [("indexes", "defer", "keep", 2.0)]
    (gain,) = differences(Query()).gains
    assert (gain.better.jobs, gain.other.jobs) == (4, 4)


@pytest.mark.parametrize(
    ("keep", "defer"),
    [
        pytest.param(RATES, (210, 211, 212), id="three runs are not enough"),
        pytest.param((100, 101, 102, 205), (200, 210, 211, 212), id="they overlap"),
        pytest.param(RATES, (106, 107, 108, 109), id="too little to matter"),
    ],
)
def test_no_gain_is_reported_without_a_clear_difference(db, keep, defer):
    for rate in keep:
        remember(rate)
    for rate in defer:
        remember(rate, indexes="defer")
    effects = differences(Query())
    assert effects.gains == ()
    assert effects.unclear == (FACTS["indexes"],)


def test_a_single_run_in_each_group_says_nothing_of_the_noise(db):
    for number, size in enumerate((10**5, 10**6, 10**7, 10**8)):
        remember(100 * 2**number, data_bytes=size)
        remember(120 * 2**number, data_bytes=size, indexes="defer")
    assert gains() == []


@pytest.mark.parametrize(
    "other",
    [
        *({"parallelism": 4}, {"server_digest": "later"}, {"data_bytes": 10**6}),
        # The planner defers the keys of an empty table only, and commits fewer rows at a time to reject bad ones.
        *({"rows_before": 90_000_000}, {"on_error": "reject"}),
        *({"secondary_keys": 3}, {"unique_keys": 1}, {"table_foreign_keys": 1}, {"insert_triggers": 1}),
    ],
)
def test_no_gain_is_reported_if_another_fact_differs_too(db, other):
    for rate in RATES:
        remember(rate)
        remember(rate * 2, indexes="defer", **other)
    assert "indexes" not in [name for name, *_ in gains()]


def test_tables_of_a_similar_size_are_compared(db):
    for number, rate in enumerate(RATES):
        remember(rate, rows_before=1_000_000 + 50_000 * number)
        remember(rate * 2, rows_before=1_100_000 + 50_000 * number, indexes="defer")
    assert gains() == [("indexes", "defer", "keep", 2.0)]


@pytest.mark.parametrize("other_pace", OTHER_PACE)
def test_imports_whose_pace_was_not_their_own_are_left_out(db, other_pace):
    for rate in RATES:
        remember(rate, **other_pace)
        remember(rate * 2, indexes="defer")
    effects = differences(Query())
    assert (effects.gains, effects.unclear, effects.jobs) == ((), (), 4)


def test_a_single_outlier_among_many_runs_does_not_hide_a_gain(db):
    for rate in (100, 101, 102, 103, 104, 105, 106, 107):
        remember(rate)
        remember(rate * 1.5, parallelism=4)
    remember(40, parallelism=4)
    assert [name for name, *_ in gains()] == ["parallelism"]


def test_untried_settings_make_sense_for_the_table(db):
    assert list(untried(Query())) == []
    remember(100)
    assert {each.grid for each in untried(Query())} == {"indexes", "chunks"}
    remember(100, indexes="defer", parallelism=4, chunk_bytes=2**20, key_ascending=0.2)
    assert [each.grid for each in untried(Query())] == ["own"]
