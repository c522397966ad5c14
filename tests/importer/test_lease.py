"""Leases on the step of an import: one holder at a time, and an earlier holder changes nothing."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from importer import tasks
from importer.engine.load.finish import READ_TIMEOUT
from importer.engine.plan.server_file import LONGEST_SILENCE
from importer.jobs.steps.lease_recovery import expired_runs
from importer.jobs.steps.staging import CLEAN_AGAIN
from importer.lease import LONGEST_BACKOFF, MOST_FAILURES, Lease, backoff_seconds, lease_end, longest_lease
from importer.models import Chunk, ImportJob
from importer.models.outcomes.step_kinds import STEPS
from importer.worker.steps import IMPORT_STEPS
from tests.dashboard.job_data import make_job

pytestmark = pytest.mark.django_db
STEP = Lease(ImportJob, "step_")


@pytest.fixture
def job() -> ImportJob:
    return make_job(ImportJob.Status.LOADING, chunks=2)


def rows(job: ImportJob):
    return ImportJob.objects.filter(pk=job.pk)


def test_a_claimed_row_is_not_free_until_its_lease_expires(job):
    rows(job).update(step_lease=None)
    assert rows(job).filter(STEP.free()).exists()
    assert STEP.claim(rows(job).filter(STEP.free()))
    assert not STEP.claim(rows(job).filter(STEP.free()))
    rows(job).update(step_lease=timezone.now() - timedelta(seconds=1))
    assert rows(job).filter(STEP.expired()).exists()
    assert STEP.claim(rows(job).filter(STEP.free()))


def test_an_earlier_holder_neither_renews_nor_releases_nor_postpones(job):
    assert STEP.claim(rows(job))
    earlier = rows(job).get()
    assert STEP.claim(rows(job), step="scanning")
    before = rows(job).values().get()
    assert not STEP.renew(STEP.held(earlier), step_connection_id=7)
    STEP.release(earlier, step="")
    STEP.postpone(earlier, step="")
    assert rows(job).values().get() == before


def test_the_holder_renews_and_releases(job):
    STEP.claim(rows(job))
    holder = rows(job).get()
    rows(job).update(step_lease=timezone.now())
    assert STEP.renew(STEP.held(holder), step_connection_id=7)
    renewed = rows(job).get()
    assert abs(renewed.step_lease - lease_end()) < timedelta(seconds=30)
    assert renewed.step_connection_id == 7
    STEP.release(holder)
    assert rows(job).get().step_lease is None


def test_a_released_lease_is_not_renewed(job):
    STEP.claim(rows(job))
    holder = rows(job).get()
    STEP.release(holder)
    assert not STEP.renew(STEP.held(holder), step_connection_id=7)
    assert rows(job).filter(STEP.free(), step_connection_id=None).exists()


def test_a_postponed_row_waits_longer_with_each_failure(job):
    STEP.claim(rows(job))
    rows(job).update(step_failures=3, step_connection_id=7)
    assert STEP.postpone(rows(job).get()) == 8
    later = rows(job).get()
    assert (later.step_failures, later.step_connection_id) == (4, None)
    assert later.step_lease > timezone.now() + timedelta(seconds=5)
    assert not rows(job).filter(STEP.free()).exists()


def test_backoff_and_the_count_of_failures_have_a_limit(job):
    assert [backoff_seconds(failures) for failures in (0, 1, 2, 10, MOST_FAILURES)] == [1, 2, 4, *[LONGEST_BACKOFF] * 2]
    rows(job).update(step_failures=MOST_FAILURES)
    STEP.postpone(rows(job).get())
    assert rows(job).get().step_failures == MOST_FAILURES


def test_each_step_of_an_import_has_a_function_that_takes_it():
    assert {*STEPS, "load_run"} == IMPORT_STEPS.keys()


@pytest.mark.parametrize("task", [*IMPORT_STEPS, "take_lab", "take_run"])
def test_work_under_a_lease_is_not_killed_before_its_server_was_silent_for_too_long(task):
    assert getattr(tasks, task).time_limit > max(READ_TIMEOUT, LONGEST_SILENCE)


@pytest.mark.parametrize("jump", [timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)])
class TestClockSetBack:
    """What was written before the clock was set back lies ahead by as much."""

    def test_a_lease_ends_after_its_length_from_now_on(self, job, jump):
        later = timezone.now() + jump
        job.chunks.update(status=Chunk.Status.LOADING, run=uuid4(), lease=later)
        rows(job).update(step="scanning", step_lease=later)
        assert expired_runs(job) == []
        limit = timezone.now() + longest_lease()
        assert rows(job).get().step_lease <= limit
        latest = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
        assert all(each.lease <= latest for each in job.chunks.all())

    def test_its_living_holder_keeps_it(self, job, jump):
        STEP.claim(rows(job))
        holder = rows(job).get()
        rows(job).update(step_lease=timezone.now() + jump)
        expired_runs()
        assert STEP.renew(STEP.held(holder))
        assert not rows(job).filter(STEP.free()).exists()

    def test_a_chunk_that_failed_is_tried_again_after_the_longest_backoff(self, job, jump):
        job.chunks.update(status=Chunk.Status.PENDING, lease=timezone.now() + jump)
        expired_runs()
        assert all(each.lease <= timezone.now() + timedelta(seconds=LONGEST_BACKOFF) for each in job.chunks.all())

    def test_an_ended_job_is_cleaned_up_in_time(self, job, jump):
        rows(job).update(status="failed", step="clean queued", step_lease=timezone.now() + jump)
        expired_runs()
        assert rows(job).get().step_lease <= timezone.now() + CLEAN_AGAIN


def test_times_within_their_length_stay(job):
    """Also that of a retry in another minute."""
    soon = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS - 1)
    rows(job).update(step="clean queued", step_lease=timezone.now() + timedelta(minutes=9))
    job.chunks.update(status=Chunk.Status.LOADING, run=uuid4(), lease=soon)
    before = rows(job).values().get()
    expired_runs()
    assert (rows(job).values().get(), {each.lease for each in job.chunks.all()}) == (before, {soon})
