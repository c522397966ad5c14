"""What the chunk map shows on a click, and who loads what."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.jobs.cards.loaders import loaders
from importer.models import Chunk
from tests.dashboard.job_data import LENGTH, ROWS, STATEMENT, Status, make_job

pytestmark = pytest.mark.django_db


def details(browser, job, first, last, **headers):
    return browser.get(reverse("job_chunks", args=[job.pk, first, last]), headers=headers).content.decode()


def test_one_chunk_tells_who_when_how_much_and_how(browser):
    job = make_job(Status.SUCCEEDED, chunks=4)
    begun = timezone.now().replace(hour=2, minute=3, second=4)
    Chunk.objects.filter(job=job, number=2).update(
        worker="4711@load-1", connection_id=88, attempt=2, started_at=begun, finished_at=begun + timedelta(seconds=2),
        timings={"connect": 0.5, "load": 2.0},
    )  # fmt: skip
    html = details(browser, job, 2, 2, **{"HX-Request": "true"})
    assert "<html" not in html
    for text in ("4711 on load-1", "88", "loaded, attempt 2", "02:03:04", "02:03:06", "2.50 s", f"{ROWS:,} loaded"):
        assert text in html
    assert "2.50 s" in browser.get(reverse("job_timings", args=[job.pk])).text, "the slowest one, with the same time"
    assert f"{LENGTH / 1024:.0f} KiB from byte" in html
    assert STATEMENT.splitlines()[0].replace("'", "&#x27;") in html


def test_several_chunks_are_a_table_that_leads_to_each(browser):
    job = make_job(chunks=200, loaded=2)
    html = details(browser, job, 0, 99)
    assert "<html" in html
    assert "the first 50 of 100" in html
    assert reverse("job_chunks", args=[job.pk, 3, 3]) in html
    assert "No chunk has been cut here" in details(browser, job, 500, 600)


@pytest.mark.parametrize(("status", "said"), [(Status.FAILED, "not loaded"), (Status.LOADING, "waiting")])
def test_a_chunk_that_was_given_back_has_the_words_of_the_map_and_no_start(browser, status, said):
    job = make_job(status, chunks=2, loaded=1)
    job.chunks.filter(number=1).update(status="pending", attempt=0, started_at=timezone.now().replace(hour=2, minute=3))
    several, one = details(browser, job, 0, 1), details(browser, job, 1, 1)
    assert f'<i class="cell pending"></i>{said}</span>' in several
    assert f"<dd>{said}</dd>" in one
    assert "02:03:" not in several + one


def test_each_run_in_flight_names_its_process_and_its_rate():
    now = timezone.now()
    job = make_job(chunks=8, loaded=4, parallelism=2)
    job.chunks.filter(number__lt=4).update(
        worker="1@a", started_at=now - timedelta(seconds=20), finished_at=now - timedelta(seconds=10)
    )
    run, since = uuid4(), now - timedelta(seconds=9)
    job.chunks.filter(number__in=(4, 5)).update(status="loading", run=run, worker="1@a", started_at=since)
    job.chunks.filter(number=6).update(status="loading", run=uuid4(), worker="", connection_id=7, started_at=now)
    known, unknown = loaders(job, now)
    assert (known.process.number, known.process.host) == ("1", "a")
    assert (known.first, known.last, known.chunks, known.since) == (4, 5, 2, since)
    assert known.rows_per_second == 4 * ROWS / 10
    assert (unknown.process, unknown.connection, unknown.rows_per_second) == (None, 7, None)


def test_the_page_says_who_loads_while_somebody_does(browser):
    job = make_job(chunks=8, loaded=4, parallelism=2)
    job.chunks.filter(status="loading").update(worker="4711@load-1")
    assert "Process 4711 on load-1" in browser.get(reverse("job", args=[job.pk])).content.decode()
    assert "Loading now" not in browser.get(reverse("job", args=[make_job("paused", chunks=2).pk])).content.decode()
