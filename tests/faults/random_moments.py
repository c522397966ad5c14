"""Imports whose keys are off, disturbed at random moments. Not collected by itself: tests/faults/indexes.py runs it."""

import time

import pytest

from importer import jobs
from importer.engine.errors import Problem
from tests.faults import disturbances as by
from tests.faults.keyless import Keyless, Status
from tests.stack import Stack
from tests.targets import TestServer


@pytest.mark.parametrize("number", range(by.how_many()))
def test_at_a_random_moment(keyless: Keyless, stack: Stack, server: TestServer, number: int):
    """Each disturbance in turn, at a moment from the start of a job to its usual end."""

    def cancel(_stack: Stack, _server: TestServer) -> None:
        try:
            jobs.cancel(keyless.job.pk)
        except Problem:
            assert keyless.now().status in (Status.INDEXING, Status.VERIFYING, Status.SUCCEEDED)

    each = (by.kill_load, by.kill_control, by.kill_load_children, by.kill_server, cancel, by.flush_redis)
    seconds = by.random_moment(4)
    disturb = each[number % len(each)]
    keyless.start()
    time.sleep(seconds)
    during = keyless.now()
    disturb(stack, server)
    job = keyless.ends(Status.SUCCEEDED, Status.CANCELLED)
    print(f"{number + 1}: {disturb.__name__} after {seconds:.2f} s ({during.status} {during.step}): {job.status}")
