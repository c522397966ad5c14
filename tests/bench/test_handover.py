"""Tests the handover time between two processors, measured during a `with`."""

import os

import psutil
import pytest

from bench.handover import Handover

needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")


@needs_two
def test_the_handover_is_measured_until_the_with_ends():
    with Handover() as handover:
        (running,) = [each for each in psutil.Process().children() if each.name() == "handover"]
        assert handover.mean is None
    assert handover.mean > 0
    assert not running.is_running()


def test_with_a_single_processor_the_handover_is_none():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with Handover() as handover:
            pass
    finally:
        os.sched_setaffinity(0, allowed)
    assert handover.mean is None
