"""The presence of real workers in a real Redis."""

from importer.worker import live_progress, presence
from tests.stack import Stack, wait_until


def test_live_workers_add_up_to_the_parallel_loads(stack: Stack):
    live_progress.connection.cache_clear()
    # The stack's load worker has two processes; those of the control worker load nothing.
    wait_until(lambda: len(presence.live_workers()) == 2, what="both workers to give a sign of life")
    assert presence.parallel_loads() == 2


def test_workers_of_several_machines_add_up(redis):
    presence.announce("load@a", 4)
    presence.announce("load@b", 3)
    presence.announce("control@a", 2)
    assert presence.parallel_loads() == 7
    presence.withdraw("load@a")
    assert presence.parallel_loads() == 3


def test_nobody_knows_without_redis(settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock?db=0"
    live_progress.connection.cache_clear()
    assert presence.parallel_loads() == 0
    live_progress.connection.cache_clear()
