"""What a person does too often at an address or by a command is refused, with the time until it may continue."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from dashboard.access.api_rules import API
from dashboard.access.rules import RULES
from importer.access import limits, places
from importer.access.acting import acting_as
from importer.access.limits import TooManyAtOnce
from importer.management.rules import RULES as COMMAND_RULES
from importer.models import AuditEvent, ImportJob, LimitCount
from tests.dashboard import test_rules
from tests.dashboard.test_rules import SECRET, address
from tests.documents import read
from tests.people import admin, operator
from tests.targets import saved_target

things = test_rules.things
LIMITED = sorted(name for name, rule in RULES.items() if rule.rate)
PLACED = sorted(name for name, rule in RULES.items() if rule.places)
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def once_in_a_minute(settings) -> None:
    for rate in limits.RATES:
        setattr(settings, rate.setting, 1)


def used(user: User, rate: limits.Rate | None) -> None:
    """Let the person have done it once."""
    assert rate
    with acting_as(user):
        limits.use(rate)


def test_each_rate_is_one_of_addresses_and_commands():
    assert {rule.rate for rule in RULES.values() if rule.rate} == set(limits.RATES)
    assert {rule.rate for rule in COMMAND_RULES.values() if rule.rate} == {limits.STARTS, limits.CHECKS}


def test_an_address_that_is_used_too_often_says_when_it_goes_on(client, things):
    root = User.objects.get(username="root")
    client.force_login(root)
    for name in LIMITED:
        LimitCount.objects.all().delete()
        used(root, RULES[name].rate)
        before = test_rules.everything()
        assert client.get(address(name, things)).status_code != 429, "looking is no use"
        answer = client.post(address(name, things), headers={"Accept": "text/html,*/*;q=0.8"})
        assert answer.status_code == 429, name
        assert 0 < int(answer["Retry-After"]) <= 60, name
        shown = answer.content.decode()
        assert "This was done too often" in shown, name
        assert f"Try again in {answer['Retry-After']} second" in shown, name
        assert test_rules.everything() == before, name
        assert AuditEvent.objects.get(action=name).outcome == AuditEvent.Outcome.REFUSED, name


def test_each_kind_of_places_is_one_of_addresses():
    asked = [*RULES.values(), *(does.rule for methods in API.values() for does in methods.values())]
    assert {rule.places for rule in asked if rule.places} == set(limits.PLACES) - {limits.PARTS, limits.ERRANDS}


@pytest.mark.parametrize("name", PLACED)
def test_who_gets_as_many_answers_as_allowed_waits_and_others_do_not(name: str, client, things, settings):
    root, other = User.objects.get(username="root"), admin("other")
    kind = RULES[name].places
    assert kind
    setattr(settings, kind.setting, 1)
    taken = places.take(kind, root)
    assert taken
    client.force_login(root)
    answer = client.get(address(name, things), headers={"Accept": "text/html"})
    assert (answer.status_code, answer["Retry-After"]) == (429, str(kind.seconds))
    assert "at once already" in answer.content.decode()
    client.force_login(other)
    for _ in range(2):
        answer = client.get(address(name, things))
        assert answer.status_code != 429
        if answer.streaming:
            with pytest.raises(TooManyAtOnce):
                places.take(kind, other)
            assert b"".join(answer.streaming_content)
    taken.close()


@pytest.mark.parametrize("headers", [{"Accept": "text/html", **HTMX}, {"Accept": "*/*"}, {}])
def test_a_script_gets_the_reason_alone(headers: dict[str, str], client, things):
    root = User.objects.get(username="root")
    client.force_login(root)
    used(root, limits.STARTS)
    answer = client.post(address("job_retry", things), headers=headers)
    assert answer.status_code == 429
    assert answer.content.decode().startswith("You may start or retry an import 1 time in a minute")


def test_repeated_retries_of_one_person_leave_another_free(client, things):
    ann, ben = operator("ann"), operator("ben")
    ImportJob.objects.update(status="failed")
    statuses = []
    for person in (ann, ann, ben):
        client.force_login(person)
        statuses.append(client.post(address("job_retry", things)).status_code)
    assert statuses == [302, 429, 302]


def test_only_the_first_refusal_in_a_minute_is_an_event(client, things):
    ann = operator("ann")
    client.force_login(ann)
    used(ann, limits.STARTS)
    for _ in range(5):
        assert client.post(address("job_retry", things)).status_code == 429
    with pytest.raises(CommandError, match="in a minute"):
        call_command("import_csv", "none.csv", "--target", SECRET, "--table", "t", "--as", "ann")
    assert [each.outcome for each in AuditEvent.objects.filter(actor=ann)] == [AuditEvent.Outcome.REFUSED]


def test_a_check_of_a_target_counts_however_it_is_asked_for(client, db, mariadb):
    target = saved_target(mariadb)
    client.force_login(admin("root"))
    assert client.post(reverse("target_check", args=[target.pk]), headers=HTMX).status_code == 200
    assert client.post(reverse("target", args=[target.pk])).status_code == 429


@pytest.mark.parametrize(
    "line",
    [["target", "check", SECRET], ["import_csv", "none.csv", "--target", SECRET, "--table", "t", "--json"]],
    ids=lambda line: line[0],
)
def test_a_command_on_behalf_of_a_person_counts_and_one_of_the_system_does_not(
    line: list[str], things: dict[type, Any]
):
    ann = operator("ann")
    used(ann, COMMAND_RULES[" ".join(line[:2]) if line[0] == "target" else line[0]].rate)
    out = StringIO()
    with pytest.raises(CommandError, match=r"in a minute, and have done so\. Try again in") as caught:
        call_command(*line, "--as", "ann", stdout=out, stderr=out)
    assert caught.value.returncode == 4
    if "--json" in line:
        assert "in a minute" in read(out.getvalue())["problem"]["what"]
    for _ in range(2):
        with pytest.raises((CommandError, SystemExit)) as other:
            call_command(*line, stdout=StringIO(), stderr=StringIO())
        assert "in a minute" not in str(other.value)
