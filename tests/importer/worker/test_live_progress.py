"""The live counters, in a real Redis."""

from importer.worker import live_progress

JOB = 7


def test_runs_of_a_job_add_up_until_they_end(redis):
    first, second = live_progress.Sent(JOB, "first"), live_progress.Sent(JOB, "second")
    first.of_chunk(100)
    second.of_chunk(20)
    assert live_progress.sent_bytes(JOB) == 120
    first.forget()
    assert live_progress.sent_bytes(JOB) == 20
    second.forget()
    assert live_progress.sent_bytes(JOB) == 0


def test_what_is_recorded_is_in_flight_no_longer(redis):
    sent = live_progress.Sent(JOB, "run")
    sent.of_chunk(100)
    sent.whole(100)
    sent.recorded(100)
    assert live_progress.sent_bytes(JOB) == 0


def test_what_a_killed_worker_leaves_behind_goes_by_itself(redis):
    live_progress.Sent(JOB, "killed").of_chunk(100)
    [key] = redis.keys("*")
    assert 0 < redis.ttl(key) <= live_progress.KEPT_SECONDS
