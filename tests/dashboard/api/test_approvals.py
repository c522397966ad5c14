"""Four eyes by the API: another person's token decides, if it is for that, about exactly what was listed."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.models import ImportJob, Lab, Scope, Target
from tests.dashboard.api.program import Program, problem
from tests.dashboard.api.test_imports import INTO, ROWS
from tests.documents import read
from tests.importer.labs import take_step
from tests.importer.steps import run
from tests.people import operator


@pytest.fixture
def waiting(program, target) -> int:
    """An import of Ann's that waits for another person."""
    Target.objects.update(needs_approval=True)
    job = program.send("POST", "imports", {"file": program.upload(ROWS), **INTO}).json()["job"]
    run(ImportJob.objects.get())
    return int(job)


@pytest.fixture
def bob(db) -> Program:
    return Program(operator("bob"))


def test_another_person_approves_what_the_list_has(program, bob, waiting):
    (listed,) = bob.read("approvals")["items"]
    assert (listed["kind"], listed["job"], listed["started_by"], listed["why_not"]) == ("import", waiting, "ann", "")
    assert "2 rows of orders.csv are added to" in listed["sentence"]
    assert "orders" in listed["sql"][0]["statements"]
    assert bob.read(f"imports/{waiting}/approval") == listed
    report = read(json.dumps(bob.read(f"imports/{waiting}")))
    assert [each["cause"] for each in report["why"]] == ["approval"]
    assert bob.read(f"imports/{waiting}/causes")["causes"] == report["why"]
    path = f"imports/{waiting}/approve"
    told = problem(bob.send("POST", path, {"digest": "0" * 12}), 422)
    assert "not what you have seen" in told["what"]
    assert bob.send("POST", path, {"digest": listed["digest"][:12]}).status_code == 200
    assert run(ImportJob.objects.get()).status == "succeeded"
    assert bob.read(f"imports/{waiting}")["approval"]["approved_by"] == "bob"
    assert bob.read("approvals")["items"] == []
    problem(bob.send("GET", f"imports/{waiting}/approval"), 422)


def test_who_started_it_does_not_decide_and_neither_does_a_token_that_is_not_for_it(program, bob, waiting):
    listed = program.read(f"imports/{waiting}/approval")
    assert "another person has to approve it. Ask bob." in listed["why_not"]
    told = problem(program.send("POST", f"imports/{waiting}/approve", {"digest": listed["digest"]}), 403)
    assert told["advice"] == "Ask bob."
    agent = Program(operator("cleo"), Scope.READ, Scope.IMPORT, name="agent")
    for verb, body in (("approve", {"digest": listed["digest"]}), ("refuse", {"reason": "wrong month"})):
        told = problem(agent.send("POST", f"imports/{waiting}/{verb}", body), 403)
        assert "it needs the scope approve" in told["what"]
        assert bob.post(reverse(f"job_{verb}", args=[waiting]), body).status_code == 403  # An address of the pages.
    assert ImportJob.objects.get().status == "unapproved"


def test_a_refusal_ends_it_with_the_reason(program, bob, waiting):
    problem(bob.send("POST", f"imports/{waiting}/refuse", {"reason": "\n"}), 422)
    assert bob.send("POST", f"imports/{waiting}/refuse", {"reason": "wrong month"}).status_code == 200
    assert run(ImportJob.objects.get()).status == "failed"
    report = program.read(f"imports/{waiting}")
    assert (report["outcome"], report["problem"]["code"]) == ("refused", 1600)


def test_a_lab_is_approved_and_refused_in_the_same_way(program, bob, target):
    loaded = program.send("POST", "imports", {"file": program.upload(ROWS), **INTO}).json()["job"]
    run(ImportJob.objects.get())
    Target.objects.update(needs_approval=True)
    wanted = {"job": loaded, "grid": "own", "settings": {"unique_checks": "on,off"}}
    made = [program.send("POST", "labs", wanted).json()["lab"] for _ in range(2)]
    for each in Lab.objects.all():
        take_step(each)
    listed = {each["lab"]: each for each in bob.read("approvals")["items"]}
    assert set(listed) == set(made)
    page = bob.read("approvals?limit=1")
    assert [each["lab"] for each in page["items"]] == [made[1]]
    Lab.objects.filter(pk=made[1]).update(approval_asked_at=None)  # as if somebody had decided about it meanwhile
    assert [each["lab"] for each in bob.read(f"approvals?cursor={page['next']}")["items"]] == [made[0]]
    Lab.objects.filter(pk=made[1]).update(approval_asked_at=timezone.now())
    first, second = made
    assert "are loaded into copies of" in bob.read(f"labs/{first}/approval")["sentence"]
    problem(program.send("POST", f"labs/{first}/approve", {"digest": listed[first]["digest"]}), 403)
    told = problem(Program(operator("cleo"), Scope.IMPORT).send("POST", f"labs/{second}/refuse", {"reason": "no"}), 403)
    assert "it needs the scope approve" in told["what"]
    assert bob.send("POST", f"labs/{first}/approve", {"digest": listed[first]["digest"]}).status_code == 200
    assert bob.send("POST", f"labs/{second}/refuse", {"reason": "not on this server"}).json()["status"] == "ending"
    assert Lab.objects.get(pk=first).approved_by.username == "bob"
    assert bob.read("approvals")["items"] == []
