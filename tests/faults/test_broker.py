"""Redis stands still, or holds many messages: pages and imports continue, and nothing stays in it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from django.test import Client
from django.urls import reverse

from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import ImportJob
from importer.queue import Message, send
from tests.faults.conftest import Disturbed
from tests.faults.keyless import Keyless
from tests.people import admin
from tests.stack import Stack, wait_until
from tests.targets import on_one_server

QUEUES = ("load", "control", "scan")


@contextmanager
def frozen(stack: Stack) -> Iterator[None]:
    """Redis is stopped, not gone: connections stay open, and nothing answers."""
    assert stack.redis.process
    stack.redis.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        stack.redis.process.send_signal(signal.SIGCONT)


@on_one_server
def test_redis_stands_still(disturbed: Disturbed, stack: Stack):
    disturbed.in_the_middle()
    client = Client()
    client.force_login(admin("root"))
    with frozen(stack):
        assert client.get(reverse("job", args=[disturbed.job.pk])).status_code == 200
        assert client.get(reverse("readyz")).status_code == 503
        commands.pause(disturbed.job.pk)
        assert ImportJob.objects.get(pk=disturbed.job.pk).status == ImportJob.Status.PAUSED
        commands.resume(disturbed.job.pk)
        assert ImportJob.objects.get(pk=disturbed.job.pk).status == ImportJob.Status.LOADING
    disturbed.ends_well()


@on_one_server
def test_redis_comes_and_goes(disturbed: Disturbed, stack: Stack):
    disturbed.in_the_middle()
    for _ in range(3):
        stack.redis.kill()
        stack.redis.start()
        redis.Redis.from_url(stack.redis.url).client_kill_filter(_type="normal")
    disturbed.ends_well()


@on_one_server
def test_messages_that_were_never_sent_are_sent_by_the_sweep(keyless: Keyless):
    """As if the web process had died between its commit and the message: only the database knows of the job."""
    lifecycle.advance(keyless.job.pk)
    assert keyless.ends(ImportJob.Status.SUCCEEDED).balanced


@on_one_server  # Redis does not know where rows go.
def test_messages_leave_nothing_in_redis(disturbed: Disturbed, stack: Stack):
    """Celery keeps a result of each task for a day unless told otherwise."""
    disturbed.ends_well()
    broker = redis.Redis.from_url(stack.redis.url)
    wait_until(lambda: not broker.llen("load"), what="all messages are taken")
    before = {*broker.keys(), *(name.encode() for name in (*QUEUES, "unacked", "unacked_index"))}
    send([Message("load_run", 2**40)] * 300)
    assert broker.llen("load") > 0
    # Beat sends messages all the time, so that a few are always under way.
    wait_until(lambda: not broker.llen("load") and broker.hlen("unacked") < 10, what="300 messages are taken")
    assert set(broker.keys()) <= before
