"""The presence of real workers in a real Redis."""

import json

import pytest
from django.urls import reverse

from config.version import VERSION
from importer import queue
from importer.worker.hosts import presence
from tests.stack import Stack, wait_until


def test_live_workers_add_up_to_the_parallel_loads(stack: Stack):
    queue.connection.cache_clear()
    # The stack's load worker has two processes; those of the control worker load nothing.
    wait_until(lambda: len(presence.live_workers()) == 2, what="both workers to give a sign of life")
    assert presence.parallel_loads() == 2
    control, load = presence.live_workers()
    assert (control.role, load.role, control.host) == ("control", "load", load.host)
    assert (load.version, load.slots, load.queues, load.direct) == (VERSION, 2, ("load",), True)
    assert 0 <= load.silent <= presence.SILENCE_SECONDS


@pytest.mark.django_db
def test_the_page_of_readiness_names_the_queue_that_no_worker_serves(client, stack: Stack):
    def failing() -> list[str]:
        return client.get(reverse("readyz")).json()["failing"]

    queue.connection.cache_clear()
    wait_until(lambda: len(presence.live_workers()) == 2, what="both workers to give a sign of life")
    assert failing() == []
    stack.load_worker.stop()
    wait_until(lambda: len(presence.live_workers()) == 1, what="the load worker to end")
    assert failing() == ["queue load"]


def test_workers_of_several_machines_add_up(redis):
    presence.announce("load@a", 4)
    presence.announce("load@b", 3)
    presence.announce("control@a", 2)
    assert presence.parallel_loads() == 7
    presence.withdraw("load@a")
    assert presence.parallel_loads() == 3


def test_a_worker_of_another_version_may_tell_more_or_less(redis):
    redis.set(f"{presence.PREFIX}load@new", json.dumps({"version": "9.0", "slots": 2, "moods": ["good"]}), ex=20)
    redis.set(f"{presence.PREFIX}load@old", json.dumps({"slots": 1}), ex=20)
    new, old = presence.live_workers()
    assert (new.version, new.slots, new.queues) == ("9.0", 2, ())
    assert (old.version, old.slots) == ("", 1)


def test_nobody_knows_without_redis(settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock?db=0"
    queue.connection.cache_clear()
    assert presence.parallel_loads() == 0
    queue.connection.cache_clear()
