"""Schedules in the browser: the list, the page of one with its runs, and its buttons."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection as application
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.schedules.detail import page_state
from importer.engine.errors import TargetUnreachable
from importer.models import DiscoveredFile, Schedule, ScheduleRun
from importer.models.outcomes.looks import look_of
from tests.stack import announce_workers

pytestmark = pytest.mark.django_db


class TestPage:
    def test_runs_their_files_and_the_calendar(self, browser, made):
        due = datetime(2026, 3, 14, 1, 30, tzinfo=UTC)
        run = ScheduleRun.objects.create(
            schedule=made, due_at=due, moment=due, cause="due", status="failed", found_files=1
        )
        DiscoveredFile.objects.create(
            run=run, schedule=made, name="<b>.csv", outcome="failed", problem={"what": "Bad <i>."}
        )
        url = reverse("schedule", args=[made.pk])
        shown = browser.get(url, {"month": "2026-03"}).content.decode()
        assert "&lt;b&gt;.csv" in shown
        assert "Bad &lt;i&gt;." in shown
        assert "Sat 14 Mar, 02:30:00" in shown
        assert 'aria-label="Runs of 14 March: 1 failed"' in shown
        assert "None on that day." in browser.get(url, {"day": "2026-03-15"}).content.decode()
        assert "&lt;b&gt;.csv" in browser.get(url, {"day": "2026-03-14"}).content.decode()

    def test_its_runs_are_the_sum_of_how_they_ended(self, browser, made):
        ends = (("succeeded", ""), ("succeeded", "no new file"), ("failed", ""), ("cancelled", ""), ("waiting", ""))
        for hour, (status, note) in enumerate(ends):
            due = datetime(2026, 3, 14, hour, tzinfo=UTC)
            ScheduleRun.objects.create(schedule=made, due_at=due, moment=due, cause="due", status=status, note=note)
        shown = re.sub("<[^>]+>", "", browser.get(reverse("schedule", args=[made.pk])).text)
        assert "Runs41 succeeded, 1 without a new file, 1 failed, 1 cancelled" in shown

    def test_what_has_to_be_told_apart_has_a_sign_of_its_own(self):
        looks = [look_of(state) for state in ("waiting", "missed", "overdue", "failed", "cancelled")]
        assert len({each.icon for each in looks}) == len(looks)

    def test_the_runs_of_an_opened_day_stand_before_the_calendar(self, browser, made):
        url = reverse("schedule", args=[made.pk])
        for query, runs_first in (({"month": "2026-03"}, False), ({"day": "2026-03-15"}, True)):
            shown = browser.get(url, query).text
            assert (shown.index('id="runs-title"') < shown.index('id="month-title"')) == runs_first

    def test_a_problem_has_the_moment_of_its_look_in_each_place(self, browser, made):
        problem = {"kind": "SourceProblem", "what": "This is not there.", "where": "/a", "advice": "Put it back."}
        address = reverse("schedule", args=[made.pk])
        tokens = set()
        for at in ("2026-11-25T09:38:15+00:00", "2026-11-25T09:38:25+00:00"):
            Schedule.objects.update(problem=problem | {"at": at})
            page = browser.get(address)
            tokens.add(page.context["seen"])
            for shown in (page.text, browser.get(reverse("schedules")).text, browser.get(reverse("home")).text):
                assert re.search(r'This is not there.*?<time [^>]*datetime="(.*?)"', shown, re.S).group(1) in (
                    at, f"2026-11-25T10:38:{at[17:19]}+01:00",
                )  # fmt: skip
        assert len(tokens) == 2
        Schedule.objects.update(problem=problem)
        assert "last look" not in browser.get(address).text

    def test_how_its_last_runs_are_ordered_is_said(self, browser, made):
        for day in (3, 14):
            due = datetime(2026, 3, day, 1, 30, tzinfo=UTC)
            ScheduleRun.objects.create(schedule=made, due_at=due, moment=due, cause="due", status="succeeded")
        shown = browser.get(reverse("schedule", args=[made.pk])).text
        assert "Last runs, from 3 Mar to 14 Mar, the newest last</h2>" in shown
        assert shown.partition('class="strip"')[2].partition("</ol>")[0].count("<svg") == 2

    @pytest.mark.parametrize("query", [{"month": "x"}, {"day": "2026-02-31"}, {"page": "x"}, {"month": "0001-01"}])
    def test_a_wrong_address_shows_what_it_can(self, browser, made, query):
        assert browser.get(reverse("schedule", args=[made.pk]), query).status_code == 200

    def test_due_times_to_come_stand_in_the_calendar(self, browser, made):
        after = (timezone.now() + timedelta(days=40)).strftime("%Y-%m")
        shown = browser.get(reverse("schedule", args=[made.pk]), {"month": after}).content.decode()
        assert shown.count("1 due") >= 28

    def test_missed_due_times_and_the_opened_day_are_marked_in_the_calendar(self, browser, made):
        first, last = (datetime(2026, 3, day, 1, 30, tzinfo=UTC) for day in (3, 5))
        ScheduleRun.objects.create(
            schedule=made, due_at=first, moment=first, last_due_at=last, due_times=3, status="skipped", note="missed"
        )
        shown = browser.get(reverse("schedule", args=[made.pk]), {"day": "2026-03-04"})
        month = shown.context["month"]
        days = [day for week in month.weeks for day in week if day]
        assert [day.date.day for day in days if day.runs] == [3, 4, 5]
        assert [day.ends for day in days if day.runs] == [[("missed", 1)]] * 3
        assert month.legend == [["missed"]]
        assert re.findall(
            r'class="schedule-opened">\s*<a class="schedule-day" href="([^"]+)" aria-current="true"', shown.text
        ) == ["?day=2026-03-04"]

    def test_its_zone_is_named_beside_that_of_other_pages(self, browser, made):
        shown = browser.get(reverse("schedule", args=[made.pk])).text
        assert "Times of this schedule are in Europe/Vienna, those of other pages in UTC." in shown
        made.zone = "UTC"
        made.save()
        assert "Times of this schedule are in UTC." in browser.get(reverse("schedule", args=[made.pk])).text

    def test_what_should_have_begun_is_overdue_in_each_place(self, browser, redis, made):
        shown = [browser.get(reverse(name)).content.decode() for name in ("home", "schedules")]
        assert "No schedule has begun" not in shown[0]
        assert ["as due <time" in each for each in shown] == [False, False]
        address = reverse("schedule", args=[made.pk])
        seen = browser.get(address).context["seen"]
        Schedule.objects.update(next_due_at=timezone.now() - timedelta(days=2))
        assert "Was due <time" in browser.get(reverse("home")).content.decode()
        assert "was due <time" in browser.get(reverse("schedules")).content.decode()
        assert "No schedule has begun since" in browser.get(reverse("home")).text
        assert re.search(
            r'class="text-warning"><svg[^§]{,600}</svg>\s*Was due <time', browser.get(reverse("home")).text
        )
        page = browser.get(address, {"seen": seen}, headers={"HX-Request": "true"}).content.decode()
        assert '<h2 class="subheader">Was due</h2>' in page
        day = f"{timezone.now() - timedelta(days=2):%Y-%m}"
        shown = browser.get(address, {"month": day})
        assert 'title="1 overdue"' in shown.content.decode()
        # Its sign is in the legend, and no other state has it.
        assert ["overdue"] in shown.context["month"].legend
        assert "No worker is running: start <code>millrace serve</code>." in page
        announce_workers()
        assert "The scheduler is not running: start <code>millrace serve</code>." in browser.get(address).text

    def test_no_look_for_files_is_promised_that_nothing_makes(self, browser, made):
        address = reverse("schedule", args=[made.pk])
        Schedule.objects.update(trigger="arrival", next_due_at=timezone.now())
        page = browser.get(address)
        assert "When a file comes" in page.text
        assert "Nothing has begun since" not in page.text
        Schedule.objects.update(next_due_at=timezone.now() - timedelta(days=2))
        shown = browser.get(address, {"seen": page.context["seen"]}, headers={"HX-Request": "true"}).text
        assert "When a file comes" not in shown
        assert "when a look for files was due.</strong>" in shown
        assert '<h2 class="subheader">Was due</h2>' in shown
        assert "was due <time" in browser.get(reverse("schedules")).text
        assert "Was due <time" in browser.get(reverse("home")).text

    def test_a_next_attempt_that_nothing_makes_is_said_to_be_over(self, browser, made):
        run = with_run(made, "stopped", "finding", retry_at=timezone.now() + timedelta(hours=1), failures=1)
        address = reverse("schedule", args=[run.schedule_id])
        assert "Tried again" in browser.get(address).text
        ScheduleRun.objects.update(retry_at=timezone.now() - timedelta(hours=2))
        shown = browser.get(address).text
        assert "Tried again" not in shown
        assert "nothing has begun since." in shown

    def test_a_problem_of_its_connection_leads_there(self, browser, made):
        Schedule.objects.update(problem={"what": "This is not there.", "advice": "Correct the connection."})
        shown = browser.get(reverse("schedule", args=[made.pk])).text
        assert f'href="{reverse("connection", args=[made.connection_id])}">Check the connection' in shown

    def test_a_warning_on_its_settings_stands_beside_them_and_not_among_what_has_happened(self, browser, made):
        Schedule.objects.update(trigger="arrival")
        page = browser.get(reverse("schedule", args=[made.pk])).content.decode()
        assert page.count("so each search lists all of them") == 1
        assert page.index("so each search lists all of them") > page.index("What it does")

    def test_nothing_is_sent_again_before_something_has_changed(self, browser, made):
        url, htmx = reverse("schedule", args=[made.pk]), {"HX-Request": "true"}
        seen = browser.get(url).context["seen"]
        assert browser.get(url, {"seen": seen}, headers=htmx).status_code == 204
        browser.post(reverse("schedule_pause", args=[made.pk]))
        assert "Paused" in browser.get(url, {"seen": seen}, headers=htmx).content.decode()

    def test_time_that_passes_is_shown_with_the_day_and_the_minute_of_the_next_try(self, made):
        # The last minute of a day in Vienna, and the first of the next.
        moments = [datetime(2026, 3, 14, 22, 58, 30, tzinfo=UTC) + timedelta(minutes=number) for number in range(3)]
        assert [len({page_state(made, each) for each in moments[:number]}) for number in (1, 2, 3)] == [1, 1, 2]
        now = timezone.now()
        ScheduleRun.objects.create(schedule=made, due_at=now, moment=now, cause="due", status="waiting", retry_at=now)
        assert len({page_state(made, each) for each in moments}) == 3
        assert page_state(made, moments[0]) == page_state(made, moments[0] + timedelta(seconds=20))


class TestButtons:
    def test_paused_and_resumed(self, browser, made):
        browser.post(reverse("schedule_pause", args=[made.pk]))
        made.refresh_from_db()
        assert (made.paused, made.next_due_at) == (True, None)
        browser.post(reverse("schedule_resume", args=[made.pk]))
        made.refresh_from_db()
        assert not made.paused
        assert made.next_due_at

    def test_a_second_click_says_so(self, browser, made):
        browser.post(reverse("schedule_pause", args=[made.pk]))
        answer = browser.post(reverse("schedule_pause", args=[made.pk]), follow=True)
        assert "The schedule is paused already." in answer.content.decode()

    def test_a_run_for_a_past_day(self, browser, made, user):
        browser.post(reverse("schedule_run", args=[made.pk]), {"date": "2026-03-14"})
        run = made.runs.get()
        assert (run.cause, run.asked_by, run.moment) == ("by hand", user, datetime(2026, 3, 14, 1, 30, tzinfo=UTC))
        answer = browser.post(reverse("schedule_run", args=[made.pk]), {"date": "14.3."}, follow=True)
        assert "“14.3.” is no date" in answer.content.decode()

    def test_a_run_is_cancelled_and_the_schedule_deleted(self, browser, made):
        browser.post(reverse("schedule_run", args=[made.pk]))
        answer = browser.post(reverse("schedule_delete", args=[made.pk]), follow=True)
        assert "A run of the schedule is under way." in answer.content.decode()
        browser.post(reverse("run_cancel", args=[made.runs.get().pk]))
        assert made.runs.get().status == "cancelled"
        browser.post(reverse("schedule_delete", args=[made.pk]))
        assert not Schedule.objects.exists()


def test_the_list_tells_when_and_how_the_last_run_went(browser, made):
    now = timezone.now()
    ScheduleRun.objects.create(
        schedule=made, due_at=now, moment=now, cause="due", status="failed", problem={"what": "Gone."}
    )
    shown = browser.get(reverse("schedules")).content.decode()
    assert "At 02:30 every day, Europe/Vienna" in shown
    assert "Gone." in shown


def with_run(schedule, name, status, **values):
    """A copy of the schedule, with a run that has come so far."""
    schedule.pk, schedule.name = None, name
    schedule.save(force_insert=True)
    now = timezone.now()
    run = {"due_at": now, "moment": now, "cause": "due", "status": status}
    return ScheduleRun.objects.create(schedule=schedule, **run | values)


def test_what_fails_or_is_late_is_said_on_the_list_of_imports(browser, made):
    assert "attention" not in browser.get(reverse("jobs")).content.decode()
    with_run(made, "fine", "succeeded", events=[{"event": "late", "at": ""}])
    with_run(made, "hanging", "loading", events=[{"event": "late", "at": ""}])
    with_run(made, "failing", "failed")
    with_run(made, "resting", "failed")
    Schedule.objects.filter(name__in=("hanging", "fine")).update(lateness_minutes=5)
    Schedule.objects.filter(name="resting").update(paused=True)
    assert "2 schedules need attention" in browser.get(reverse("jobs")).content.decode()
    shown = browser.get(reverse("schedules"), {"show": "attention"})
    assert [row["schedule"].name for row in shown.context["rows"]] == ["failing", "hanging"]


def test_an_unreachable_target_is_named_in_the_list_the_runs_and_the_calendar(browser, made):
    problem = TargetUnreachable("The server does not answer.").as_json()
    run = with_run(made, "silent", "failed", problem=problem, finished_at=timezone.now())
    assert "Target unreachable" in browser.get(reverse("schedules")).content.decode()
    page = browser.get(reverse("schedule", args=[run.schedule_id])).content.decode()
    assert "Target unreachable" in page
    assert "1 target unreachable" in page


def test_a_list_of_many_asks_the_database_as_often_as_one_of_few(browser, made, django_assert_num_queries):
    with CaptureQueriesContext(application) as few:
        browser.get(reverse("schedules"))
    for number in range(20):
        with_run(made, f"schedule {number}", "failed")
    # The runs and those of the strips; and what has settled these two, and those that need attention.
    with django_assert_num_queries(len(few) + 8):
        browser.get(reverse("schedules"))


def test_a_run_and_missed_due_times_are_run_again_by_their_buttons(browser, made):
    Schedule.objects.update(pattern="orders-{date:%Y%m%d}.csv")
    day = datetime(2026, 3, 2, 1, 30, tzinfo=UTC)
    values = {"schedule": made, "moment": day, "cause": "due", "finished_at": day}
    failed = ScheduleRun.objects.create(due_at=day, status="failed", **values)
    last = day + timedelta(days=2)
    missed = {"due_at": day + timedelta(days=1), "last_due_at": last, "due_times": 2, "status": "skipped"}
    skipped = ScheduleRun.objects.create(**values | missed | {"moment": missed["due_at"]}, note="missed")
    page = browser.get(reverse("schedule", args=[made.pk])).content.decode()
    assert "<strong>2 due times were missed</strong>, from Tue 3 Mar, 02:30 to Wed 4 Mar, 02:30." in page
    assert page.count("Run now</button>") == page.count("Catch up</button>") == 1
    assert "2 due times missed" in browser.get(reverse("schedules")).content.decode()
    for run, said in ((failed, "A run has begun."), (skipped, "2 runs have begun.")):
        answer = browser.post(reverse("run_again", args=[run.pk]), follow=True)
        assert said in answer.content.decode()
    assert sorted(made.runs.filter(cause="by hand").values_list("moment", flat=True)) == [
        day + timedelta(days=number) for number in range(3)
    ]
    assert "were missed" not in browser.get(reverse("schedule", args=[made.pk])).content.decode()


def test_past_days_are_entered_as_dates(browser, made):
    def answer(first, last):
        backfill = reverse("schedule_backfill", args=[made.pk])
        return browser.post(backfill, {"first": first, "last": last}, follow=True).content.decode()

    assert "“soon” is no date." in answer("soon", "2026-03-02")
    assert "A run has begun." in answer("2026-03-01", "2026-03-02")
