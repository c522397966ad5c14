"""What a poll of an import's page costs: with many chunks, with nothing new, and for somebody else."""

import re
from datetime import timedelta
from math import inf
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.jobs.progress import progress
from importer.models import Chunk, ImportJob
from importer.worker import live_progress
from tests.cost import cost_of
from tests.dashboard.job_data import ROWS, Status, make_job
from tests.people import stranger
from tests.stack import announce_workers

pytestmark = pytest.mark.django_db

MANY = 10_000


def poll(browser, job, seen=""):
    return browser.get(
        reverse("job_live", args=[job.pk]), {"seen": seen}, headers={"HX-Request": "true", "Accept-Encoding": "gzip"}
    )


def seen_on(browser, job):
    """The token of the page, after a first poll that found nothing new."""
    html = browser.get(reverse("job", args=[job.pk])).content.decode()
    seen = re.search(r'id="job-page-state" name="seen" value="([^"]*)"', html)[1]
    assert poll(browser, job, seen).status_code == 204
    return seen


def quiet_job(**values):
    """An import of which nothing was committed within the last minute."""
    job = make_job(**values)
    job.chunks.update(finished_at=F("finished_at") - timedelta(hours=1))
    return job


def test_ten_thousand_chunks_are_polled_within_their_budget(browser):
    job = quiet_job(chunks=MANY, loaded=6000, parallelism=8)
    seen = seen_on(browser, job)
    unchanged = cost_of(lambda: poll(browser, job, seen))
    assert unchanged.calls < 3000
    assert unchanged.steps < 1000
    assert poll(browser, job, seen).status_code == 204

    def changed():
        ImportJob.objects.filter(pk=job.pk).update(version=F("version") + 1)
        return poll(browser, job, seen)

    changed()
    after_change = cost_of(changed)
    assert after_change.calls < 100_000
    assert after_change.steps < 1_000_000
    changed = changed()
    assert (changed.status_code, changed.headers["Content-Encoding"]) == (200, "gzip")
    assert len(changed.content) < 5000


def test_those_who_poll_in_step_share_the_sums_over_chunks(browser, monkeypatch):
    monkeypatch.setattr("importer.history.chunks.map.time", SimpleNamespace(monotonic=lambda: 0.0))
    job = quiet_job(chunks=10)
    sums = []
    for version in (1, 1, 2):
        ImportJob.objects.filter(pk=job.pk).update(version=version)
        with CaptureQueriesContext(connection) as queries:
            assert poll(browser, job).status_code == 200
        sums.append(sum("julianday" in each["sql"] for each in queries))
    assert sums == [1, 0, 1]


def test_a_poll_that_finds_nothing_new_asks_once(browser):
    job = quiet_job(chunks=10)
    seen = seen_on(browser, job)
    with CaptureQueriesContext(connection) as queries:
        assert poll(browser, job, seen).status_code == 204
    assert len(queries) == 1


def test_whatever_moves_is_told_at_once(browser, redis):
    job = quiet_job(chunks=10, loaded=4)
    for change in (
        lambda: ImportJob.objects.filter(pk=job.pk).update(version=F("version") + 1),
        lambda: live_progress.SentBytes(job.pk, "4").chunk_progress(123_456),
        lambda: ImportJob.objects.filter(pk=job.pk).update(status=Status.INDEXING),
        announce_workers,
    ):
        seen = seen_on(browser, job)
        change()
        assert poll(browser, job, seen).status_code == 200
    with live_progress.restoring(job.pk) as stage:
        seen = seen_on(browser, job)
        stage(live_progress.DdlProgress("sorting", 40.0))
        assert poll(browser, job, seen).status_code == 200
    ImportJob.objects.filter(pk=job.pk).update(status=Status.SUCCEEDED)
    assert poll(browser, job, seen).status_code == 286


def test_a_rate_that_falls_by_itself_is_held_back_by_nothing():
    job, now = quiet_job(chunks=10, loaded=4), timezone.now()
    Chunk.objects.filter(job=job, number=0).update(finished_at=now - timedelta(seconds=4))
    for later, steady in ((0, 6), (7, 19), (30, 26), (60, inf)):
        assert progress(job, now + timedelta(seconds=later)).recent.steady == pytest.approx(steady)


def test_the_rate_is_that_of_the_chunks_since_the_first_of_them_began():
    """Before, the file was unpacked or sorted for a long time, or a person paused the import."""
    job, now = quiet_job(chunks=8, loaded=4), timezone.now()
    ImportJob.objects.filter(pk=job.pk).update(started_at=now - timedelta(hours=1))
    job.refresh_from_db()
    times = {"started_at": now - timedelta(seconds=4), "finished_at": now - timedelta(seconds=1)}
    Chunk.objects.filter(job=job, status=Chunk.Status.LOADED).update(**times)
    shown = progress(job, now)
    assert shown.recent_rows_per_second == pytest.approx(ROWS)
    assert shown.seconds_left == pytest.approx(4)
    Chunk.objects.filter(job=job, status=Chunk.Status.LOADED).update(loaded_rows=F("loaded_rows") - 1, rejected_rows=1)
    assert progress(job, now).recent_rows_per_second == pytest.approx(ROWS - 1)


def test_the_chunks_of_an_earlier_attempt_are_not_in_the_rate():
    job, now = quiet_job(chunks=8, loaded=4), timezone.now()
    Chunk.objects.filter(job=job, status=Chunk.Status.LOADED).update(finished_at=now - timedelta(seconds=5))
    job.attempts, job.attempt_started_at = 2, now - timedelta(seconds=3)
    shown = progress(job, now)
    assert (shown.recent_rows_per_second, shown.seconds_left) == (0, None)


def test_a_retry_that_waits_for_the_table_has_not_begun():
    job = make_job(Status.WAITING, started_at=timezone.now() - timedelta(hours=5), attempts=2)
    shown = progress(job, timezone.now())
    assert (shown.since, shown.elapsed) == (None, None)


def test_no_time_left_is_promised_once_the_next_commit_is_overdue():
    job, now = quiet_job(chunks=20, loaded=12), timezone.now()
    ImportJob.objects.filter(pk=job.pk).update(parallelism=2)
    job.refresh_from_db()
    # Each of two sessions commits every 9 s, so 18 s after the last commit the next one is overdue.
    for number in range(12):
        ago = timedelta(seconds=5 + 4.5 * number)
        Chunk.objects.filter(job=job, number=number).update(finished_at=now - ago)
    shown = progress(job, now + timedelta(seconds=11))
    assert shown.seconds_left is not None
    assert shown.recent.steady == pytest.approx(2)
    for seconds in (14, 30, 50):
        later = progress(job, now + timedelta(seconds=seconds))
        assert (later.seconds_left, later.ends_at) == (None, None)
        assert later.page_state != shown.page_state


def test_what_one_person_was_told_answers_nobody_else(browser):
    job = quiet_job(chunks=10)
    seen = seen_on(browser, job)
    assert poll(Client(), job, seen)["HX-Redirect"].startswith(reverse("login"))
    other = Client()
    other.force_login(stranger("eve"))
    assert poll(other, job, seen).status_code == 404


def test_pages_are_compressed_and_files_are_not(browser):
    job = make_job(chunks=10)
    for name, compressed in (("job", True), ("job_rates", True), ("history_csv", False)):
        address = reverse(name, args=[job.pk] if name.startswith("job") else [])
        answer = browser.get(address, headers={"Accept-Encoding": "gzip"})
        assert (answer.headers.get("Content-Encoding") == "gzip") == compressed, name
        assert "Content-Encoding" not in browser.get(address).headers
