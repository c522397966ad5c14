"""The pages of the published experiments: claims by target, and full reports."""

import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.lab.experiments import compared
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import WAY, Grid
from importer.engine.tuning.sampling import Sample
from importer.experiments.published.registry import EXPERIMENTS
from importer.experiments.report import Conditions, ExperimentResult
from importer.models import Lab, Target
from tests.targets import silent_target

pytestmark = pytest.mark.django_db

DOUBLED, AHEAD = "8 partitions more than double the rate of 8 sessions", "with partitions, 8 sessions are ahead of one"


def reported(target, *, eight: float, date: str = "2026-11-26", status: str = "done") -> Lab:
    """An ended experiment on partitions, in which 8 partitions have this rate; the other ways have 1,000 rows/s."""
    experiment = EXPERIMENTS["partitions"]
    rates = {each.name: {1: 1000.0, 2: 1000.0} for each in experiment.ways if not each.server}
    rates["8 partitions, 8 sessions"] = {1: eight, 2: eight}
    conditions = Conditions(
        server="MySQL 9.7.4",
        commits="A commit there is safe from a crash.",
        distance="on this machine",
        machine="2 cores",
        busy="It was busy.",
        date=date,
        rows=4321,
        repeats=2,
        warm_up=False,
        seed=7,
        command="millrace experiment run",
    )
    failed = {"own server, 8 partitions, 8 sessions, 8 pool instances": "It has no <such> variable."}
    ways = [each.name for each in experiment.ways]
    return Lab.objects.create(
        target=target, source_name="rows from a seed", status=status, schema_name="osm", table_name="partitioned",
        dialect_json=to_json(Dialect()), mapping_json=[], grid_json=to_json(Grid("partitions", {WAY: tuple(ways)})),
        combinations_json=[{WAY: name} for name in ways], sample_json=to_json(Sample(rows=4321)),
        budget_json=to_json(Budget(None, None, None, None)), repeats=2, seed=7, scratch_schema="osm",
        finished_at=timezone.now(), report_json=ExperimentResult(experiment, conditions, rates, failed, {}).as_json(),
    )  # fmt: skip


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
    assert f"{target.name} MySQL 9.7.4, 4,321 rows, 2026-11-26" in shown
    assert f"{DOUBLED} at least 2 1.50 disagrees" in shown
    assert f"{AHEAD} at least 1 1.50 agrees" in shown
    assert "8 pool instances, as the article had at least 2 not comparable it could not be measured" in shown
    assert reverse("lab_report", args=[last.pk]) in answer.content.decode()
    assert ("2026-11-01" in shown, "2026-11-27" in shown) == (False, False)
    assert shown.count("Not run yet") == len(EXPERIMENTS) - 1


def test_a_claim_that_an_older_report_does_not_have_is_empty_there():
    first = reported(silent_target("secret"), eight=1_500.0)
    first.report_json["claims"] = [each for each in first.report_json["claims"] if each["says"] == AHEAD]
    other = Target.objects.create(name="zone", host="127.0.0.1", port=2, user="loader", database="osm", tls="off")
    second = reported(other, eight=3_000.0)
    rows = {
        row["says"]: [cell and cell["verdict"] for cell in row["cells"]] for row in compared([first, second])["claims"]
    }
    assert rows[AHEAD] == ["agrees", "agrees"]
    assert rows[DOUBLED] == [None, "agrees"]


def test_the_full_report_has_ways_claims_and_what_was_not_measured(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    shown = words(admin_client.get(reverse("lab_report", args=[lab.pk])))
    assert "High Rate insertion with MySQL and Innodb, repeated on MySQL 9.7.4" in shown
    assert "own server, 8 partitions, 8 sessions, 8 pool instances It has no <such> variable." in shown
    assert "16 partitions, 8 sessions import: method=load_data_local" in shown
    assert "It agrees where our ratio is on the same side of 1" in shown


def test_a_lab_of_settings_has_no_report(admin_client):
    lab = reported(silent_target("secret"), eight=1_500.0)
    Lab.objects.filter(pk=lab.pk).update(report_json=None)
    assert admin_client.get(reverse("lab_report", args=[lab.pk])).status_code == 404
