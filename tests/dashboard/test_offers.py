"""Crawls all pages as people who may not do everything: no link and no button leads to a refusal."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.urls import Resolver404, resolve

from dashboard.access.api_rules import API
from dashboard.access.rules import rule_of
from importer.access import people
from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.models import Lab, Level, Role, SourceConnection
from tests.dashboard.job_data import REFUSED, Status, make_job
from tests.dashboard.test_rules import NAMES, address, ruled, things
from tests.people import admin, operator, stranger, viewer

__all__ = ["things"]

PEOPLE: dict[str, Callable[[], User]] = {
    "a viewer": lambda: viewer("vic"),
    "a viewer without grants": lambda: people.add("vic", Role.VIEWER),
    "an operator who may look": lambda: operator("lou", Level.LOOK),
    "an operator who may load": lambda: operator("ole", Level.LOAD),
    "an operator without grants": lambda: stranger("eve"),
    "an admin": lambda: admin("second"),
}
FORM = re.compile(r"<form[^>]*method=\"post\"[^>]*>.*?</form>", re.DOTALL)
PAGES = [name for name, pattern in NAMES.items() if name not in API and not ruled(name, "get").public]


@pytest.fixture
def jobs(things) -> list[str]:
    """The addresses of imports in the states that offer something."""
    Lab.objects.update(status="failed", problem=REFUSED.as_json())
    kept = {"kept_table": "osm.old", "kept_rows": 1, "kept_bytes": 1}
    made = [
        make_job(Status.PAUSED, chunks=1),
        make_job(Status.FAILED, chunks=2, loaded=1, problem=REFUSED, rejected_rows=2),
        make_job(Status.SUCCEEDED, chunks=1, rejected_rows=1, **kept),
    ]
    return [f"/jobs/{each.pk}/" for each in made]


def offers(page: str, here: str) -> Iterator[tuple[str, bool]]:
    """What the page leads to: an address, and whether to follow it reads only."""
    for form in FORM.findall(page):
        if "<button" in form:
            action = re.search(r'^<form[^>]*? action="([^"]*)"', form)
            yield (unescape(action[1]) if action else here), False
    for name, sent in re.findall(r'\s(href|hx-get|hx-post)="([^"]*)"', page):
        yield unescape(sent), name != "hx-post"


def refused(person: User, path: str, reads: bool) -> bool:
    """Whether the person may not do what the page offers. Files and pages about the own account are for everybody."""
    try:
        match = resolve(path)
    except Resolver404:
        return False
    rule = rule_of(match.url_name or "")
    if rule is None:
        return False
    with acting_as(person):
        try:
            rule.check(reads, match.kwargs)
        except (Forbidden, Http404):
            return True
    return False


@pytest.mark.parametrize("who", PEOPLE)
def test_no_page_offers_what_it_refuses(client, things, jobs, tmp_path, settings, who: str):
    settings.IMPORT_FOLDERS, settings.UPLOAD_DIR = [str(tmp_path)], tmp_path / "uploads"
    SourceConnection.objects.update(base=str(tmp_path))
    person = PEOPLE[who]()
    client.force_login(person)
    wrong = set()
    for here in [*(address(name, things) for name in PAGES if name != "healthz"), *jobs]:
        answer = client.get(here)
        if answer.status_code != 200 or answer.streaming:
            continue
        for offered, reads in offers(answer.content.decode(), here):
            parts = urlsplit(offered)
            if not parts.scheme and parts.path and refused(person, parts.path, reads):
                wrong.add((here, "get" if reads else "post", offered))
    assert wrong == set()
