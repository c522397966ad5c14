"""What the workers tell of themselves, asked of real ones and of a real Redis."""

from importer.worker import live_progress, presence
from tests.stack import Stack, wait_until


def test_running_workers_tell_how_many_chunks_they_load_at_once(stack: Stack):
    live_progress.connection.cache_clear()
    # The stack's load worker has two processes; those of the control worker load nothing.
    wait_until(lambda: len(presence.living()) == 2, what="both workers to give a sign of life")
    assert presence.loads_at_once() == 2


def test_workers_of_several_machines_add_up(redis):
    presence.sign_of_life("load@a", 4)
    presence.sign_of_life("load@b", 3)
    presence.sign_of_life("control@a", 2)
    assert presence.loads_at_once() == 7
    presence.farewell("load@a")
    assert presence.loads_at_once() == 3


def test_nobody_knows_without_redis(settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock?db=0"
    live_progress.connection.cache_clear()
    assert presence.loads_at_once() == 0
    live_progress.connection.cache_clear()
