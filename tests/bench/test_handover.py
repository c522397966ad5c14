"""How near each other the processors are, measured beside whatever runs in a `with`."""

import os

import psutil
import pytest

from bench.handover import Handover

needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")


@needs_two
def test_it_looks_as_long_as_the_with_lasts():
    with Handover() as handover:
        (running,) = [each for each in psutil.Process().children() if each.name() == "handover"]
        assert handover.mean is None
    assert handover.mean > 0
    assert not running.is_running()


def test_with_a_single_processor_there_is_nothing_to_see():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with Handover() as handover:
            pass
    finally:
        os.sched_setaffinity(0, allowed)
    assert handover.mean is None
