"""Markup in names, problems and messages of a server: every page shows it as text."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import models

from importer.engine.errors import BadRow, Problem
from importer.models import Chunk, ImportJob, Lab, Schedule, ScheduleRun
from tests.dashboard.test_access import nothing_inline
from tests.dashboard.test_forgery import PAGES, is_html
from tests.dashboard.test_rules import SECRET, address, some_at_once
from tests.dashboard.test_rules import things as things  # noqa: PLC0414 -- a fixture
from tests.people import admin

MARKUP = """'"></script><img src=x onerror=alert(1)>"""
PROBLEM = Problem(
    f"{MARKUP} (error 1064)", where=MARKUP, advice=MARKUP, rows=(BadRow(1, MARKUP, MARKUP, MARKUP),), bad_rows=1
).as_json()
# Pages that show the name or the problem of a thing, so that the test cannot pass on empty pages.
SHOW_IT = ("job", "lab", "schedule", "target", "channel", "connection", "person", "group", "jobs", "targets", "presets")


@pytest.fixture
def marked(things: dict[type, Any]) -> dict[type, Any]:
    """The things, with markup wherever SECRET stands, and in each problem."""
    for model in (*apps.get_app_config("importer").get_models(), User, Group):
        texts = [each.name for each in model._meta.fields if isinstance(each, models.CharField | models.TextField)]
        for row in model._default_manager.order_by("pk").values("pk", *texts):
            marks = {name: value.replace(SECRET, MARKUP) for name, value in row.items() if SECRET in str(value)}
            if marks:
                model._default_manager.filter(pk=row["pk"]).update(**marks)
    reasons = [{"kind": MARKUP, "column": MARKUP, "reason": MARKUP, "rows": 3, "text": MARKUP}]
    ImportJob.objects.update(status="failed", problem=PROBLEM, rejected_rows=3, reject_reasons=reasons)
    Chunk.objects.update(status="failed", problem=PROBLEM)
    Lab.objects.update(problem=PROBLEM)
    Schedule.objects.update(problem=PROBLEM)
    ScheduleRun.objects.update(problem=PROBLEM, status="failed")
    return things


@some_at_once(PAGES)
def test_markup_is_shown_as_text(names: list[str], client, marked: dict[type, Any]):
    client.force_login(admin("second"))
    for name in names:
        answer = client.get(address(name, marked))
        assert answer["X-Content-Type-Options"] == "nosniff", name
        if answer.streaming or not is_html(answer):
            continue
        page = answer.content.decode()
        assert "<img src=x" not in page, name
        assert nothing_inline(answer), name
        assert name not in SHOW_IT or "&lt;img src=x" in page, name
