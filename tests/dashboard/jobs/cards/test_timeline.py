"""The timeline: each attempt has its own phases, and waiting is not loading."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.jobs.cards.timeline import WIDTH, timeline
from importer.models import Attempt, ImportJob
from tests.dashboard.job_data import REFUSED, Status, make_job

pytestmark = pytest.mark.django_db

NOW = timezone.now()
PAST = {
    "number": 1,
    "started_at": NOW - timedelta(hours=9, seconds=40),
    "ended_at": NOW - timedelta(hours=9),
    "outcome": "failed",
    "problem": REFUSED.as_json(),
    "loaded_chunks": 3,
    "failed_chunks": 1,
}


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def job_with(status, past=None, **values):
    job = make_job(status, chunks=4)
    if past:
        Attempt.objects.create(job=job, **past)
        values["attempts"] = 2
    ImportJob.objects.filter(pk=job.pk).update(**values)
    return ImportJob.objects.get(pk=job.pk)


def phases(attempt):
    return {each.name: (round(each.seconds), each.runs) for each in attempt.phases}


def test_waiting_loading_indexing_and_verifying_stand_apart():
    times = {"created_at": ago(100), "attempt_started_at": ago(40), "started_at": ago(40), "scanned_at": ago(35)}
    job = job_with(Status.SUCCEEDED, **times, loaded_at=ago(10), index_seconds=7, finished_at=NOW)
    (attempt,) = timeline(job, NOW)
    assert phases(attempt) == {
        "Wait": (60, False),
        "Scan": (5, False),
        "Load": (30, False),
        "Index": (7, False),
        "Verify": (3, False),
    }
    assert [each.start for each in attempt.phases] == [0, 600, 600, 900, 970]
    assert attempt.phases[-1].start + attempt.phases[-1].width == WIDTH


def test_a_phase_that_a_failure_cut_short_no_longer_runs():
    times = {"created_at": ago(4000), "attempt_started_at": ago(3990), "started_at": ago(3990), "scanned_at": ago(3980)}
    job = job_with(Status.FAILED, **times, finished_at=ago(3900))
    (attempt,) = timeline(job, NOW)
    assert phases(attempt) == {"Wait": (10, False), "Scan": (10, False), "Load": (90, False)}


def test_the_hours_before_a_retry_are_no_part_of_it():
    times = {"created_at": ago(9 * 3600 + 60), "started_at": ago(9 * 3600 + 40), "attempt_started_at": ago(20)}
    job = job_with(Status.LOADING, PAST, **times, scanned_at=ago(9 * 3600 + 30))
    first, second = timeline(job, NOW)
    assert phases(first) == {"All phases": (40, False)}
    assert phases(second) == {"Load": (20, True)}
    assert (first.phases[0].width, second.phases[0].width) == (WIDTH, WIDTH // 2)


@pytest.mark.parametrize(("taken", "load"), [(None, {}), (ago(10), {"Load": (10, True)})])
def test_an_import_waits_until_a_worker_takes_it(taken, load):
    times = {"created_at": ago(100), "attempt_started_at": ago(40), "started_at": ago(40)}
    job = job_with(Status.LOADING, **times, taken_at=taken, phase_since=taken or ago(40), scanned_at=None)
    (attempt,) = timeline(job, NOW)
    shown = phases(attempt)
    shown.pop("Scan", None)
    assert shown == {"Wait": (90, False) if taken else (100, True), **load}


@pytest.mark.parametrize("obstacle", [{}, REFUSED.as_json()])
def test_a_wait_for_an_obstacle_is_not_verification(obstacle):
    times = {"created_at": ago(100), "attempt_started_at": ago(100), "started_at": ago(100), "taken_at": ago(100)}
    status, ended = (Status.INDEXING, None) if obstacle else (Status.SUCCEEDED, NOW)
    waited = {"phases_json": {"loading": 30.0, **({} if obstacle else {"indexing": 67.0, "verifying": 3.0})}}
    since = {"phase_since": ago(70) if obstacle else NOW, "index_seconds": 0 if obstacle else 7, "obstacle": obstacle}
    job = job_with(status, **times, **waited, **since, loaded_at=ago(70), finished_at=ended)
    after = dict(list(phases(timeline(job, NOW)[-1]).items())[3:])
    if obstacle:
        assert after == {"Wait to put keys back": (70, True)}
    else:
        assert after == {"Wait to put keys back": (60, False), "Index": (7, False), "Verify": (3, False)}


def test_an_obstacle_of_an_import_of_an_older_version_is_a_wait_too():
    times = {"created_at": ago(100), "attempt_started_at": ago(100), "started_at": ago(100), "taken_at": ago(100)}
    job = job_with(Status.INDEXING, **times, phase_since=None, loaded_at=ago(70), obstacle=REFUSED.as_json())
    assert list(phases(timeline(job, NOW)[-1]).items())[3:] == [("Wait to put keys back", (70, True))]


def test_an_earlier_attempt_has_all_of_its_phases_and_its_end():
    seconds = {"waiting": 0, "loading": 10, "paused": 5, "indexing": 7, "verifying": 3}
    job = job_with(Status.LOADING, PAST | seconds, attempt_started_at=ago(20))
    first = timeline(job, NOW)[0]
    assert phases(first) == {"Load": (15, False), "Index": (7, False), "Verify": (3, False)}
    assert (first.phases[0].paused, first.ended) == (5, NOW - timedelta(hours=9))


@pytest.mark.parametrize(
    ("status", "began", "past"),
    [(Status.LOADING, 20, PAST | {"started_at": None, "outcome": "cancelled"}), (Status.CANCELLED, None, PAST)],
)
def test_an_attempt_that_never_got_the_table_does_not_wait_for_it_any_more(browser, status, began, past):
    job = job_with(status, past, attempt_started_at=began and ago(began))
    html = browser.get(f"/jobs/{job.pk}/").content.decode()
    assert "ended before it got the table" in html
    assert "waits for the table" not in html


@pytest.mark.parametrize("status", Status)
def test_every_state_has_a_timeline_within_its_width(status):
    for attempt in timeline(make_job(status, chunks=2), timezone.now()):
        assert all(0 <= each.start <= each.start + each.width <= WIDTH for each in attempt.phases)


def test_the_page_shows_both_attempts_with_the_problem_of_the_first(browser):
    job = job_with(Status.LOADING, PAST, attempt_started_at=ago(20))
    html = browser.get(f"/jobs/{job.pk}/").content.decode()
    for text in ("Attempt 1: failed", "3 chunks loaded, 1 failed", REFUSED.what, "Attempt 2", "<dd>attempt 2</dd>"):
        assert text in html
    assert "loaded in 2 attempts" not in html  # It is not loaded yet.


def test_a_wait_and_a_pause_of_the_load_stand_beside_it(browser):
    times = dict.fromkeys(("attempt_started_at", "started_at", "taken_at"), ago(60))
    spent = {"loading": 20.0, "paused": 10.0, "waiting in loading": 30.0}
    job = job_with(Status.FAILED, **times, phases_json=spent, phase_since=NOW, finished_at=NOW)
    assert "(paused 10.0 s, waiting 30.0 s)" in browser.get(f"/jobs/{job.pk}/").text


def test_a_pause_is_told_from_loading():
    job = job_with(
        Status.PAUSED,
        **dict.fromkeys(("attempt_started_at", "started_at", "taken_at"), ago(60)),
        phases_json={"paused": 5.0},
        phase_since=ago(20),
    )
    (attempt,) = timeline(job, NOW)
    load, pause = attempt.phases[-2:]
    assert (load.paused, load.seconds, load.runs) == (pytest.approx(5), 40, False)
    assert (pause.name, pause.seconds, pause.runs) == ("Paused", 20, True)
    assert timeline(job_with(Status.LOADING, phases_json={}), NOW)[-1].phases[-1].paused == 0
