"""The pages of the published experiments: claims by target, and full reports."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from bench.experiments.experiment import Claim
from bench.experiments.published.registry import EXPERIMENTS
from dashboard.lab.experiments import compared, leading, measured_ways
from dashboard.lab.progress import lab_progress
from importer.engine.errors import Problem
from importer.models import Lab, Target, Trial
from tests.dashboard.lab.reports import reported
from tests.targets import silent_target

pytestmark = pytest.mark.django_db

DOUBLED, AHEAD = "8 partitions more than double the rate of 8 sessions", "with partitions, 8 sessions are ahead of one"


def words(answer) -> str:
    """The text of a page without its tags."""
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def test_the_page_has_the_last_report_of_each_target_with_the_verdict_on_each_claim(admin_client):
    target = silent_target("secret")
    reported(target, eight=9_000.0, date="2026-11-01")
    last = reported(target, eight=1_500.0)
    reported(target, eight=9_000.0, date="2026-11-27", status="failed")
    answer = admin_client.get(reverse("lab_experiments"))
    shown = words(answer)
    assert f"{target.name} · Report MySQL 5.5.8, 4,321 rows, 2026-11-26" in shown
    assert f"{DOUBLED} at least 2 times 1.50 times (1.44 to 1.56) disagrees" in shown
    assert f"W{AHEAD[1:]} at least 1 times 1.50 times (1.44 to 1.56) agrees" in shown
    assert "8 pool instances, as the article had at least 2 times not comparable It was not measured" in shown
    assert reverse("lab_report", args=[last.pk]) in answer.content.decode()
    assert ("2026-11-01" in shown, "2026-11-27" in shown) == (False, False)
    assert "None was run yet" not in shown


@pytest.mark.parametrize("name", ["lab_experiments", "lab_report"])
def test_the_article_has_its_address_author_and_year(name, admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    address = reverse(name, args=[lab.pk] if name == "lab_report" else [])
    article = EXPERIMENTS["partitions"]
    page = admin_client.get(address)
    assert f'<a href="{article.url}" rel="noreferrer">{article.article}</a>' in page.text
    assert f"{article.article} , {unescape(article.by)}" in words(page)
    for key in ("by", "url"):  # A report of an older version.
        del lab.report_json[key]
    lab.save()
    page = admin_client.get(reverse("lab_report", args=[lab.pk]))
    assert (article.article in words(page), article.url in page.text) == (True, False)


def test_a_claim_about_a_rate_is_counted_by_the_second_not_in_times(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    rate = {"says": "a read takes less than 2 ms", "of": "reads", "published": "at least 500", "verdict": "agrees"}
    claim = Claim(rate["says"], rate["of"], least=500.0)
    spread = {"median": 3368.0, "least": 2788.0, "most": 3564.0}
    lab.report_json["claims"].append({**rate, "unit": claim.unit, "ratio": spread, "why": ""})
    lab.save()
    assert "3,368 a second (2,788 to 3,564) at least 500 a second" in words(
        admin_client.get(reverse("lab_report", args=[lab.pk]))
    )
    listed = words(admin_client.get(reverse("lab_experiments")))
    assert "at least 500 a second 3,368 a second (2,788 to 3,564) agrees" in listed


def test_a_claim_that_an_older_report_does_not_have_is_empty_there():
    first = reported(silent_target("secret"), eight=1_500.0)
    first.report_json["claims"] = [each for each in first.report_json["claims"] if each["says"] == AHEAD]
    other = Target.objects.create(name="zone", host="127.0.0.1", port=2, user="loader", database="osm", tls="off")
    second = reported(other, eight=3_000.0)
    rows = {
        row["says"]: [cell["verdict"] and cell["verdict"]["verdict"] for cell in row["cells"]]
        for row in compared([first, second])["claims"]
    }
    assert rows[AHEAD] == ["agrees", "agrees"]
    assert rows[DOUBLED] == [None, "agrees"]


def test_the_full_report_has_ways_claims_and_what_was_not_measured(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    answer = admin_client.get(reverse("lab_report", args=[lab.pk]))
    shown = words(answer)
    assert "High Rate insertion with MySQL and Innodb, repeated on MySQL 5.5.8" in shown
    assert "own server, 8 partitions, 8 sessions, 8 pool instances The server has no variable 'innodb_" in shown
    assert "16 partitions, 8 sessions import: method=load_data_local" in shown
    assert "Failed in some rounds" not in shown
    assert '<span class="text-nowrap">--no-warm-up</span>' in answer.text
    assert "To repeat it: millrace experiment run partitions --target warehouse" in shown
    assert shown.count("has no figure") == 1  # In the rule.
    assert "29 ways without a verdict" in shown
    assert f"disagrees {DOUBLED} 1.50 times (1.44 to 1.56) at least 2 times" in shown
    assert "Of the article's 6 claims, 1 agrees, 2 disagree, 3 are not comparable." in shown
    assert "Agrees: our figure keeps the article's bound" in shown


def test_ways_with_a_comparable_figure_are_not_folded(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    lab.report_json["ways"][1] |= {"verdict": "agrees", "why": ""}
    lab.save()
    shown, folded = words(admin_client.get(reverse("lab_report", args=[lab.pk]))).split(" 28 ways without a verdict")
    way = f"{lab.report_json['ways'][1]['way']} {lab.report_json['ways'][1]['how']}"
    assert (shown.count(way), folded.count(way)) == (1, 0)


def test_the_full_report_names_ways_that_failed_in_some_rounds_apart(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0, failed={"16 partitions, 8 sessions": "A deadlock."})
    shown = words(admin_client.get(reverse("lab_report", args=[lab.pk])))
    assert "Not measured own server, 8 partitions, 8 sessions, 8 pool instances The server has no" in shown
    assert "instances'. Failed in some rounds 16 partitions, 8 sessions A deadlock." in shown


def test_a_failed_experiment_offers_no_lab_like_it(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0, status="failed")
    Lab.objects.update(problem=Problem("The server is gone.").as_json())
    page = admin_client.get(reverse("lab", args=[lab.pk])).content.decode()
    assert "The server is gone." in page
    assert ("lab=" in page, "was not touched" in page) == (False, False)
    assert admin_client.get(reverse("lab_new"), {"lab": lab.pk}).status_code == 404


def with_trials(first: int) -> Lab:
    """A running experiment whose first trial took 10 seconds, with one to come; `first`: the number of its round."""
    lab = reported(silent_target("secret"), eight=1_500.0, status="running")
    for number, status in enumerate((Trial.Status.DONE, Trial.Status.PENDING)):
        trial = lab.trials.create(number=number, round=first + number, combination=0, status=status)
    begun = timezone.now()
    took = {"started_at": begun, "finished_at": begun + timedelta(seconds=10), "rows_per_second": 1.0}
    lab.trials.exclude(pk=trial.pk).update(**took)
    return lab


def test_the_page_of_an_experiment_has_its_ways_and_the_fastest_among_comparable_ones(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    for way in lab.report_json["ways"]:
        if way["way"].startswith("read"):  # Many times as many as rows are loaded.
            way["rate"] = way["rate"] and {"median": 53_129.0, "least": 53_129.0, "most": 53_129.0}
    lab.save()
    page = admin_client.get(reverse("lab", args=[lab.pk]))
    groups = words(page).split(" a second; ratios within rounds ")
    assert len(groups) == 6
    assert groups[0].endswith("Rows loaded (partitioned)")
    assert "8 partitions, 8 sessions fastest import: method=load_data_local" in groups[1]
    assert groups[1].endswith("Rows loaded (partitioned) on a private server")
    assert [each.count(" fastest ") for each in groups] == [0, 1, 0, 1, 1, 1]
    assert "own server, 8 partitions, 8 sessions, 8 pool instances raw" in groups[2]
    assert "The article's claims 1 agrees 2 disagree, 3 are not comparable · report" in groups[0]
    shown = words(page)
    assert [each in shown for each in ("Ranking", "not told apart", "Best", "lab-bars")] == [False] * 4


def test_the_page_of_a_running_experiment_has_what_is_known(admin_client):
    lab = with_trials(1)
    assert "1 partition, 1 session import: method" in (shown := words(admin_client.get(reverse("lab", args=[lab.pk]))))
    assert "so far" in shown
    Lab.objects.update(report_json=None)
    assert f"{lab.combinations[0]['way']} 1.00 " in words(admin_client.get(reverse("lab", args=[lab.pk])))
    assert " to come " in words(admin_client.get(reverse("lab", args=[lab.pk])))


def test_the_time_left_of_an_experiment_has_no_finals():
    assert lab_progress(with_trials(0), timezone.now()).seconds_left == 10


@pytest.mark.parametrize(("first", "has_warm_up"), [(0, True), (1, False)])
def test_the_page_of_an_experiment_names_a_warm_up_only_if_there_is_one(first, has_warm_up, admin_client):
    shown = words(admin_client.get(reverse("lab", args=[with_trials(first).pk])))
    assert ("2 rounds and a warm-up" in shown) == ("warm-up" in shown.lower()) == has_warm_up


def test_a_lab_of_settings_has_no_report(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    Lab.objects.filter(pk=lab.pk).update(report_json=None)
    assert admin_client.get(reverse("lab_report", args=[lab.pk])).status_code == 404


def test_of_a_run_without_a_report_the_fastest_way_comes_first():
    lab = Lab(status=Lab.Status.DONE, report_json=None)
    rates = {"slow": [10.0], "failed": [], "fast": [30.0, 40.0], "middle": [20.0]}
    ways = measured_ways(lab, [{"way": way, "rates": own} for way, own in rates.items()])
    assert [way["way"] for way in ways[""]] == ["fast", "middle", "slow", "failed"]
    first = leading(ways)
    assert first
    assert (first["way"], first["rate"]["median"]) == ("fast", 35.0)
    lab.status = Lab.Status.RUNNING
    assert leading(measured_ways(lab, [{"way": way, "rates": own} for way, own in rates.items()])) is None
