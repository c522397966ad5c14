"""Labs that are disturbed at random moments. Not collected by itself: tests/faults/lab.py runs it."""

import time

import pytest

from importer import lab
from importer.engine.errors import Problem
from tests.faults import disturbances as by
from tests.faults.trying import Trying
from tests.stack import Stack
from tests.targets import TestServer


@pytest.mark.parametrize("number", range(by.how_many()))
def test_at_a_random_moment(trying: Trying, stack: Stack, server: TestServer, number: int):
    """Each disturbance in turn, at a moment from the start of a lab to its usual end."""

    def cancel(_stack: Stack, _server: TestServer) -> None:
        try:
            lab.cancel(trying.lab.pk)
        except Problem:
            assert trying.now().status in ("ending", "done")

    kills = (by.kill_workers, by.kill_control, by.kill_control_children, by.kill_load, by.kill_server)
    each = (*kills, cancel, by.flush_redis)
    seconds = by.random_moment(5)
    disturb = each[number % len(each)]
    trying.start()
    time.sleep(seconds)
    during = trying.now()
    disturb(stack, server)
    ended = trying.ends("done", "cancelled")
    over = ended.trials.filter(status="done").count()
    print(f"{number + 1}: {disturb.__name__} after {seconds:.2f} s ({during.status}): {ended.status}, {over} trials")
