"""The list of imports: what it shows, finds and sorts, and that of many it reads no more than a page."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.jobs.list.page import PAGE_ROWS, SORTS
from importer.engine.errors import ApprovalRefused, Problem, TargetUnreachable
from importer.models import ImportJob, SourceFile, Target
from importer.models.outcomes import outcome, outcome_words
from tests.dashboard.job_data import Status, make_job
from tests.people import operator

pytestmark = pytest.mark.django_db

MANY = 1000


@pytest.fixture
def browser(client):
    client.force_login(operator("ann"))
    return client


def listed(browser, **query):
    """The jobs' primary keys in the order of the page."""
    return [row["pk"] for row in browser.get(reverse("jobs"), query).context["jobs"]]


def timed(seconds, **fields):
    """An ended job that took so long."""
    now = timezone.now()
    times = {"started_at": now - timedelta(seconds=seconds), "finished_at": now}
    return make_job(Status.SUCCEEDED, chunks=1, **times, loading_seconds=seconds, total_seconds=seconds, **fields)


class TestWhatItShows:
    def test_settings_beside_timings(self, browser):
        timed(10, file_name="nodes.csv", parallelism=3, loaded_rows=1_234_567, rows_per_second=123_456.7)
        page = browser.get(reverse("jobs")).content.decode()
        for shown in ("nodes.csv", "osm.nodes", "warehouse", "1,234,567", "123k", "10.0 s", "LOAD DATA LOCAL"):
            assert shown in page
        (row,) = browser.get(reverse("jobs")).context["jobs"]
        assert row["throughput"] == pytest.approx(320_000 / 10)
        assert (row["parallelism"], row["chunk_bytes"], row["method"]) == (3, 320_000, "load_data_local")

    def test_a_job_that_has_not_begun(self, browser):
        make_job(Status.WAITING, chunks=1, loaded=0)
        (row,) = browser.get(reverse("jobs")).context["jobs"]
        assert (row["seconds"], row["throughput"], row["progress"]) == (None, None, 0)

    def test_a_packed_file_has_the_progress_of_its_working_copy(self, browser):
        job = make_job(Status.LOADING, chunks=10, loaded=5)
        ImportJob.objects.update(plain_size=job.source.size)
        SourceFile.objects.update(size=job.source.size // 5)
        (row,) = browser.get(reverse("jobs")).context["jobs"]
        assert row["progress"] == 50

    def test_rejected_rows_are_not_hidden(self, browser):
        timed(1, rejected_rows=12)
        assert "12 rejected" in browser.get(reverse("jobs")).content.decode()

    def test_how_it_ended_in_the_words_of_the_report(self, browser):
        unreachable = make_job(Status.FAILED, chunks=1, problem=TargetUnreachable("It does not answer."))
        others = (
            make_job(Status.FAILED, chunks=1, problem=Problem("A disk is full.")),
            timed(1, restored_at=timezone.now()),
            timed(1, rejected_rows=1),
            timed(1),
            make_job(Status.CANCELLED, chunks=1),
        )
        listing = browser.get(reverse("jobs"))
        words = {row["pk"]: row["outcome"] for row in listing.context["jobs"]}
        assert words == {job.pk: outcome(job).words for job in (unreachable, *others)}
        assert list(words.values())[::-1] == [
            "target unreachable", "failed", "restored", "completed with rejects", "succeeded", "cancelled",
        ]  # fmt: skip
        assert "Target unreachable" in listing.content.decode()

    def test_why_it_failed_or_is_held_up_stands_under_its_state_until_it_is_dealt_with(self, browser):
        make_job(Status.FAILED, chunks=1, problem=Problem("A disk is full."))
        make_job(Status.INDEXING, chunks=1, obstacle=Problem("The keys cannot be put back yet.").as_json())
        dismissed = make_job(Status.FAILED, chunks=1, problem=Problem("No such table."))
        ImportJob.objects.filter(pk=dismissed.pk).update(dismissed_at=timezone.now())
        listing = browser.get(reverse("jobs")).text
        found = re.findall(r'class="text-secondary reason"[^>]*>([^<]*)<', listing)
        assert found == ["The keys cannot be put back yet.", "A disk is full."]

    def test_it_renews_itself_often_while_something_runs(self, browser):
        timed(1)
        assert 'data-refresh="30"' in browser.get(reverse("jobs")).content.decode()
        make_job(Status.LOADING, chunks=4)
        assert 'data-refresh="5"' in browser.get(reverse("jobs")).content.decode()


class TestEmpty:
    def test_without_a_target_it_leads_to_adding_one(self, admin_client, browser):
        assert reverse("target_new") in admin_client.get(reverse("jobs")).content.decode()
        page = browser.get(reverse("jobs")).content.decode()
        assert "An admin adds the MySQL or MariaDB server" in page
        assert reverse("target_new") not in page

    def test_with_a_target_it_leads_to_importing(self, browser):
        Target.objects.create(name="t", host="h", user="u", database="d")
        page = browser.get(reverse("jobs")).content.decode()
        assert "Import a file" in page
        assert reverse("target_new") not in page

    def test_a_filter_that_finds_nothing_says_so_and_keeps_the_filter(self, browser):
        timed(1)
        page = browser.get(reverse("jobs"), {"q": "nothing like it"}).content.decode()
        assert "No matching imports" in page
        assert 'value="nothing like it"' in page


class TestFilters:
    def test_each_outcome_has_a_filter_that_lists_what_has_its_label_and_nothing_else(self, browser):
        made = [
            timed(1),
            timed(1, rejected_rows=3),
            timed(1, rejected_rows=3, restored_at=timezone.now()),
            timed(1, balanced=False),
            make_job(Status.FAILED, chunks=1),
            make_job(Status.FAILED, chunks=1, problem=Problem("The disk is full.")),
            make_job(Status.FAILED, chunks=1, problem=TargetUnreachable("It does not answer.")),
            make_job(Status.FAILED, chunks=1, problem=ApprovalRefused("bob refused it.")),
            make_job(Status.CANCELLED, chunks=1),
            make_job(Status.LOADING, chunks=1),
            make_job(Status.UNAPPROVED, chunks=1),
        ]
        answer = browser.get(reverse("jobs"))
        labels = {row["pk"]: row["outcome"] for row in answer.context["jobs"]}
        assert labels == {job.pk: outcome_words(job) for job in made}
        states = dict(answer.context["choosers"][0].choices)
        by_state = {state: sorted(listed(browser, status=state)) for state in states}
        told = {job.pk: job.status if job.status == Status.UNAPPROVED else labels[job.pk] for job in made}
        assert by_state == {state: sorted(pk for pk, word in told.items() if word == state) for state in states}
        assert set(told.values()) <= set(states)

    def test_by_day_and_by_number(self, browser):
        days = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (19, 20, 21)]
        made = [timed(1).pk for _ in days]
        for pk, at in zip(made, days, strict=True):
            ImportJob.objects.filter(pk=pk).update(created_at=at)
        assert listed(browser, first="2026-11-20") == made[:0:-1]
        assert listed(browser, last="2026-11-20") == made[1::-1]
        assert listed(browser, first="2026-11-20", last="2026-11-20") == [made[1]]
        assert listed(browser, first="2026-02-30") == []
        for text in (f"{made[0]}", f"import {made[0]}", f"Import{made[0]}", f"#{made[0]}"):
            assert made[0] in listed(browser, q=text)
        assert listed(browser, q=f"import {made[0]}") == [made[0]]
        page = browser.get(reverse("jobs"), {"first": "2026-11-20"}).text
        assert 'name="first" value="2026-11-20"' in page
        assert ">20 Nov" in page

    def test_by_target(self, browser):
        other = Target.objects.create(name="other", host="h", user="u", database="d")
        there = timed(1, target=other)
        timed(1)
        assert listed(browser, target=other.name) == [there.pk]

    @pytest.mark.parametrize("text", ["flight", "FLIGHT", " flights.csv ", "travel"])
    def test_by_a_part_of_the_name_of_file_table_or_database(self, browser, text):
        found = timed(1, file_name="flights.csv", table="flights", schema_name="travel")
        timed(1, file_name="100%.csv")
        assert listed(browser, q=text) == [found.pk]

    def test_a_percent_sign_is_only_a_percent_sign(self, browser):
        found = timed(1, file_name="100%.csv")
        timed(1, file_name="1000.csv")
        assert listed(browser, q="100%") == [found.pk]

    @pytest.mark.parametrize(
        "query", [{"target": "x"}, {"status": "nonsense"}, {"target": "9" * 30}, {"target": "%"}, {"q": "\\"}]
    )
    def test_nonsense_finds_nothing_and_is_no_error(self, browser, query):
        timed(1)
        assert listed(browser, **query) == []

    @pytest.mark.parametrize("page", ["0", "-1", "99", "x", "9" * 30])
    def test_a_page_that_is_not_there_is_the_nearest_one(self, browser, page):
        job = timed(1)
        assert listed(browser, page=page) == [job.pk]


class TestSorting:
    def test_newest_first_by_default_and_for_nonsense(self, browser):
        first, second = timed(1), timed(1)
        assert listed(browser) == [second.pk, first.pk]
        assert listed(browser, sort="password") == [second.pk, first.pk]

    @pytest.mark.parametrize("name", SORTS)
    def test_each_column_both_ways_with_the_unknown_last(self, browser, name):
        low = timed(20, file_name="a", table="a", parallelism=1, rows_per_second=1, committed_bytes=5, loaded_rows=1)
        high = timed(10, file_name="b", table="b", parallelism=2, rows_per_second=2, committed_bytes=99, loaded_rows=2)
        waiting = make_job(Status.WAITING, chunks=1, file_name="c", table="c", parallelism=3, loaded=0)
        ImportJob.objects.filter(pk=low.pk).update(plan_json={**low.plan_json, "chunk_bytes": 9, "method": "insert"})
        SourceFile.objects.filter(pk=low.source_id).update(size=1)
        up, down = listed(browser, sort=name), listed(browser, sort=f"-{name}")
        assert set(up) == set(down) == {low.pk, high.pk, waiting.pk}
        if name in ("rate", "throughput", "seconds"):
            assert up[-1] == down[-1] == waiting.pk
            assert up[:2] == down[1::-1]
        if name == "seconds":
            assert up == [high.pk, low.pk, waiting.pk]
        elif name == "rows":
            assert up == [waiting.pk, low.pk, high.pk]
        elif name not in ("target", "status", "owner"):
            assert up[0] == low.pk
        if name in ("file", "table", "parallelism", "started"):
            assert up == [low.pk, high.pk, waiting.pk]

    def test_rows_are_those_in_the_table(self, browser):
        timed(1, rejected_rows=3, skipped_rows=4, loaded_rows=5)
        timed(1, restored_at=timezone.now())
        preview = {"previewed_at": timezone.now(), "loaded_rows": 0, "rejected_rows": 3}
        make_job(Status.CANCELLED, chunks=1, loaded=0, **preview)
        assert [each["rows"] for each in browser.get(reverse("jobs")).context["jobs"]] == [0, 0, 5]

    def test_equal_ones_keep_one_order_so_that_pages_do_not_overlap(self, browser):
        made = [timed(1, parallelism=2).pk for _ in range(5)]
        assert listed(browser, sort="parallelism") == made[::-1]

    def test_a_heading_turns_the_order_round_and_keeps_the_filter(self, browser):
        timed(1)
        page = browser.get(reverse("jobs"), {"sort": "-rate", "q": "nodes", "page": "1"}).content.decode()
        assert 'href="?sort=rate&amp;q=nodes"' in page


class TestPartOfThePage:
    def test_htmx_gets_only_the_table(self, browser):
        timed(1)
        answer = browser.get(reverse("jobs"), headers={"HX-Request": "true"})
        page = answer.content.decode()
        assert page.strip().startswith('<div id="jobs"')
        assert "<html" not in page
        assert "HX-Request" in answer["Vary"]

    def test_nothing_is_sent_again_before_something_has_changed(self, browser):
        job = make_job(Status.LOADING, chunks=4)
        page = browser.get(reverse("jobs"), {"q": "nodes"})
        poll = {"q": "nodes", "seen": page.context["seen"]}
        assert browser.get(reverse("jobs"), poll, headers={"HX-Request": "true"}).status_code == 204
        ImportJob.objects.filter(pk=job.pk).update(status=Status.PAUSED)
        changed = browser.get(reverse("jobs"), poll, headers={"HX-Request": "true"})
        assert (changed.status_code, changed.context["filters"].query) == (200, "q=nodes")
        assert "seen=" not in changed.context["request"].GET.urlencode()


class TestMany:
    @pytest.fixture
    def many(self):
        one = timed(3, file_name="seed.csv")
        sources = [SourceFile(name=f"file-{n}.csv", path="/x", size=n, status="ready") for n in range(1, MANY)]
        SourceFile.objects.bulk_create(sources, batch_size=1000)
        # Asked for again: MySQL does not hand back the keys.
        sources = SourceFile.objects.filter(name__startswith="file-").order_by("pk")
        jobs = [
            ImportJob(
                target=one.target,
                source=source,
                schema_name="osm",
                table_name=f"table_{number % 50}",
                status=Status.SUCCEEDED if number % 10 else Status.FAILED,
                balanced=True,
                dialect_json=one.dialect_json,
                mapping_json=one.mapping_json,
                plan_json=one.plan_json,
                started_at=one.started_at,
                finished_at=one.finished_at + timedelta(seconds=number % 700),
                committed_bytes=number,
                loaded_rows=number,
                rows_per_second=number % 4000,
            )
            for number, source in enumerate(sources)
        ]
        ImportJob.objects.bulk_create(jobs, batch_size=1000)

    def test_a_page_is_one_question_for_its_rows_alone_however_it_is_sorted(
        self, browser, many, django_assert_max_num_queries
    ):
        for name in SORTS:
            for query in ({"sort": f"-{name}"}, {"sort": name, "q": "table_4", "status": "succeeded"}):
                # Session, user, role, grants, count, order, slower ones, what came after bad ends (ends, their files,
                # later imports of these), rows, and what the filters offer.
                with django_assert_max_num_queries(15) as queries:
                    page = browser.get(reverse("jobs"), query).context["jobs"]
                assert len(page) == PAGE_ROWS
                # Whole rows are read of those alone that the page shows: to sort them all took ten times as long.
                selects = [sql["sql"].split(" FROM ", 1) for sql in queries]
                wide = [condition for selected, condition in selects if "schema_name" in selected]
                assert wide
                assert all(" IN (" in each for each in wide)

    def test_all_pages_together_hold_every_job_once(self, browser, many):
        seen = [pk for number in (1, 2, 20) for pk in listed(browser, page=number, sort="rate")]
        assert len(seen) == len(set(seen)) == 3 * PAGE_ROWS
        page = browser.get(reverse("jobs"), {"page": 20}).content.decode()
        assert re.search(r"951 to 1,000 of 1,000", page)


def test_what_has_not_succeeded_has_the_rate_of_its_page(browser):
    for status, rows in ((Status.FAILED, 671), (Status.CANCELLED, 50), (Status.FAILED, 0)):
        timed(2, loaded_rows=rows, rows_per_second=None)
        ImportJob.objects.filter(pk=ImportJob.objects.latest("pk").pk).update(status=status, loading_seconds=0.5)
    timed(2, loaded_rows=100, rows_per_second=200)
    by_rate = browser.get(reverse("jobs"), {"sort": "-rate"}).context["jobs"]
    assert [each["rate"] for each in by_rate] == [1342, 200, 100, None]
    shown = browser.get(reverse("jobs")).text
    assert "1.34k<span" in shown
