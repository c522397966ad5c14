"""What /metrics declares: to whom it is shown, in the manual, in the files for Prometheus and Grafana, and how much."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.access.middleware import OF_PROXIES
from dashboard.system.metrics.declared import METRICS
from dashboard.system.metrics.figures import MOST_TARGETS, OTHER
from importer.history import totals
from importer.models import Scope, Total
from tests.dashboard.api.program import Program
from tests.dashboard.job_data import make_job
from tests.dashboard.system.metrics.scrapes import figure, scraped
from tests.people import admin, operator
from tests.stack import ROOT

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
CHARTS = ROOT / "deploy" / "grafana" / "millrace.json"
DECLARED = {each.name: each for each in METRICS}
HERE = "127.0.0.1/32"


class TestAccess:
    pytestmark = pytest.mark.django_db

    @pytest.mark.parametrize(("networks", "status"), [([HERE], 200), (["10.0.0.0/8", "::1/128"], 401), ([], 401)])
    def test_addresses_that_are_set_need_no_account(self, client: Client, settings, networks: list[str], status: int):
        settings.METRICS_FROM = networks
        assert client.get(reverse("metrics")).status_code == status

    def test_an_address_says_nothing_behind_a_proxy_that_is_not_trusted(self, client: Client, settings):
        settings.METRICS_FROM = [HERE]
        settings.PROXY_HEADER = "X-Client"
        for name in ("X-Client", *OF_PROXIES):
            assert client.get(reverse("metrics"), headers={name: "203.0.113.9"}).status_code == 401, name

    def test_nor_behind_one_that_is_trusted_and_does_not_say_for_whom_it_asks(self, client: Client, settings):
        """As nginx with X-Forwarded-Proto alone, on this host."""
        settings.METRICS_FROM = settings.TRUSTED_PROXIES = [HERE]
        assert client.get(reverse("metrics"), headers={"X-Forwarded-Proto": "https"}).status_code == 401
        assert client.get(reverse("metrics")).status_code == 200

    def test_a_trusted_proxy_says_for_whom_it_asks(self, client: Client, settings):
        settings.METRICS_FROM = [HERE]
        settings.PROXY_HEADER = "X-Forwarded-For"
        through_a_proxy = {"X-Forwarded-For": "203.0.113.9"}
        settings.TRUSTED_PROXIES = [HERE]
        assert client.get(reverse("metrics"), headers=through_a_proxy).status_code == 401
        assert client.get(reverse("metrics"), headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 200

    def test_a_token_needs_the_scope_and_an_admin(self):
        root, ann = admin("root"), operator("ann")
        others = [each for each in Scope if each is not Scope.METRICS]
        assert Program(root, Scope.METRICS).get(reverse("metrics")).status_code == 200
        assert Program(root, *others, name="others").get(reverse("metrics")).status_code == 403
        assert Program(ann, Scope.METRICS).get(reverse("metrics")).status_code == 403

    def test_the_scope_opens_nothing_else(self):
        job, program = make_job(), Program(admin("root"), Scope.METRICS)
        for address in (reverse("jobs"), reverse("job", args=[job.pk]), reverse("people")):
            assert program.get(address).status_code == 403

    def test_nothing_can_be_sent(self, client: Client, settings):
        settings.METRICS_FROM = [HERE]
        assert client.post(reverse("metrics")).status_code == 401
        assert Program(admin("root"), Scope.METRICS).post(reverse("metrics")).status_code == 405


class TestOutput:
    pytestmark = pytest.mark.django_db

    @pytest.fixture(autouse=True)
    def _here(self, settings) -> None:
        settings.METRICS_FROM = [HERE]

    @pytest.mark.parametrize(
        ("accepted", "sent"),
        [
            ("", "text/plain"),
            ("text/plain;version=x", "text/plain"),
            ("application/openmetrics-text;version=x", "application/openmetrics-text"),
            ("application/openmetrics-text;version=1.0.0", "application/openmetrics-text"),
        ],
    )
    def test_has_the_format_that_is_asked_for(self, client: Client, accepted: str, sent: str):
        answer = client.get(reverse("metrics"), headers={"Accept": accepted})
        assert answer["Content-Type"].startswith(sent)
        assert (b"# EOF" in answer.content) is ("openmetrics" in sent)

    def test_the_number_of_series_has_a_bound(self, client: Client):
        names = [f"target-{number}" for number in range(MOST_TARGETS + 20)]
        for name in names:
            totals.add({totals.Counted(Total.Name.BYTES, name): 2})
        samples = scraped(client)
        shown = {dict(labels)["target"] for name, labels in samples if name == "millrace_bytes_total"}
        assert shown == {*names[:MOST_TARGETS], OTHER}
        assert figure(samples, "millrace_bytes_total", target=OTHER) == 2 * 20
        assert len(samples) < 3 * MOST_TARGETS

    def test_a_scrape_reads_each_table_once(self, client: Client, django_assert_max_num_queries):
        make_job()
        with django_assert_max_num_queries(6):
            scraped(client)

    def test_what_is_read_has_the_declared_labels(self, client: Client, redis):
        totals.add({totals.Counted(name, "warehouse", "loaded"): 1 for name in Total.Name})
        labels = {name: {each for each, _ in labels} for name, labels in scraped(client)}
        assert {name: set(DECLARED[name].labels) for name in labels} == labels
        # Without workers there are no slots, and without a store nothing is in it.
        none = ("millrace_worker", "millrace_store")
        assert set(DECLARED) - set(labels) == {each for each in DECLARED if each.startswith(none)}


def test_the_manual_has_each_metric():
    rows = re.findall(r"^\| `(millrace_\w+)` \| (.*) \|$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert rows == [
        (
            each.name,
            f"{each.type} | {', '.join(f'`{label}`' for label in each.labels) or 'none'} | {each.help} | {each.source}",
        )
        for each in METRICS
    ]


def test_each_metric_is_named_where_it_is_tested_to_move():
    """A process has its version from its start."""
    tested = Path(__file__).with_name("test_moves.py").read_text()
    assert set(DECLARED) - set(re.findall(r"\bmillrace_\w+", tested)) == {"millrace_build_info"}


@pytest.mark.parametrize("path", [ALERTS, CHARTS], ids=lambda path: path.name)
def test_files_for_monitoring_name_declared_metrics_and_labels(path):
    text = path.read_text().replace('\\"', '"')
    assert set(re.findall(r"\bmillrace_\w+", text)) - set(DECLARED) == set()
    for name, conditions in re.findall(r"\b(millrace_\w+)\{([^}]*)\}", text):
        labels = set(re.findall(r"(\w+)(?:=~|!~|!=|=)\"", conditions))
        assert labels - {"instance", *DECLARED[name].labels} == set(), name
    grouped = re.findall(r"by \(([\w, ]+)\) \((?:\w+\()*(millrace_\w+)", text)
    assert grouped
    for labels, name in grouped:
        assert set(labels.split(", ")) - {"instance", *DECLARED[name].labels} == set(), name


def test_the_charts_show_each_metric():
    assert set(re.findall(r"\bmillrace_\w+", CHARTS.read_text())) == set(DECLARED)
    panels = json.loads(CHARTS.read_text())["panels"]
    assert len({each["id"] for each in panels}) == len(panels) > 10
