"""Kill any process at any moment: no row is lost and none comes twice."""

import os
import signal

import redis

from importer.jobs.actions import commands
from importer.models import Chunk, ImportJob
from tests.faults.conftest import ROWS, Disturbed
from tests.stack import Stack, wait_until
from tests.targets import TestServer, on_one_server


def test_undisturbed(disturbed: Disturbed):
    disturbed.ends_well()


def test_a_pool_child_is_killed(disturbed: Disturbed, stack: Stack):
    disturbed.in_the_middle()
    os.kill(stack.load_worker.children()[0], signal.SIGKILL)
    disturbed.ends_well()


def test_the_whole_worker_is_killed(disturbed: Disturbed, stack: Stack):
    disturbed.in_the_middle()
    stack.load_worker.kill()
    stack.load_worker.start()
    disturbed.ends_well()


@on_one_server
def test_the_worker_that_scans_is_killed(disturbed: Disturbed, stack: Stack):
    wait_until(lambda: Chunk.objects.filter(job=disturbed.job).exists())
    stack.control_worker.kill()
    stack.control_worker.start()
    disturbed.ends_well()


@on_one_server
def test_redis_loses_everything(disturbed: Disturbed, stack: Stack):
    disturbed.in_the_middle()
    redis.Redis.from_url(stack.redis.url).flushall()
    stack.redis.kill()
    stack.redis.start()
    disturbed.ends_well()


def test_the_server_is_killed(disturbed: Disturbed, server: TestServer):
    disturbed.in_the_middle()
    server.kill()
    server.start()
    disturbed.ends_well()


@on_one_server
def test_every_message_comes_twice(disturbed: Disturbed):
    """A broker that delivers again what was taken already: the copies find nothing to do."""
    from config.celery import app

    disturbed.in_the_middle()
    for pk in Chunk.objects.filter(job=disturbed.job).values_list("pk", flat=True):
        app.send_task("importer.tasks.load_run", (pk,))
    disturbed.ends_well()


def test_cancel_ends_running_loads_and_retry_loads_the_rest(disturbed: Disturbed):
    disturbed.in_the_middle()
    commands.cancel(disturbed.job.pk)
    wait_until(lambda: ImportJob.objects.get(pk=disturbed.job.pk).ended, seconds=10, what="cancelled within 10 s")
    job = ImportJob.objects.get(pk=disturbed.job.pk)
    assert job.status == ImportJob.Status.CANCELLED
    disturbed.no_connection_is_left()
    assert disturbed.contents()[0] == job.loaded_rows < ROWS
    commands.retry(job.pk)
    disturbed.ends_well()


def test_pause_lets_loads_finish_and_resume_goes_on(disturbed: Disturbed):
    disturbed.in_the_middle()
    commands.pause(disturbed.job.pk)
    wait_until(lambda: not Chunk.objects.filter(job=disturbed.job, status__in=Chunk.IN_FLIGHT).exists())
    assert ImportJob.objects.get(pk=disturbed.job.pk).status == ImportJob.Status.PAUSED
    assert disturbed.contents()[0] == ImportJob.objects.get(pk=disturbed.job.pk).loaded_rows
    commands.resume(disturbed.job.pk)
    disturbed.ends_well()


def test_parallelism_changes_while_it_runs(disturbed: Disturbed):
    disturbed.in_the_middle()
    commands.set_parallelism(disturbed.job.pk, 1)
    assert ImportJob.objects.get(pk=disturbed.job.pk).parallelism == 1
    disturbed.ends_well()
