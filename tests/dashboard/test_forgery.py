"""Requests that another site makes a browser send, and fields that no form of ours has: neither changes anything."""

from html.parser import HTMLParser
from itertools import product
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from dashboard import urls
from dashboard.access.rules import RULES
from tests.dashboard import test_access
from tests.dashboard.test_rules import NAMES, address, everything, some_at_once
from tests.dashboard.test_rules import things as things  # noqa: PLC0414 -- a fixture
from tests.people import admin, stranger

READING = ("get", "head", "options")
CHANGING = ("post", "put", "patch", "delete")
PATTERNS = {pattern.name: pattern for pattern in urls.pages}
PAGES = sorted(name for name in NAMES if name in RULES and not RULES[name].public)
# Columns that only the application itself sets, and what an attacker would like there.
PLANTED: dict[str, Any] = {
    "is_staff": True, "is_superuser": True, "role": "admin", "status": "succeeded", "outcome": "loaded",
    "table_claim": "planted", "plain_copy": "planted", "path": "/planted", "password_ciphertext": "planted",
    "secrets_ciphertext": "planted", "key": "00000000-0000-0000-0000-000000000000", "balanced": True, "staging": "done",
}  # fmt: skip
PEOPLE = ("created_by", "uploaded_by", "asked_by", "user")


class Forms(HTMLParser):
    """The forms of a page that are sent by POST: the address of each, and the values it has when it is opened."""

    def __init__(self, page: str, url: str) -> None:
        super().__init__()
        self._url, self._posts, self._name = url, False, ""
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "form":
            self._posts = (named.get("method") or "get").lower() == "post"
            self.found += [(named.get("action") or self._url, {})] if self._posts else []
        self._name = named.get("name") or self._name
        if not self._posts or not self._name:
            return
        values = self.found[-1][1]
        chosen = "selected" in named or self._name not in values
        filled = named.get("type") not in ("checkbox", "radio") or "checked" in named
        if (tag == "option" and chosen) or (tag == "input" and filled):
            values[self._name] = named.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self.lasttag == "textarea" and self._posts:
            self.found[-1][1].setdefault(self._name, data.strip())

    def handle_endtag(self, tag: str) -> None:
        self._posts &= tag != "form"


def is_html(answer: HttpResponse) -> bool:
    return answer.status_code == 200 and "text/html" in answer["Content-Type"]


def planted(sent: dict[str, Any]) -> set[tuple[str, Any, str]]:
    """Table, id and column of every value in the database that is one of those sent."""
    return {
        (table, row.get("id"), name)
        for table, rows in everything().items()
        for row in rows
        for name, value in row.items()
        if name in sent and str(value) == str(sent[name])
    }


@some_at_once(PATTERNS)
def test_without_the_token_of_our_form_an_admins_browser_is_refused(names: list[str], db):
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin("root"))
    for name, verb in product(names, CHANGING):
        assert getattr(client, verb)(test_access.address(PATTERNS[name])).status_code == 403, (name, verb)


@some_at_once(PAGES)
def test_following_a_link_changes_nothing(names: list[str], client, things: dict[type, Any]):
    client.force_login(admin("second"))
    before = everything()
    for name, verb in product(names, READING):
        getattr(client, verb)(address(name, things))
    assert everything() == before


@some_at_once(PAGES)
def test_fields_that_a_form_does_not_have_change_nothing(names: list[str], client, things: dict[type, Any]):
    client.force_login(admin("second"))
    eve = stranger("eve")
    sent = PLANTED | dict.fromkeys(PEOPLE, eve.pk) | {f"{each}_id": eve.pk for each in PEOPLE}
    before = planted(sent)
    for name in names:
        page = client.get(address(name, things))
        forms = Forms(page.content.decode(), page.request["PATH_INFO"]).found if is_html(page) else []
        # What the forms of a page change, such as deleting what it shows, is taken back before the next page.
        with transaction.atomic():
            for action, values in forms:
                if action != reverse("logout"):
                    client.post(action, {each: value for each, value in sent.items() if each not in values} | values)
            assert not forms or planted(sent) <= before, name
            transaction.set_rollback(True)
