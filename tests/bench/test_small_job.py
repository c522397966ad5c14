"""Tests how the trace of a small import is made from the time stamps of its chunks."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bench.small_job import Trace, _transactions, merged

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def chunk(number: int, run: str, began: float, ended: float) -> SimpleNamespace:
    timings = {"load": ended - began}
    return SimpleNamespace(number=number, run=run, started_at=after(began), finished_at=after(ended), timings=timings)


def test_idle_is_the_time_without_a_load_on_any_session():
    loads = ((0.5, 1.0), (0.75, 2.0), (2.5, 3.0), (2.75, 2.8))
    assert list(merged(loads)) == [(0.5, 2.0), (2.5, 3.0)]
    assert Trace((), loads, seen=4.0, cpu=0.0).idle == pytest.approx(2.0)
    assert Trace((), (), seen=4.0, cpu=0.0).idle == 4.0


def test_chunks_that_shared_a_transaction_are_one_load():
    chunks = [chunk(0, "a", 0, 1), chunk(1, "a", 1, 2), chunk(2, "b", 2, 3), chunk(3, "b", 4, 5)]
    job = SimpleNamespace(chunks=SimpleNamespace(order_by=lambda _: chunks))
    found = [(began, ended, timings["load"]) for _, began, ended, timings in _transactions(job)]
    assert found == [(after(0), after(2), 2), (after(2), after(3), 1), (after(4), after(5), 1)]
