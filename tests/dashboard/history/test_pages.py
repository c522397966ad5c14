"""The history's page: any columns, any conditions, charts as data and in words, and addresses that hold it all."""

import csv
from io import StringIO

import pytest
from django.urls import reverse

from bench.workloads.sample_history import seed
from dashboard.history.url_state import USUAL
from importer.engine.errors import TargetUnreachable
from importer.history.charts import STEPS
from importer.history.facts import FACTS
from importer.history.query import Query
from importer.history.search import in_order
from importer.jobs.record import write_record
from importer.models import ImportJob, JobFact, JobRecord, Target
from tests.dashboard.job_data import Status, make_job
from tests.documents import read
from tests.sample_imports import made_up_imports

pytestmark = pytest.mark.django_db
JOBS = 60
TABLE = "made_up.t1"


@pytest.fixture(scope="module")
def told(django_db_setup, django_db_blocker):
    """What is known of made-up imports, by import."""
    with django_db_blocker.unblock(), made_up_imports(JOBS, JOBS, tables=3) as made:
        yield made


def shown(browser, query=""):
    return browser.get(reverse("history") + query)


def listed(answer):
    return [line.job for line in answer.context["table"].lines]


def chart(browser, query=""):
    return browser.get(reverse("history_chart") + query)


class TestTheTable:
    def test_the_newest_imports_and_the_usual_columns_come_first(self, browser, told):
        answer = shown(browser)
        assert listed(answer) == in_order(Query())[:50]
        assert [each.name for each in answer.context["table"].headings] == list(USUAL)

    def test_every_fact_can_be_a_column(self, browser, told):
        answer = shown(browser, "?columns=all")
        assert [each.name for each in answer.context["table"].headings] == list(FACTS)

    def test_conditions_of_the_address_and_of_the_form_hold_together(self, browser, told):
        answer = browser.get(
            reverse("history"),
            {"where": "indexes = defer", "fact": "rows_per_second", "op": ">", "value": "1000"},
            headers={"HX-Request": "true"},
        )
        wanted = {
            job for job, facts in told.items() if facts["indexes"] == "defer" and facts.get("rows_per_second", 0) > 1000
        }
        assert 0 < len(wanted) < JOBS
        assert set(listed(answer)) <= wanted
        assert answer.context["table"].page.found == len(wanted)
        assert answer["HX-Push-Url"].count("where=") == 2
        assert "fact=" not in answer["HX-Push-Url"]

    def test_its_heading_says_of_how_many_imports_the_condition_lets_some_through(self, browser, told):
        of_table = [facts for facts in told.values() if facts["table"] == TABLE]
        failed = sum(facts["status"] == "failed" for facts in of_table)
        filtered = shown(browser, f"?table={TABLE}&where=status+%3D+failed").content.decode()
        assert f"{failed} of {len(of_table)} imports match</h2>" in filtered
        assert f"{TABLE} · {len(of_table)} imports</option>" in filtered
        assert f">{len(of_table)} imports</h2>" in shown(browser, f"?table={TABLE}").content.decode()

    def test_a_form_sent_without_javascript_ends_at_the_short_address(self, browser, told):
        sent = {"columns": ["rows", "file"], "fact": "status", "op": "=", "value": "failed"}
        answer = browser.get(reverse("history"), sent)
        assert answer.status_code == 302
        assert answer.url == reverse("history") + "?columns=job,rows,file&where=status+%3D+failed"

    def test_a_heading_sorts_and_then_turns_round(self, browser, told):
        first = next(each for each in shown(browser).context["table"].headings if each.name == "rows_per_second")
        answer = shown(browser, first.address)
        assert listed(answer) == in_order(Query(sort="-rows_per_second"))[:50]
        again = next(each for each in answer.context["table"].headings if each.name == "rows_per_second")
        assert (again.order, "sort=rows_per_second" in again.address) == ("descending", True)

    def test_what_was_slower_than_its_like_has_a_badge(self, browser, told):
        slow = max(job for job, facts in told.items() if facts["status"] == "succeeded")
        facts = {"slower_than_like": 1, "like_imports": 7, "like_rows_per_second": 123_456}
        JobFact.objects.bulk_create(
            JobFact(record_id=slow, name=name, number=value, text="") for name, value in facts.items()
        )
        badges = {line.job: line.badges for line in shown(browser).context["table"].lines}
        assert "against 123,456 rows/s, the median of 7 imports like it before" in badges.pop(slow)[0].about
        assert "slower than similar imports" not in [each.text for of in badges.values() for each in of]

    def test_the_best_of_a_table_has_a_badge(self, browser, told):
        rates = {job: facts.get("rows_per_second", 0) for job, facts in told.items() if facts["table"] == TABLE}
        answer = shown(browser, f"?table={TABLE}&sort=-rows_per_second")
        best = [line.job for line in answer.context["table"].lines if "best" in [each.text for each in line.badges]]
        assert best == [max(rates, key=rates.get)]


class TestAddressesThatAskInVain:
    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("?where=indexs+%3D+defer", "There is no fact &#x27;indexs&#x27;. Did you mean indexes"),
            ("?where=rows+%3D+many", "rows cannot be &#x27;many&#x27;. Give a number."),
            ("?where=rows", "No condition is &#x27;rows&#x27;."),
            ("?columns=job,nothing", "There is no fact &#x27;nothing&#x27;."),
            ("?sort=-nothing", "There is no fact &#x27;nothing&#x27;."),
            ("?y=table", "table is no number"),
            ("?chart=pie", "There is no chart &#x27;pie&#x27;."),
        ],
    )
    def test_they_are_told_what_is_wrong_beside_what_holds(self, browser, told, query, said):
        answer = shown(browser, query)
        assert answer.status_code == 200
        assert said in answer.content.decode()
        assert len(listed(answer)) == 50
        assert chart(browser, query).status_code == 400
        assert browser.get(reverse("history_csv") + query).status_code == 400

    @pytest.mark.parametrize("query", ["?page=0", "?page=-1", "?page=9999999999", "?page=x", "?x=&y=&chart="])
    def test_what_has_a_usual_value_takes_it(self, browser, told, query):
        answer = shown(browser, query)
        assert answer.status_code == 200
        assert answer.context["view"].problems == ()

    def test_no_fact_has_no_values(self, browser, told):
        assert browser.get(reverse("history_values"), {"fact": "nothing"}).status_code == 404


class TestCharts:
    def test_settings_against_timings_are_points_and_medians_by_colour(self, browser, told):
        data = chart(browser, f"?table={TABLE}").json()
        points = {job: (x, y) for group in data["groups"] for x, y, job in group["points"]}
        wanted = {
            job: (facts["chunk_bytes"], facts["rows_per_second"])
            for job, facts in told.items()
            if facts["table"] == TABLE and "rows_per_second" in facts
        }
        assert points == wanted
        assert data["x"]["logarithmic"]
        medians = [each for group in data["groups"] for each in group["medians"]]
        alone = [each for each in shown(browser, f"?table={TABLE}").context["drawing"].figures if each[2] == "1"]
        assert alone, "a dot is no median"
        assert (min(each[4] for each in medians), sum(each[4] for each in medians)) == (2, len(wanted) - len(alone))

    def test_settings_are_not_compared_over_several_tables(self, browser, told):
        page, data = shown(browser), chart(browser).json()
        assert "imports of 3 tables: choose one to compare settings." in page.text
        assert "ighest median" not in page.text
        assert not page.context["drawing"].figures
        assert [group["medians"] for group in data["groups"]] == [[]] * len(data["groups"])
        assert len([each for group in data["groups"] for each in group["points"]]) == data["found"]
        data = chart(browser, "?colour=table").json()
        assert all(group["medians"] for group in data["groups"]), "each table has its own"

    def test_single_imports_have_no_medians_to_compare(self, browser, told):
        query = f"?table={TABLE}&x=ended&colour="
        assert shown(browser, query).context["drawing"].text.startswith("Too few imports with the same settings")
        assert chart(browser, query).json()["groups"][0]["medians"] == []

    def test_one_setting_has_no_highest_median_and_is_drawn_over_time(self, browser, told):
        query = f"?table={TABLE}&x=table&colour="
        drawing = shown(browser, query).context["drawing"]
        measured = sum(facts["table"] == TABLE and "rows_per_second" in facts for facts in told.values())
        assert drawing.text.startswith(f"All {measured} imports have Table {TABLE}, so there is nothing to compare")
        assert drawing.data == chart(browser, f"{query}&chart=time").json()

    @pytest.mark.parametrize(
        "query",
        [
            "?x=table&colour=method",
            "?x=balanced&colour=table",
            f"?table={TABLE}&x=method&colour=row_bytes",
            f"?table={TABLE}&x=rows&colour=",
        ],
    )
    def test_words_switches_and_ranges_have_their_place(self, browser, told, query):
        data = chart(browser, query).json()
        assert sum(len(group["points"]) for group in data["groups"]) == data["found"]
        assert len(data["groups"]) <= 7
        assert shown(browser, query).context["drawing"].figures

    def test_of_one_table_changes_are_told_over_time(self, browser, told):
        one = chart(browser, f"?chart=time&table={TABLE}").json()
        assert one["joined"]
        assert one["changes"]
        assert "→" in shown(browser, f"?chart=time&table={TABLE}").context["drawing"].figures[0][-1]
        several = chart(browser, "?chart=time").json()
        assert (several["joined"], several["changes"]) == (False, [])

    @pytest.mark.parametrize(("parts", "fact"), [("steps", "load_seconds"), ("sessions", "phase_load")])
    def test_where_the_time_goes(self, browser, told, parts, fact):
        data = chart(browser, f"?chart=phases&parts={parts}&sort=-total_seconds").json()
        (part,) = [each for each in data["parts"] if each["label"] == FACTS[fact].title]
        assert part["seconds"] == [told[job].get(fact, 0) for job in data["jobs"]]
        assert all(part["seconds"]), "an import without it has no bar"
        assert data["shown"] == len(data["jobs"]) > 20
        assert data["found"] - data["shown"] == len(told) - 30, "what has no bar does not count as not shown"

    def test_one_long_bar_is_cut_off_and_the_others_can_be_seen(self, browser, told):
        JobFact.objects.filter(name__in=[each.name for each in STEPS]).update(number=1)
        page = shown(browser, "?chart=phases")
        assert (page.context["drawing"].data["end"], "cut off" in page.text) == (None, False)
        first = page.context["drawing"].data["jobs"][0]
        JobFact.objects.filter(name="load_seconds", record=first).update(number=100)
        page = shown(browser, "?chart=phases")
        assert 1 < page.context["drawing"].data["end"] < 10
        assert "A bar that is cut off has its length written on it." in page.text

    def test_no_chart_is_said_in_words(self, browser, told):
        page = shown(browser, "?where=status+%3D+failed").content.decode()
        assert "none has both Chunk size and Rows/s" in page
        assert "<canvas" not in page


def test_an_unreachable_target_has_its_own_badge(browser):
    job = make_job(Status.FAILED, chunks=1, problem=TargetUnreachable("The server does not answer."))
    write_record(job.pk)
    assert "target unreachable" in shown(browser).content.decode()


class TestWhatMadeTheDifference:
    def test_a_table_has_to_be_chosen(self, browser, told):
        assert f"?table={TABLE}" in shown(browser).content.decode()

    def test_the_lab_is_offered_with_the_newest_import_into_the_table(self, browser, told):
        newest = max(job for job, facts in told.items() if facts["table"] == TABLE and facts["status"] == "succeeded")
        assert f"{reverse('lab_new')}?job={newest}&amp;grid=" in shown(browser, f"?table={TABLE}").content.decode()

    def test_gains_are_told_with_their_runs(self, browser):
        for _ in seed(150, 150, tables=1):
            pass
        gains = {each.setting: each for each in shown(browser, "?table=made_up.t0").context["effects"].gains}
        assert "Parallel: 8 instead of 1" in gains
        assert "imports, spread" in gains["Parallel: 8 instead of 1"].evidence


class TestExport:
    def test_all_pages_with_the_views_columns(self, browser, told):
        query = "?columns=job,status,rows&where=status+%3D+succeeded"
        answer = browser.get(reverse("history_csv") + query)
        lines = list(csv.DictReader(StringIO(answer.getvalue().decode())))
        assert [int(each["job"]) for each in lines] == [
            job for job in in_order(Query()) if told[job]["status"] == "succeeded"
        ]
        assert list(lines[0]) == ["job", "status", "rows"]
        found = read(browser.get(reverse("history_json") + query).getvalue())["jobs"]
        assert [str(each["rows"]) for each in found] == [each["rows"] for each in lines]


class TestTheWayThere:
    def test_nothing_to_look_back_on_leads_on(self, admin_client):
        ImportJob.objects.all().delete()
        JobRecord.objects.all().delete()
        Target.objects.all().delete()
        assert reverse("target_new") in shown(admin_client).content.decode()

    def test_an_import_leads_to_those_into_its_table(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=1)
        assert f"{reverse('history')}?table=osm.nodes" in browser.get(reverse("job", args=[job.pk])).content.decode()

    def test_names_are_escaped(self, browser, told):
        page = shown(browser, "?table=<script>alert(1)</script>&where=file+~+<b>").content.decode()
        assert "<script>alert" not in page
        assert "<b>" not in page
