from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.history.chunks.throughput import Span, throughput

moments = st.floats(-10, 100_000)
spans = st.lists(
    st.tuples(moments, moments, st.integers(0, 10**9), st.integers(0, 10**12)).map(
        lambda values: Span(min(values[:2]), max(values[:2]), *values[2:])
    ),
    max_size=30,
)


@given(spans, st.floats(0.001, 100_000), st.integers(1, 600))
def test_no_row_is_lost_or_doubled_however_spans_and_steps_meet(spans, seconds, most_steps):
    steps = throughput(spans, seconds, most_steps)
    assert sum(step.rows for step in steps) == pytest.approx(sum(span.rows for span in spans), rel=1e-6, abs=1e-6)
    assert sum(step.bytes for step in steps) == pytest.approx(sum(span.bytes for span in spans), rel=1e-6, abs=1e-6)


@given(spans, st.floats(0.001, 100_000), st.integers(1, 600))
def test_steps_cover_the_whole_time_once(spans, seconds, most_steps):
    steps = throughput(spans, seconds, most_steps)
    assert len(steps) <= most_steps
    assert (steps[0].start, steps[-1].end) == (0, seconds)
    assert all(before.end == after.start for before, after in pairwise(steps))
    assert all(step.end > step.start and step.rows >= 0 for step in steps)


def test_one_long_chunk_is_a_level_curve_and_not_a_spike():
    steps = throughput([Span(0, 60, 6_000, 12_000)], 60)
    assert [round(step.rows_per_second, 6) for step in steps] == [100] * len(steps)
    assert [round(step.bytes_per_second, 6) for step in steps] == [200] * len(steps)
    assert len(steps) == 600


def test_parallel_chunks_add_up():
    steps = throughput([Span(0, 10, 1000), Span(5, 15, 1000)], 20, most_steps=4)
    assert [step.rows_per_second for step in steps] == pytest.approx([100, 200, 100, 0])


def test_a_pause_is_a_gap():
    steps = throughput([Span(0, 1, 10), Span(3, 4, 10)], 4, most_steps=4)
    assert [step.rows for step in steps] == pytest.approx([10, 0, 0, 10])


def test_a_chunk_without_duration_counts_where_it_ended():
    steps = throughput([Span(2.5, 2.5, 7)], 4, most_steps=4)
    assert [step.rows for step in steps] == [0, 0, 7, 0]


def test_a_short_last_step_does_not_spike():
    # Ten seconds and a hair: the hair belongs to the last whole step.
    steps = throughput([Span(0, 10.001, 10_001)], 10.001, most_steps=10)
    assert max(step.rows_per_second for step in steps) == pytest.approx(1000)


def test_a_clock_that_was_set_back_loses_no_rows():
    assert sum(step.rows for step in throughput([Span(-5, -1, 3), Span(90, 99, 4)], 10)) == 7


def test_a_job_that_has_not_begun_has_no_curve():
    assert throughput([], 0) == []
