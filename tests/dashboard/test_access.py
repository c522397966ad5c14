"""Who gets in, and what every page forbids the browser."""

import re
import uuid
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import reverse

from bench.experiments.published.registry import EXPERIMENTS
from dashboard import urls
from importer.access import people
from importer.models import Role
from tests.people import admin

pytestmark = pytest.mark.django_db

PUBLIC = {
    "login",
    "account_login",
    "account_inactive",
    "openid_connect_login",
    "openid_connect_callback",
    "healthz",
    "invitation",
    "readyz",
    "api_schema",
    "signed_in",
}
PASSWORD = "mill-race-9"


@pytest.fixture
def user():
    return User.objects.create_user("ann", password=PASSWORD)


def address(pattern):
    """An address that the pattern takes."""
    converters = pattern.pattern.converters
    values = {"IntConverter": 1, "UUIDConverter": uuid.uuid4(), "StringConverter": "x", "SlugConverter": "x"}
    return reverse(pattern.name, kwargs={name: values[type(each).__name__] for name, each in converters.items()})


def test_a_stranger_gets_nothing_but_the_sign_in(client):
    for pattern, method in product(urls.pages, ("get", "post", "patch", "delete")):
        if pattern.name in PUBLIC:
            continue
        answer = getattr(client, method)(address(pattern))
        if answer.status_code == 302:
            assert answer["Location"].startswith(reverse("login")), (pattern, method)
        else:
            assert answer.status_code in (401, 405), (pattern, method)
            assert b"<main" not in answer.content, (pattern, method)


def test_the_sign_in_evaluates_nothing_and_stays_on_the_site(client):
    """tests/dashboard/test_markup.py looks at every page behind it."""
    answer = client.get(reverse("login"))
    assert nothing_inline(answer)
    for setting in ('"allowEval": false', '"includeIndicatorStyles": false', '"selfRequestsOnly": true'):
        assert setting in answer.text


def nothing_inline(answer: HttpResponse) -> bool:
    """Whether the page has no script, style or handler of its own, nothing from elsewhere, and may have none.

    A link may lead to a published article, and tells it nothing of the page.
    """
    policy, page = answer["Content-Security-Policy"], answer.content.decode()
    for article in EXPERIMENTS.values():
        page = page.replace(f'<a href="{article.url}" rel="noreferrer">', "")
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", page)
    assert not re.search(r"<style|=[\"']javascript:", page)
    assert not re.search(r"<[^>]*\s(?:style|on\w+)=", re.sub(r'"[^"]*"', '""', page))
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    return True


class TestOtherNames:
    """Requests under another name than ours, and pages inside those of others."""

    @pytest.mark.parametrize("host", ["evil.example:8000", "localhost.evil.example", "localhost:80@evil.example"])
    @pytest.mark.parametrize("name", ["login", "jobs", "healthz"])
    def test_a_host_that_is_not_ours_is_refused(self, client, name, host):
        answer = client.get(reverse(name), HTTP_HOST=host)
        assert answer.status_code == 400
        assert b"evil" not in answer.content

    def test_a_forwarded_host_makes_no_link(self, client):
        client.force_login(admin("root"))
        ann = people.add("ann", Role.VIEWER)
        answer = client.post(reverse("person_link", args=[ann.pk]), HTTP_X_FORWARDED_HOST="evil.example")
        page = client.get(answer["Location"]).content if answer.status_code == 302 else answer.content
        assert b"/invitation/" in page
        assert b"evil.example" not in page

    @pytest.mark.parametrize("name", ["login", "healthz"])
    def test_no_page_may_be_inside_a_page_of_others(self, client, name):
        answer = client.get(reverse(name))
        assert answer["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


class TestErrorPages:
    def test_unknown_page_for_anybody(self, client):
        answer = client.get("/nowhere/")
        assert answer.status_code == 404
        assert "There is no such page" in answer.content.decode()
        assert "you are not allowed to see it: then ask who sent you the link" in answer.text

    def test_an_error_of_ours_is_a_page_without_a_traceback(self, client, user, monkeypatch):
        client.force_login(user)
        client.raise_request_exception = False
        monkeypatch.setattr("dashboard.jobs.list.page.matching", lambda *_: 1 / 0)
        answer = client.get(reverse("jobs"))
        page = answer.content.decode()
        assert answer.status_code == 500
        assert "Something went wrong here" in page
        assert "ZeroDivisionError" not in page
