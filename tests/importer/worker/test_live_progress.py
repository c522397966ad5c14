"""The live counters, in a real Redis."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from importer.worker import live_progress
from importer.worker.hosts import presence
from importer.worker.live_progress import Times

JOB = 7


def test_sent_bytes_of_runs_add_up_until_they_end(redis):
    first, second = live_progress.SentBytes(JOB, "first"), live_progress.SentBytes(JOB, "second")
    first.chunk_progress(100)
    second.chunk_progress(20)
    assert live_progress.sent_bytes(JOB) == 120
    first.clear()
    assert live_progress.sent_bytes(JOB) == 20
    second.clear()
    assert live_progress.sent_bytes(JOB) == 0


def test_recorded_bytes_are_no_longer_in_flight(redis):
    sent = live_progress.SentBytes(JOB, "run")
    sent.chunk_progress(100)
    sent.chunk_committed(100)
    sent.bytes_recorded(100)
    assert live_progress.sent_bytes(JOB) == 0


def test_the_counter_of_a_killed_worker_expires(redis):
    live_progress.SentBytes(JOB, "killed").chunk_progress(100)
    keys = redis.keys("*")
    assert len(keys) == 2
    assert all(0 < redis.ttl(key) <= live_progress.KEPT_SECONDS for key in keys)


@pytest.mark.parametrize("written", ["x", b"\xff", "", "1.5"])
def test_what_somebody_else_has_written_is_no_progress(redis, written):
    redis.hset(live_progress._key(JOB), "run", written)
    redis.hset(live_progress._stage_key(JOB), mapping={"percent": written})
    redis.set(f"{presence.PREFIX}load@a", written)
    assert live_progress.sent_bytes(JOB) == 0
    assert live_progress.restore_progress(JOB) is None
    assert presence.parallel_loads() == 0
    redis.delete(live_progress._stage_key(JOB))
    redis.set(live_progress._stage_key(JOB), "no hash")
    assert live_progress.restore_progress(JOB) is None


def test_the_share_in_which_a_worker_computes_is_that_of_its_last_interval(redis):
    times = iter([Times(100.0, 7.0), Times(100.4, 7.4), Times(102.4, 7.9), Times(103.4, 8.8)])
    sent = live_progress.SentBytes(JOB, "run", lambda: next(times))
    sent.chunk_progress(1)
    assert live_progress.busy_share(JOB) is None, "0.4 seconds are too short"
    sent.chunk_progress(2)
    assert live_progress.busy_share(JOB) == 0.25
    sent.chunk_progress(3)
    assert live_progress.busy_share(JOB) == 0.9
    sent.clear()
    assert live_progress.busy_share(JOB) is None


def test_the_computing_of_other_threads_does_not_count():
    own = Times.now()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(Times.now).result().computed < own.computed, "a new thread has computed less than this one"
