"""The page Home: what needs a person, what runs, what is due, and what others may not see."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection as application
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.home.days import HEIGHT
from importer.engine.errors import Problem
from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun, SourceConnection
from importer.models.outcomes.reloaded_rows import rows_missing
from tests.dashboard.job_data import Status, make_job
from tests.people import stranger

pytestmark = pytest.mark.django_db

HEADER = Problem("The header changed: price missing.").as_json()


def make_schedule(name: str = "nightly") -> Schedule:
    """A schedule with the recipe of an import."""
    job = make_job(Status.SUCCEEDED, chunks=1)
    connection, _ = SourceConnection.objects.get_or_create(name="incoming", kind="folder", base="/nowhere")
    recipe = {each: getattr(job, each) for each in ("target", "schema_name", "table_name", "dialect_json")}
    return Schedule.objects.create(
        name=name, connection=connection, pattern="*.csv", trigger="cron", cron="30 2 * * *", header=["id"],
        columns_json=[], mapping_json=[], zone="Europe/Vienna", next_due_at=timezone.now() + timedelta(hours=3),
        **recipe,
    )  # fmt: skip


def make_run(schedule: Schedule, day: int, status: str, job: ImportJob | None = None, **values) -> ScheduleRun:
    due_at = datetime(2026, 11, day, 1, 30, tzinfo=UTC)
    run = ScheduleRun.objects.create(
        schedule=schedule, due_at=due_at, moment=due_at, cause="due", status=status, **values
    )
    if job:
        DiscoveredFile.objects.create(run=run, schedule=schedule, name=job.source.name, outcome="loaded", job=job)
    return run


def needing(browser) -> list[tuple[str, str]]:
    answer = browser.get(reverse("home"))
    return [(each.title, each.outcome) for each in answer.context["matters"]]


class TestAttention:
    def test_what_did_not_end_well_until_something_makes_up_for_it(self, browser):
        failed = make_job(Status.FAILED, chunks=1, file_name="broken.csv", problem=Problem("It broke."))
        lossy = make_job(Status.SUCCEEDED, chunks=1, file_name="lossy.csv", rejected_rows=2_495)
        make_job(Status.SUCCEEDED, chunks=1, file_name="fine.csv")
        make_job(Status.CANCELLED, chunks=1, file_name="stopped.csv")
        make_job(Status.UNAPPROVED, chunks=1, file_name="asked.csv")
        assert needing(browser) == [
            ("asked.csv", "waits for approval"),
            ("lossy.csv", "completed with rejects"),
            ("broken.csv", "failed"),
        ]
        page = browser.get(reverse("home")).content.decode()
        assert "3 things need your attention" in page
        assert "2,495 rows of 5,895 rejected; osm.nodes lacks them" in page
        some = make_job(Status.SUCCEEDED, chunks=1, loaded_rows=2_400, rejected_rows=0, rejects_of=lossy)
        assert ("lossy.csv", "completed with rejects") in needing(browser)
        assert "95 of 2,495 rejected rows not loaded since; osm.nodes lacks them" in browser.get(reverse("home")).text
        rest = make_job(Status.SUCCEEDED, chunks=1, loaded_rows=94, rejected_rows=1, rejects_of=lossy, file_name="rest")
        assert [name for name, _ in needing(browser)] == ["rest", "asked.csv", "broken.csv"]
        assert [rows_missing(each) for each in (lossy, some, rest)] == [1, 0, 1]
        make_job(Status.SUCCEEDED, chunks=1, loaded_rows=1, rejects_of=rest)
        assert rows_missing(lossy) == 0
        again = make_job(Status.SUCCEEDED, chunks=1)
        ImportJob.objects.filter(pk=again.pk).update(source=failed.source)
        assert needing(browser) == [("asked.csv", "waits for approval")]

    def test_a_file_that_fails_again_and_again_is_one_matter(self, browser):
        jobs = [make_job(Status.FAILED, chunks=1, problem=Problem(f"It broke, {n}.")) for n in range(12)]
        ImportJob.objects.filter(pk__in=[each.pk for each in jobs]).update(source=jobs[0].source)
        assert len(needing(browser)) == 1
        page = browser.get(reverse("home")).content.decode()
        assert "1 thing needs your attention" in page
        assert "12 imports of it in 14 days. It broke, 11." in page
        ImportJob.objects.filter(pk=jobs[3].pk).update(status=Status.SUCCEEDED, balanced=True)
        assert "8 imports of it in 14 days." in browser.get(reverse("home")).content.decode()
        ImportJob.objects.filter(pk=jobs[-1].pk).update(status=Status.SUCCEEDED, balanced=True)
        assert needing(browser) == []

    def test_what_is_long_ago_is_left_out(self, browser):
        make_job(Status.FAILED, chunks=1, finished_at=timezone.now() - timedelta(days=20))
        assert needing(browser) == []
        assert "Nothing needs your attention" in browser.get(reverse("home")).content.decode()

    def test_a_schedule_stands_for_the_import_of_its_run(self, browser):
        schedule = make_schedule()
        job = make_job(Status.FAILED, chunks=1, problem=Problem("It broke."))
        make_run(schedule, 20, "failed", job, problem=HEADER)
        assert needing(browser) == [("nightly", "failed")]


def test_the_latest_imports_that_ended_are_named_with_their_outcome(browser):
    make_job(Status.SUCCEEDED, chunks=1, file_name="first.csv")
    running = make_job(Status.LOADING, chunks=2, loaded=1, file_name="running.csv")
    lossy = make_job(Status.SUCCEEDED, chunks=1, file_name="lossy.csv", rejected_rows=7)
    page = browser.get(reverse("home"))
    assert [each.source.name for each in page.context["ended"]] == ["lossy.csv", "first.csv"]
    assert page.context["running"] == [(running, 50)]
    shown = page.content.decode().partition(f'id="ended-{lossy.pk}"')[2].partition("</li>")[0]
    assert "Completed with rejects" in shown
    assert f"{lossy.loaded_rows:,} rows into osm.nodes" in shown


class TestLastDays:
    def test_each_day_has_its_imports_by_colour_and_their_rows(self, browser):
        noon = timezone.localtime().replace(hour=12)
        old, yesterday = noon - timedelta(days=14), noon - timedelta(days=1)
        for _ in range(200):
            make_job(Status.SUCCEEDED, chunks=0, finished_at=yesterday, loaded_rows=10)
        make_job(Status.SUCCEEDED, chunks=0, finished_at=yesterday, loaded_rows=5, rejected_rows=2)
        make_job(Status.FAILED, chunks=0, finished_at=yesterday)
        before = {"chunks": 0, "finished_at": noon - timedelta(days=3)}
        make_job(Status.SUCCEEDED, **before, loaded_rows=7, restored_at=noon)
        make_job(Status.CANCELLED, **before)
        for _ in range(2):
            make_job(Status.CANCELLED, **before, previewed_at=noon)
        make_job(Status.SUCCEEDED, chunks=0, finished_at=old)
        make_job(Status.LOADING, chunks=0)
        shown = browser.get(reverse("home"))
        assert "1 cancelled, 1 restored, 2 previewed</span>" in shown.text
        found = shown.context["last_days"]
        assert [day.imports for day in found.days] == [0] * 10 + [4, 0, 202, 0]
        assert found.rows == 2005
        parts = {part.kind: part for part in found.days[-2].parts}
        assert {words: part.imports for words, part in parts.items()} == {
            "succeeded": 200, "completed with rejects": 1, "failed": 1,
        }  # fmt: skip
        assert found.days[-2].rows == 2005
        # One in two hundred is seen, and nothing leaves the picture.
        assert parts["failed"].height >= 2
        assert sum(part.height for part in parts.values()) <= HEIGHT
        assert min(part.top for part in parts.values()) >= 0
        assert [(part.kind, part.imports) for part in found.totals] == [
            *(("succeeded", 200), ("cancelled", 1), ("restored", 1), ("previewed", 2)),
            *(("completed with rejects", 1), ("failed", 1)),
        ]

    def test_what_was_settled_since_is_not_red(self, browser, admin_user):
        failed, again, lossy, dismissed = (
            make_job(status, chunks=1, rejected_rows=rejected, scanned_rows=3_400 + rejected)
            for status, rejected in (("failed", 0), ("succeeded", 0), ("succeeded", 2), ("failed", 0))
        )
        make_job(Status.FAILED, chunks=1)
        ImportJob.objects.filter(pk=again.pk).update(source=failed.source)
        ImportJob.objects.filter(pk=dismissed.pk).update(dismissed_at=timezone.now(), dismissed_by=admin_user)
        for _ in range(2):
            make_job(Status.SUCCEEDED, chunks=0, loaded_rows=1, rejects_of=lossy)
        found = browser.get(reverse("home")).context["last_days"]
        assert {part.kind: part.imports for part in found.totals} == {
            "succeeded": 3, "settled since": 3, "failed": 1,
        }  # fmt: skip

    def test_the_imports_of_others_are_left_out(self, client):
        make_job(Status.SUCCEEDED, chunks=1)
        client.force_login(stranger("bob"))
        assert client.get(reverse("home")).context["last_days"].imports == 0


class TestStrip:
    def test_a_lossy_night_is_amber_and_each_mark_has_words(self, browser):
        schedule = make_schedule()
        for day in range(1, 20):
            make_run(schedule, day, "succeeded", make_job(Status.SUCCEEDED, chunks=1))
        make_run(schedule, 20, "succeeded", make_job(Status.SUCCEEDED, chunks=1, rejected_rows=3))
        make_run(schedule, 21, "skipped", due_times=2)
        page = browser.get(reverse("home")).content.decode()
        assert page.count('class="mark ') == 14
        assert page.count("mark-yellow") == 1
        assert "Fri 20 Nov, 02:30: completed with rejects, 3 rows rejected" in page
        assert f"{reverse('schedule', args=[schedule.pk])}?day=2026-11-20#runs-title" in page


def test_what_runs_and_that_nothing_is_sent_again_before_something_has_changed(browser):
    job = make_job(Status.LOADING, chunks=10, file_name="under way.csv")
    page = browser.get(reverse("home"))
    assert "under way.csv" in page.content.decode()
    seen = page.context["state"]
    assert browser.get(reverse("home"), {"seen": seen}, headers={"HX-Request": "true"}).status_code == 204
    ImportJob.objects.filter(pk=job.pk).update(status=Status.PAUSED)
    changed = browser.get(reverse("home"), {"seen": seen}, headers={"HX-Request": "true"}).content.decode()
    assert "Paused" in changed
    assert "<html" not in changed


def test_what_somebody_may_not_see_is_left_out(client):
    schedule = make_schedule("secret nightly")
    make_run(schedule, 20, "failed", problem=HEADER)
    make_job(Status.LOADING, chunks=2, file_name="secret.csv")
    make_job(Status.FAILED, chunks=2, file_name="secret too.csv")
    client.force_login(stranger("bob"))
    assert "secret" not in client.get(reverse("home")).content.decode()


def test_many_schedules_and_imports_ask_the_database_as_often_as_few(browser):
    def fill(count: int) -> None:
        for number in range(count):
            schedule = make_schedule(f"{Schedule.objects.count()}-{number}")
            make_run(schedule, 20, "failed", problem=HEADER)
            make_job(Status.LOADING, chunks=1)
            make_job(Status.FAILED, chunks=1)

    fill(2)
    browser.get(reverse("home"))  # What is read once for each session.
    with CaptureQueriesContext(application) as few:
        browser.get(reverse("home"))
    fill(10)
    with CaptureQueriesContext(application) as many:
        browser.get(reverse("home"))
    assert len(many) <= len(few)
