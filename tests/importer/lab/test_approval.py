"""A lab on a target that needs approvals: it makes nothing there before another person has approved it."""

import pytest
from django.db.models import JSONField, Value
from django.test import Client
from django.urls import reverse

from bench.experiments.published.registry import EXPERIMENTS
from bench.experiments.runner import ExperimentRequest, begin
from importer import lab
from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.models import AuditEvent, Channel, Lab, Notification, Target
from importer.notifications import rendering
from tests.importer.lab.test_lifecycle import SIZES
from tests.importer.labs import created_lab, now, tables, take_step, to_end
from tests.people import operator
from tests.targets import on_mariadb

pytestmark = pytest.mark.usefixtures("no_workers")
database = on_mariadb


@pytest.fixture
def waiting(target, path) -> Lab:
    Target.objects.filter(pk=target.pk).update(needs_approval=True)
    target.refresh_from_db()
    with acting_as(operator("ann")):
        created = created_lab(target, path, SIZES)
    return take_step(created)


def test_it_waits_and_makes_nothing(waiting, database):
    assert (waiting.status, waiting.waits_for) == (Lab.Status.WAITING, "another person's approval")
    assert lab.is_asked_for(take_step(waiting))
    assert tables(database) == {"t", "parent"}


@pytest.mark.parametrize(
    "events", [["approval"], Value(None, JSONField())], ids=["told", "a channel that cannot be read"]
)
def test_channels_are_told_with_a_link_and_no_error_there_stops_it(request, transactional_db, events):
    Channel.objects.create(name="team", kind="mail", addresses="team@example.org", events=events)
    waiting = request.getfixturevalue("waiting")
    assert lab.is_asked_for(waiting)
    if notice := Notification.objects.first():
        assert rendering.subject(notice.payload).startswith(
            f"Millrace: Lab {waiting.pk} on warehouse waits for approval: Rows of"
        )
        page = f"http://127.0.0.1:8000/labs/{waiting.pk}/"
        assert f"Lab {waiting.pk} on warehouse: {page}" in rendering.bodies(notice.payload, "team")[0]
    assert bool(notice) == isinstance(events, list)


def test_another_person_approves_it_and_it_runs_to_its_end(waiting):
    bob = operator("bob")
    with acting_as(bob):
        lab.approve(waiting.pk, lab.digest_of(waiting))
    done = to_end(waiting)
    assert (done.status, done.approved_by, done.problem) == (Lab.Status.DONE, bob, {})


def test_who_started_it_may_not(waiting):
    ann = type(operator("bob")).objects.get(username="ann")
    with acting_as(ann):
        for decide in (lambda: lab.approve(waiting.pk, lab.digest_of(waiting)), lambda: lab.refuse(waiting.pk, "no")):
            with pytest.raises(Forbidden, match="Ask bob"):
                decide()
    assert now(waiting).status == Lab.Status.WAITING


def test_other_settings_are_not_what_was_approved(waiting):
    digest = lab.digest_of(waiting)
    Lab.objects.filter(pk=waiting.pk).update(repeats=3)
    with acting_as(operator("bob")), pytest.raises(Problem, match="not what you have seen"):
        lab.approve(waiting.pk, digest)


def test_a_refusal_ends_it_with_the_reason(waiting, database):
    with acting_as(operator("bob")):
        lab.refuse(waiting.pk, "not on this server")
    done = to_end(waiting)
    assert (done.status, done.problem["what"]) == (Lab.Status.FAILED, "bob refused this lab: not on this server")
    assert tables(database) == {"t", "parent"}


def test_it_can_be_cancelled_while_it_waits(waiting):
    lab.cancel(waiting.pk)
    assert to_end(waiting).status == Lab.Status.CANCELLED


def test_the_next_lab_does_not_wait_for_one_that_nobody_approves(waiting, target, path):
    after = take_step(created_lab(target, path, SIZES))
    with acting_as(operator("bob")):
        lab.approve(after.pk, lab.digest_of(after))
    assert to_end(after).status == Lab.Status.DONE
    assert now(waiting).status == Lab.Status.WAITING


def test_without_the_mark_it_goes_on_and_the_audit_log_says_so(waiting, target):
    Target.objects.filter(pk=target.pk).update(needs_approval=False)
    assert to_end(waiting).status == Lab.Status.DONE
    assert AuditEvent.objects.get(action="approval_released").object_id == str(waiting.pk)


def test_its_page_shows_what_is_approved_and_the_buttons_work(waiting):
    browser = Client()
    browser.force_login(operator("bob"))
    html = browser.get(reverse("lab", args=[waiting.pk])).content.decode()
    assert lab.digest_of(waiting) in html
    assert "Waits for approval by another person" in html
    browser.post(reverse("lab_approve", args=[waiting.pk]), {"digest": lab.digest_of(waiting)})
    assert now(waiting).approved_digest == lab.digest_of(waiting)


def test_an_experiment_says_at_once_that_it_cannot_wait(target):
    target.needs_approval = True
    with pytest.raises(Problem, match="for which an experiment cannot wait"):
        begin(ExperimentRequest(next(iter(EXPERIMENTS.values())), 100), target)
