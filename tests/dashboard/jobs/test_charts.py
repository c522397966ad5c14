"""The chunk map and the throughput curve of a job's page."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse

from importer.engine.errors import TargetProblem
from importer.history.chunks import rates
from importer.models import Attempt, Chunk, ImportJob, SourceFile
from tests.dashboard.job_data import HEADER, LENGTH, REFUSED, ROWS, Status, make_job, page

pytestmark = pytest.mark.django_db

MANY = 3000
HTMX = {"HX-Request": "true"}


class TestChunkMap:
    def test_states_are_told_apart_and_counted(self, browser):
        job = make_job(chunks=12, loaded=6)
        Chunk.objects.filter(job=job, number=1).update(attempt=2)
        Chunk.objects.filter(job=job, number=10).update(status=Chunk.Status.QUEUED)
        Chunk.objects.filter(job=job, number=11).update(status=Chunk.Status.FAILED)
        found = browser.get(reverse("job", args=[job.pk])).context["map"]
        assert found.counts == {"loaded": 5, "retried": 1, "loading": 4, "queued": 1, "failed": 1, "pending": 0}
        assert (found.loaded, found.retries, found.chunks) == (6, 1, 12)
        html = page(browser, job)
        for text in ("committed in 6 of 12 chunks", "4 loading", "1 queued", "1 retried", "1 failed"):
            assert text in html

    def test_a_chunk_that_waits_for_another_try_is_in_trouble_but_a_cancelled_one_is_not(self, browser):
        job = make_job(Status.CANCELLED, chunks=4, loaded=2)
        Chunk.objects.filter(job=job, number=2).update(attempt=1)
        Chunk.objects.filter(job=job, number=3).update(attempt=1, deaths=1)
        counts = browser.get(reverse("job", args=[job.pk])).context["map"].counts
        assert (counts["pending"], counts["retried"]) == (1, 1)

    @pytest.mark.parametrize("chunks", [240, 241, MANY])
    def test_at_most_240_cells_with_every_chunk_and_byte_in_one(self, browser, chunks):
        job = make_job(chunks=chunks)
        found = browser.get(reverse("job", args=[job.pk])).context["map"]
        assert len(found.cells) <= 240
        assert [cell.first for cell in found.cells[1:]] == [cell.last + 1 for cell in found.cells[:-1]]
        assert (found.cells[0].first, found.cells[-1].last) == (0, chunks - 1)
        assert sum(cell.bytes for cell in found.cells) == chunks * LENGTH

    def test_one_bad_chunk_among_many_good_ones_is_seen(self, browser):
        job = make_job(chunks=MANY, loaded=MANY)
        Chunk.objects.filter(job=job, number=1_505).update(status=Chunk.Status.FAILED)
        cells = browser.get(reverse("job", args=[job.pk])).context["map"].cells
        (failed,) = [cell for cell in cells if cell.state == "failed"]
        assert failed.first <= 1_505 <= failed.last
        assert f"{failed.last}:{failed.bytes}:failed" in page(browser, job)

    def test_slow_chunks_are_lighter(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=8, loaded=8)
        slow = Chunk.objects.get(job=job, number=3)
        Chunk.objects.filter(pk=slow.pk).update(finished_at=slow.started_at + timedelta(seconds=60))
        cells = browser.get(reverse("job", args=[job.pk])).context["map"].cells
        assert cells[3].speed == 1
        assert min(cell.speed for cell in cells if cell.first != 3) > 1

    def test_what_is_not_scanned_yet_has_its_cells(self, browser):
        job = make_job(chunks=10, scan_finished=False)
        SourceFile.objects.filter(pk=job.source_id).update(size=HEADER + 25 * LENGTH)
        assert browser.get(reverse("job", args=[job.pk])).context["map"].to_come == 15


class TestTroubledChunks:
    def test_failed_chunks_tell_its_problem(self, browser):
        job = make_job(Status.FAILED, chunks=60, loaded=37, problem=REFUSED)
        address = reverse("job_problem_chunks", args=[job.pk, 37, 37])
        fragment = browser.get(address, headers=HTMX).content.decode()
        assert REFUSED.what in fragment
        assert "<html" not in fragment
        page = browser.get(address).content.decode()
        assert "<html" in page
        assert f'Then continue on the page of <a href="{reverse("job", args=[job.pk])}">' in page
        assert REFUSED.advice not in fragment + page, "which remedy is right depends on the rows in the table"

    def test_what_to_do_about_another_problem_of_a_chunk_stands_with_it(self, browser):
        job = make_job(Status.FAILED, chunks=60, loaded=37, problem=REFUSED)
        job.chunks.filter(number=37).update(problem=TargetProblem("No room.", advice="Make room.").as_json())
        assert "Make room." in browser.get(reverse("job_problem_chunks", args=[job.pk, 37, 37])).text

    def test_only_the_chunks_asked_for(self, browser):
        job = make_job(Status.FAILED, chunks=60, loaded=37, problem=REFUSED)
        html = browser.get(reverse("job_problem_chunks", args=[job.pk, 0, 36]), headers=HTMX).content.decode()
        assert "None between chunk 0 and chunk 36" in html

    @pytest.mark.parametrize(
        ("job_status", "chunk_status", "said"),
        [
            (Status.LOADING, Chunk.Status.PENDING, "It will be tried again."),
            (Status.LOADING, Chunk.Status.LOADED, "A later attempt loaded it."),
            (Status.LOADING, Chunk.Status.FAILED, None),
            (Status.FAILING, Chunk.Status.PENDING, None),
            (Status.FAILED, Chunk.Status.PENDING, None),
            (Status.CANCELLED, Chunk.Status.PENDING, None),
        ],
    )
    def test_tried_again_is_said_only_while_the_import_goes_on(self, browser, job_status, chunk_status, said):
        job = make_job(job_status, chunks=3, loaded=2)
        gone = TargetProblem("The connection to the server was lost.", retryable=True)
        job.chunks.filter(number=1).update(status=chunk_status, attempt=2, problem=gone.as_json())
        html = browser.get(reverse("job_problem_chunks", args=[job.pk, 1, 1]), headers=HTMX).content.decode()
        assert gone.what in html
        for text in ("It will be tried again.", "A later attempt loaded it."):
            assert (text in html) == (text == said)


class TestRates:
    @pytest.mark.parametrize("most_spans", [rates.MOST_SPANS, 15])
    def test_the_area_under_the_curve_is_the_rows(self, browser, monkeypatch, most_spans):
        monkeypatch.setattr(rates, "MOST_SPANS", most_spans)
        job = make_job(Status.SUCCEEDED, chunks=40)
        Chunk.objects.filter(job=job, number=5).update(attempt=2)
        curve = browser.get(reverse("job_rates", args=[job.pk])).json()
        width = curve["points"][1][0] - curve["points"][0][0]
        assert sum(rate for _, rate, _ in curve["points"]) * width == pytest.approx(40 * ROWS, rel=0.01)

    @pytest.mark.parametrize("most_spans", [rates.MOST_SPANS, 15])
    @pytest.mark.parametrize(("earlier", "seconds"), [(20, 20.1), (0, 10.1)])
    def test_the_hours_between_two_attempts_are_no_part_of_it(
        self, browser, monkeypatch, most_spans: int, earlier: int, seconds: float
    ):
        """Of the chunks some, or in a mode that stages none, were loaded by the first attempt."""
        monkeypatch.setattr(rates, "MOST_SPANS", most_spans)
        job = make_job(Status.SUCCEEDED, chunks=40)
        hours = timedelta(hours=5)
        moved = {name: F(name) - hours for name in ("started_at", "finished_at")}
        job.chunks.filter(number__lt=earlier).update(**moved)
        began = job.started_at - hours
        ended = began + timedelta(seconds=10)
        Attempt.objects.create(job=job, number=1, started_at=began, ended_at=ended, outcome="failed")
        ImportJob.objects.filter(pk=job.pk).update(attempts=2, started_at=began, attempt_started_at=job.started_at)
        curve = browser.get(reverse("job_rates", args=[job.pk])).json()
        assert curve["seconds"] == pytest.approx(seconds, abs=0.2)
        width = curve["points"][1][0] - curve["points"][0][0]
        assert sum(rate for _, rate, _ in curve["points"]) * width == pytest.approx(40 * ROWS, rel=0.01)

    def test_bounded_however_many_chunks(self, browser):
        curve = browser.get(reverse("job_rates", args=[make_job(chunks=MANY).pk])).json()
        assert 50 < len(curve["points"]) <= 600

    def test_no_commit_no_curve(self, browser):
        for job in (make_job(Status.WAITING, chunks=0), make_job(chunks=3, loaded=0)):
            assert browser.get(reverse("job_rates", args=[job.pk])).json()["points"] == []

    def test_what_chunks_in_flight_may_still_raise_is_marked(self, browser):
        job = make_job(chunks=60, loaded=40)
        loading = Chunk.objects.filter(job=job, status=Chunk.Status.LOADING)
        loading.update(started_at=job.started_at + timedelta(seconds=7))
        assert browser.get(reverse("job_rates", args=[job.pk])).json()["settled"] == pytest.approx(7, abs=0.02)
