"""Pages and API answer with a message to anything that a server sends, within bounds, and send it no secret."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from importer.engine.mysql import answers
from importer.models import Target
from importer.targets import TargetUrl, add_or_replace
from tests.dashboard.api.program import Program
from tests.engine.mysql.test_hostile_servers import MOST_SENT, SECRET
from tests.hostile_servers import KINDS
from tests.people import admin

SECONDS = 0.5
Door = Callable[[Client, Program, Target], list[int]]


def pages(browser: Client, program: Program, target: Target) -> list[int]:
    """The check, the list of tables, and the preview of a file for a table."""
    key = program.upload(b"id,name\n1,a\n")
    chosen = {"target": target.name, "table": "orders"}
    return [
        browser.post(reverse("target_check", args=[target.pk]), follow=True).status_code,
        browser.get(reverse("new_tables"), chosen).status_code,
        browser.post(reverse("new_source", args=[key]), chosen).status_code,
    ]


def api(_browser: Client, program: Program, target: Target) -> list[int]:
    """The same by a program, and an import."""
    wanted = {"file": program.upload(b"id,name\n1,a\n"), "target": target.name, "table": "orders"}
    return [
        program.send("POST", f"targets/{target.pk}/check").status_code,
        program.send("GET", f"targets/{target.pk}/tables").status_code,
        program.send("GET", f"targets/{target.pk}/columns?table=orders").status_code,
        program.send("POST", "plans", wanted).status_code,
        program.send("POST", "imports", wanted).status_code,
    ]


@pytest.fixture(autouse=True)
def short(monkeypatch, settings):
    """The times of the waits, which are for servers far away."""
    monkeypatch.setattr(answers, "SIGN_IN_SECONDS", SECONDS)
    monkeypatch.setattr(answers.Connection, "answer_seconds", SECONDS)
    monkeypatch.setattr(answers, "until", lambda: answers.time.monotonic() + SECONDS)
    settings.CHECKS_PER_MINUTE = 0


@pytest.mark.one_of("door")
@pytest.mark.parametrize("door", [pages, api])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_answered_with_a_message(kind: str, door: Door, client: Client, transactional_db, no_workers):
    root = admin("root")
    client.force_login(root)
    client.raise_request_exception = False
    with KINDS[kind]() as server:
        tls = "encrypt" if server.tls else "off"
        target = add_or_replace("far", TargetUrl("127.0.0.1", server.port, "somebody", "shop"), password=SECRET)
        Target.objects.update(tls=tls)
        statuses = door(client, Program(root), target)
    assert {200, 422, 424} >= set(statuses), statuses
    assert server.sent < len(statuses) * MOST_SENT
    assert SECRET.encode() not in server.received
