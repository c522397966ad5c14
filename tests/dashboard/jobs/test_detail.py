"""The page of one import: what it shows in each state, how cheap its polling is, and its buttons."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date

from dashboard.jobs.progress import progress
from importer import queue
from importer.engine.errors import BadRow, Problem, TargetUnreachable
from importer.history.chunks import map as chunk_map
from importer.models import Chunk, ImportJob, SourceFile, Target
from importer.worker import live_progress
from importer.worker.hosts import presence
from tests.dashboard.job_data import HEADER, LENGTH, REFUSED, ROWS, Status, make_job, page
from tests.engine.loads import run_sql

pytestmark = pytest.mark.django_db

MANY = 1000
HTMX = {"HX-Request": "true"}


def poll(browser, job, seen=""):
    return browser.get(reverse("job_live", args=[job.pk]), {"seen": seen}, headers=HTMX)


def seen_in(html):
    return re.search(r'id="job-page-state" name="seen" value="([^"]*)"', html)[1]


def press(browser, job, button, **values):
    return browser.post(reverse(f"job_{button}", args=[job.pk]), values, headers=HTMX)


def status_of(job):
    return ImportJob.objects.values_list("status", flat=True).get(pk=job.pk)


class TestStates:
    def test_an_outcome_has_its_own_words(self, browser):
        away = make_job(Status.FAILED, chunks=2, problem=TargetUnreachable("No server answers."))
        assert "Target unreachable</span>" in page(browser, away)
        put_back = make_job(Status.SUCCEEDED, chunks=2)
        ImportJob.objects.filter(pk=put_back.pk).update(balanced=True, restored_at=timezone.now())
        shown = page(browser, put_back)
        assert "Restored</span>" in shown
        assert "<dt>Taken back</dt>" in shown
        assert "<dt>Committed</dt>" not in shown

    @pytest.mark.parametrize("status", Status)
    def test_every_state_has_a_page_and_a_fragment(self, browser, status):
        job = make_job(status, chunks=6, problem=REFUSED if status in (Status.FAILED, Status.FAILING) else None)
        assert f"{status.label.capitalize()}</span>" in page(browser, job)
        assert 'id="job-headline"' in poll(browser, job).content.decode()

    def test_scanning_and_loading_are_told_apart_from_loading(self, browser):
        assert "Scanning and loading" in page(browser, make_job(scan_finished=False))
        assert "Scanning and loading" not in page(browser, make_job())

    def test_a_waiting_job_names_the_job_that_has_the_table(self, browser):
        second = make_job(Status.WAITING, chunks=0)
        first = make_job(table_claim=f"{second.target_id}:osm.nodes")
        assert reverse("job", args=[first.pk]) in page(browser, second)

    def test_the_priority_is_changed_until_the_end(self, browser):
        job = make_job()
        assert "Priority: normal" in page(browser, job)
        assert "Priority: low" in press(browser, job, "priority", priority="low").content.decode()
        assert "priority is &#x27;most&#x27;" in press(browser, job, "priority", priority="most").content.decode()
        ImportJob.objects.filter(pk=job.pk).update(status=Status.SUCCEEDED)
        assert "Priority:" not in page(browser, job)
        assert "has ended" in press(browser, job, "priority", priority="high").content.decode()
        assert ImportJob.objects.get(pk=job.pk).options.priority == "low"

    def test_before_the_first_chunk_there_is_nothing_to_divide_by(self, browser):
        job = make_job(chunks=0, scanned_rows=0, scanned_bytes=HEADER, scan_finished=False)
        SourceFile.objects.filter(pk=job.source_id).update(size=0)
        assert "No chunk has been cut yet" in page(browser, job)

    def test_unknown_jobs_are_not_found(self, browser):
        assert browser.get(reverse("job", args=[987])).status_code == 404
        assert browser.post(reverse("job_pause", args=[987])).status_code == 404

    def test_a_job_planned_by_another_version_is_shown(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=2)
        ImportJob.objects.filter(pk=job.pk).update(plan_json={**job.plan_json, "vectorised": True})
        assert "Exact SQL" in page(browser, job)


class TestEquation:
    def test_balanced_is_said_only_of_jobs_that_are(self, browser):
        balanced = make_job(Status.SUCCEEDED)
        said = re.search("Balanced, and verified .* when it ended, <time[^>]*>(.*?)</time>", page(browser, balanced))
        assert said.group(1) == date(timezone.localtime(balanced.finished_at), "j M, H:i")
        for status in (Status.LOADING, Status.VERIFYING, Status.FAILED, Status.CANCELLED):
            assert "Balanced, and verified" not in page(browser, make_job(status, problem=None))

    def test_what_is_missing_is_counted(self, browser):
        assert f"{20 * ROWS:,}</strong><span>still to come" in page(browser, make_job(chunks=60, loaded=40))
        failed = page(browser, make_job(Status.FAILED, chunks=60, loaded=40))
        assert f"Not complete: {20 * ROWS:,} rows of the file were not loaded" in failed

    def test_all_terms_stand_there(self, browser):
        job = make_job(chunks=4, loaded=1, replaced_rows=11, unchanged_rows=14, skipped_rows=12, rejected_rows=13)
        html = page(browser, job)
        for amount, name in ((4 * ROWS, "rows in the file"), (ROWS, "loaded"), (11, "replaced"), (14, "unchanged")):
            assert f"<strong>{amount:,}</strong><span>{name}" in html
        for amount, name in ((12, "skipped"), (13, "rejected")):
            assert re.search(rf'<strong><a[^>]* href="#job-rejects">{amount}</a></strong><span>{name}', html)
        assert f"<strong>{3 * ROWS - 50:,}</strong><span>still to come" in html


class TestPolling:
    def test_nothing_new_is_an_empty_204(self, browser):
        job = make_job()
        # Too long ago for the throughput of the last seconds, which keeps changing by itself.
        job.chunks.update(finished_at=F("finished_at") - timedelta(hours=1))
        answer = poll(browser, job, seen_in(page(browser, job)))
        assert (answer.status_code, answer.content) == (204, b"")

    def test_every_change_of_the_version_is_shown(self, browser):
        job = make_job(chunks=3, loaded=1)
        seen = seen_in(page(browser, job))
        ImportJob.objects.filter(pk=job.pk).update(version=8, loaded_rows=2 * ROWS)
        answer = poll(browser, job, seen)
        assert answer.status_code == 200
        assert f"{2 * ROWS:,} rows" in answer.content.decode()
        assert poll(browser, job, seen_in(answer.content.decode())).status_code == 204

    def test_a_rate_falls_when_nothing_is_committed_any_more(self, browser):
        job = make_job(chunks=8, loaded=4)
        seen = seen_in(page(browser, job))
        Chunk.objects.filter(job=job).update(finished_at=timezone.now() - timedelta(seconds=11))
        answer = poll(browser, job, seen)
        assert answer.status_code == 200
        assert "nothing in the last 10 s" in answer.content.decode()

    def test_bytes_on_their_way_move_the_sent_bar_only(self, browser, redis):
        job = make_job(chunks=10, loaded=4)
        seen = seen_in(page(browser, job))
        live_progress.SentBytes(job.pk, "4").chunk_progress(123_456)
        html = poll(browser, job, seen).content.decode()
        sent = re.search(r'class="progress sent" id="bar-3" value="(\d+)"', html)
        assert int(sent[1]) == 4 * LENGTH + 123_456
        assert f'id="bar-4" value="{4 * LENGTH}"' in html

    def test_without_redis_the_page_still_answers(self, browser, settings):
        settings.REDIS_URL = "unix:///nowhere/redis.sock?db=0"
        queue.connection.cache_clear()
        assert poll(browser, make_job()).status_code == 200
        queue.connection.cache_clear()

    @pytest.mark.parametrize("status", ImportJob.ENDED)
    def test_the_end_is_told_once_with_286_and_the_last_state(self, browser, status):
        job = make_job()
        running = seen_in(page(browser, job))
        ImportJob.objects.filter(pk=job.pk).update(status=status, finished_at=timezone.now())
        for seen in ("", running):
            answer = poll(browser, job, seen)
            assert answer.status_code == 286
            for each in ("data-ended", 'id="job-actions"', 'id="job-rejects"'):
                assert each in answer.content.decode()
        ended = seen_in(answer.content.decode())
        assert poll(browser, job, ended).status_code == 204
        # What somebody types among the rejected rows stays when something else has changed since.
        ImportJob.objects.filter(pk=job.pk).update(version=8)
        assert 'id="job-rejects"' not in poll(browser, job, ended).content.decode()

    def test_buttons_are_left_alone_while_they_stay_the_same(self, browser):
        job = make_job()
        seen = seen_in(page(browser, job))
        ImportJob.objects.filter(pk=job.pk).update(version=8)
        assert 'id="job-actions"' not in poll(browser, job, seen).content.decode()
        ImportJob.objects.filter(pk=job.pk).update(version=9, parallelism=5)
        assert 'id="job-actions"' in poll(browser, job, seen).content.decode()

    def test_a_thousand_chunks_cost_no_more_queries_than_ten(self, browser):
        few, many = make_job(chunks=10), make_job(chunks=MANY)
        for name in ("job", "job_live", "job_rates"):
            counts = []
            for job in (few, many):
                # The map's sums are remembered for a second.
                chunk_map._groups.cache_clear()
                with CaptureQueriesContext(connection) as queries:
                    assert browser.get(reverse(name, args=[job.pk])).status_code == 200
                counts.append(len(queries))
            # Session, user, role, grants, may one see it, import, rows of late, last chunk, map, and the file that a
            # schedule picked up; of a poll the pulse. Other imports into the table, and those of them that may be seen.
            assert counts[0] == counts[1] <= 13


class TestProblem:
    def test_where_nothing_was_committed_nothing_is_said_to_stay(self, browser):
        html = page(browser, make_job(Status.FAILED, chunks=3, loaded=0))
        assert "Failed; nothing was committed" in html
        assert "No chunk was committed." in html
        part = page(browser, make_job(Status.FAILED, chunks=3, loaded=1))
        assert f"Failed after {ROWS:,} rows were committed" in part

    def test_it_says_what_where_and_what_to_do(self, browser):
        html = page(browser, make_job(Status.FAILED, problem=REFUSED))
        for text in (REFUSED.what, REFUSED.where, REFUSED.advice, "125,901", "longer than the 64 characters", "empty"):
            assert text in html

    def test_long_values_are_cut_and_still_there_in_full(self, browser):
        html = page(browser, make_job(Status.FAILED, problem=REFUSED))
        assert f"<summary><code>{'x' * 59}…</code></summary>" in html
        assert "x" * 300 in html

    def test_more_bad_rows_than_shown_are_counted(self, browser):
        problem = Problem("Bad rows.", rows=(BadRow(2, "a", "b", "c"),), bad_rows=4_321)
        assert "The first of 4,321 invalid rows" in page(browser, make_job(Status.FAILED, problem=problem))

    def test_an_import_that_ended_before_its_scan_does_not_claim_to_know_the_file(self, browser):
        job = make_job("cancelled", chunks=4, loaded=2)
        ImportJob.objects.filter(pk=job.pk).update(scan_finished=False)
        html = page(browser, job)
        assert "rows read of the file" in html
        assert "the file was not read to its end" in html


class TestButtons:
    def test_pause_resume_cancel(self, browser):
        job = make_job(chunks=4, loaded=2)
        Chunk.objects.filter(job=job, status=Chunk.Status.LOADING).update(status=Chunk.Status.PENDING)
        for button, status in (
            ("pause", "paused"),
            ("resume", "loading"),
            ("pause", "paused"),
            ("cancel", "cancelled"),
        ):
            assert f"{status.capitalize()}</span>" in press(browser, job, button).content.decode()
            assert status_of(job) == status

    def test_a_pause_is_told_once_with_who_and_when(self, browser):
        job = make_job(chunks=4)
        ImportJob.objects.filter(pk=job.pk).update(phase_since=timezone.now())
        press(browser, job, "pause")
        now = ImportJob.objects.get(pk=job.pk)
        words = f"Paused by ann, {now.phase_since:%-d %b %H:%M}: no further chunk starts"
        assert words in browser.get(reverse("job", args=[job.pk])).text
        assert "Somebody has paused" not in browser.get(reverse("job_why", args=[job.pk])).text

    def test_retry_goes_on_into_the_table_as_it_is_now(self, browser, database):
        run_sql(database, "CREATE TABLE nodes (id INT, lat DOUBLE, lon DOUBLE, later INT NULL)")
        job = make_job("failed", chunks=4, loaded=2, schema_name=database.database)
        Target.objects.filter(pk=job.target_id).update(
            host=database.host, port=database.port, user=database.user, database=database.database
        )
        press(browser, job, "retry")
        assert status_of(job) == Status.LOADING

    def test_retry_while_the_server_is_away_says_so_and_changes_nothing(self, browser):
        job = make_job("failed", chunks=4, loaded=2)
        assert "There is no connection to the target" in press(browser, job, "retry").content.decode()
        assert status_of(job) == Status.FAILED

    @pytest.mark.parametrize(("status", "button"), [("failed", "pause"), ("succeeded", "cancel"), ("paused", "retry")])
    def test_what_cannot_be_done_is_said_and_changes_nothing(self, browser, status, button):
        job = make_job(status, chunks=4)
        answer = press(browser, job, button)
        assert answer.status_code == 200
        assert "cannot be" in answer.content.decode()
        assert status_of(job) == status

    @pytest.mark.parametrize(
        ("status", "button"),
        [
            *[("paused", "pause"), ("loading", "resume"), ("verifying", "resume"), ("succeeded", "retry")],
            *[("loading", "retry"), ("cancelling", "cancel")],
        ],
    )
    def test_a_second_press_is_no_problem(self, browser, status, button):
        job = make_job(status, chunks=4)
        answer = press(browser, job, button)
        assert (answer.status_code, "cannot be" in answer.text, status_of(job)) == (200, False, status)

    def test_without_script_a_button_leads_back_to_the_page(self, browser):
        job = make_job(chunks=4)
        answer = browser.post(reverse("job_pause", args=[job.pk]), follow=True)
        assert answer.redirect_chain == [(reverse("job", args=[job.pk]), 302)]
        again = browser.post(reverse("job_resume", args=[make_job("failed").pk]), follow=True)
        assert "cannot be resumed" in again.content.decode()

    def test_parallelism_changes_while_it_runs(self, browser):
        job = make_job(chunks=4, parallelism=2)
        html = press(browser, job, "parallelism", parallelism="3").content.decode()
        assert ">3</output>" in html
        job.refresh_from_db()
        assert job.parallelism == 3

    @pytest.mark.usefixtures("redis")
    def test_a_parallelism_that_the_workers_cannot_reach_is_said_to_be_one(self, browser):
        job = make_job(chunks=4, parallelism=3)
        assert "the workers load" not in page(browser, job)
        presence.announce("load@here", 2)
        assert "the workers load 2 in parallel" in page(browser, job)
        presence.announce("load@there", 1)
        assert "the workers load" not in page(browser, job)

    @pytest.mark.parametrize("wanted", ["", "0", "-1", "65", "9999", "two", "²"])
    def test_impossible_parallelism_is_refused_in_words(self, browser, wanted):
        job = make_job(chunks=4, parallelism=2)
        answer = press(browser, job, "parallelism", parallelism=wanted)
        assert answer.status_code == 200
        assert "alert-danger" in answer.content.decode()
        job.refresh_from_db()
        assert job.parallelism == 2

    def test_each_state_has_the_buttons_that_make_sense(self, browser):
        buttons = {
            Status.WAITING: {"fewer", "more", "cancel"},
            Status.LOADING: {"fewer", "more", "pause", "cancel"},
            Status.PAUSED: {"fewer", "more", "resume", "cancel"},
            Status.FINISHING: {"cancel"},
            Status.VERIFYING: set(),
            Status.SUCCEEDED: set(),
            Status.FAILING: set(),
            Status.FAILED: {"retry"},
            Status.CANCELLING: set(),
            Status.CANCELLED: {"retry"},
        }
        for status, expected in buttons.items():
            html = page(browser, make_job(status, chunks=2, loaded=0))
            names = ("fewer", "more", "pause", "resume", "cancel", "retry")
            assert {name for name in names if f'id="job-{name}"' in html} == expected

    def test_following_a_link_changes_nothing(self, browser):
        job = make_job(chunks=4)
        for button in ("pause", "resume", "cancel", "retry", "parallelism"):
            assert browser.get(reverse(f"job_{button}", args=[job.pk])).status_code == 405


class TestSafety:
    def test_names_and_values_from_files_are_escaped(self, browser):
        evil = '<img src=x onerror="alert(1)">'
        problem = Problem(evil, where=evil, advice=evil, rows=(BadRow(1, evil, evil * 5, evil),), bad_rows=1)
        job = make_job(Status.FAILED, chunks=3, loaded=1, problem=problem, file_name=evil, table=evil)
        troubled = browser.get(reverse("job_problem_chunks", args=[job.pk, 0, 2])).content.decode()
        for html in (page(browser, job), poll(browser, job).content.decode(), troubled):
            assert "<img src=x" not in html
            assert "&lt;img src=x" in html

    @pytest.mark.parametrize("status", Status)
    def test_no_style_and_no_script_inside_the_html(self, browser, status):
        job = make_job(status, chunks=8, problem=REFUSED)
        troubled = browser.get(reverse("job_problem_chunks", args=[job.pk, 0, 7])).content.decode()
        for html in (page(browser, job), poll(browser, job).content.decode(), troubled):
            assert not re.search(r"<[^>]*\sstyle\s*=", html)
            assert not re.search(r"<style|<[^>]*\son\w+\s*=|javascript:", html)
            assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))


class TestPlainCopy:
    def test_while_it_is_made(self, browser):
        job = make_job(
            Status.LOADING, chunks=0, packing="gzip", copied_bytes=60, scanned_rows=0, scanned_bytes=0,
            scan_finished=False, loaded=0,
        )  # fmt: skip
        html = browser.get(reverse("job", args=[job.pk])).content.decode()
        assert "Unpacking" in html
        assert "Unpacked" in html

    def test_the_bars_count_what_is_read(self, browser):
        plain = HEADER + 10 * LENGTH
        job = make_job(
            Status.LOADING, chunks=10, loaded=10, packing="gzip", plain_copy="x.1", plain_size=plain,
            scanned_bytes=plain, copied_bytes=5, dialect_json={"encoding": "utf-8"},
        )  # fmt: skip
        SourceFile.objects.update(size=5)
        bars = {bar.label: bar for bar in progress(ImportJob.objects.get(pk=job.pk), timezone.now()).bars}
        assert all(bar.full for bar in bars.values())
        assert (bars["Unpacked"].whole, bars["Scanned"].whole) == (5, 10 * LENGTH)

    def test_others_have_none(self, browser):
        assert "Unpacked" not in [bar.label for bar in progress(make_job(), timezone.now()).bars]


class TestOrdered:
    def test_there_is_nothing_to_turn_and_the_page_says_why(self, browser):
        job = make_job(Status.LOADING, chunks=4, parallelism=1)
        ImportJob.objects.filter(pk=job.pk).update(plan_json=job.plan_json | {"ordered": True})
        html = page(browser, job)
        assert "One chunk after another" in html
        assert 'id="job-more"' not in html

    def test_asked_all_the_same_it_is_refused_with_the_reason(self, browser):
        job = make_job(Status.LOADING, chunks=4, parallelism=1)
        ImportJob.objects.filter(pk=job.pk).update(plan_json=job.plan_json | {"ordered": True})
        answer = browser.post(reverse("job_parallelism", args=[job.pk]), {"parallelism": "2"}, headers=HTMX)
        assert "file&#x27;s order decides" in answer.content.decode()
        assert ImportJob.objects.get(pk=job.pk).parallelism == 1
