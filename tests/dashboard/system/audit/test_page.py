"""The page of the audit log: only for admins, filtered, and exported."""

import csv
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from importer.models import AuditEvent
from tests.people import admin, operator

pytestmark = pytest.mark.django_db

EVENTS = (
    ("ann", "job_pause", "warehouse", "done", 20),
    ("bob", "job_pause", "shop", "refused", 21),
    ("ann", "target", "shop", "failed", 22),
)


@pytest.fixture
def browser(client):
    client.force_login(admin("root"))
    for name, action, target, outcome, day in EVENTS:
        at = datetime(2026, 11, day, 23, 59, 59, tzinfo=UTC)
        details = {"host": {"old": "a", "new": "<b>"}, "entered": ["password"]}
        AuditEvent(
            actor_name=name, action=action, target=target, outcome=outcome, at=at, details=details, object_name="=1+1"
        ).save()
    return client


def shown(browser, **query) -> list[str]:
    """Person and target of the lines on the page."""
    answer = browser.get(reverse("audit"), query)
    return [f"{event.actor_name} {event.target}" for event, _, _ in answer.context["rows"]]


def test_newest_first_with_words_and_escaped_details(browser):
    assert shown(browser) == ["ann shop", "bob shop", "ann warehouse"]
    html = browser.get(reverse("audit")).content.decode()
    assert "pause import" in html
    assert "change target" in html
    assert "a → &lt;b&gt;" in html
    assert "2026-11-22 23:59:59" in html


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ({"person": "bob"}, ["bob shop"]),
        ({"action": "job_pause"}, ["bob shop", "ann warehouse"]),
        ({"target": "shop", "person": "ann"}, ["ann shop"]),
        ({"outcome": "refused"}, ["bob shop"]),
        ({"from": "2026-11-21"}, ["ann shop", "bob shop"]),
        ({"to": "2026-11-21"}, ["bob shop", "ann warehouse"]),
        ({"from": "2026-11-21", "to": "2026-11-21"}, ["bob shop"]),
        ({"to": "9999-12-31"}, ["ann shop", "bob shop", "ann warehouse"]),
        ({"person": "nobody"}, []),
    ],
)
def test_filters(browser, query, lines):
    assert shown(browser, **query) == lines


@pytest.mark.parametrize("day", ["2026-02-30", "yesterday"])
def test_a_day_that_is_none_is_named(browser, day):
    answer = browser.get(reverse("audit"), {"from": day})
    assert answer.status_code == 422
    assert f"“{day}” is no date" in answer.content.decode()


def test_the_export_has_what_the_filters_leave_without_formulas_and_is_recorded(browser):
    answer = browser.get(reverse("audit_csv"), {"person": "ann"})
    lines = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    first = next(line for line in lines if line["action"] == "change target")
    assert first["at"] == "2026-11-22T23:59:59+00:00"
    assert (first["person"], first["target"], first["outcome"]) == ("ann", "shop", "failed")
    assert first["object_name"] == "'=1+1"
    assert first["details"] == "host: a → <b>; entered: password"
    assert {line["person"] for line in lines} == {"ann"}
    assert AuditEvent.objects.latest("pk").action == "audit_csv"


def test_pages(browser):
    for _ in range(60):
        AuditEvent(action="command").save()
    html = browser.get(reverse("audit"), {"action": "command"}).content.decode()
    assert "1 to 50 of 60" in html
    assert "action=command&amp;page=2" in html
    assert len(shown(browser, action="command", page=2)) == 10


def test_linked_for_admins_only(browser, client):
    link = f'href="{reverse("audit")}"'
    assert link in browser.get(reverse("jobs")).content.decode()
    client.force_login(operator("eve"))
    assert link not in client.get(reverse("jobs")).content.decode()
    assert client.get(reverse("audit")).status_code == 403
    assert client.get(reverse("audit_csv")).status_code == 403
