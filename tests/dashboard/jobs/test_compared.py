"""What a file would change, on the page of its import."""

import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.engine.errors import TooManyChanges
from importer.engine.load.outcome import Compared
from importer.engine.stored import to_json
from importer.models import ImportJob
from tests.dashboard.job_data import make_job

pytestmark = pytest.mark.django_db

Status = ImportJob.Status
FIRST = {"new": [{"id": ["5"], "name": [None]}], "changed": [{"id": ["1"], "name": ["<one>", "eins"]}], "missing": []}
COMPARED = to_json(Compared(1, 2, 3, 4, 5, 5, {"name": 2}, FIRST))


STAGED = {"mode": "sync", "on_duplicate": "fail", "table": "t", "table_digest": "", "make": [], "finish": ""}


def ids(html: str) -> set[str]:
    return set(re.findall(r'id="([^"]+)"', html))


def page(browser, job: ImportJob) -> str:
    return browser.get(reverse("job", args=[job.pk])).content.decode()


def test_a_preview_shows_counts_and_first_rows_and_is_listed_as_one(browser, user):
    job = make_job(Status.CANCELLED, previewed_at=timezone.now(), compared_json=COMPARED, scan_finished=True)
    html = page(browser, job)
    assert "1 is new, 2 change a row, and 3 are equal to one; 4 have a key that comes again later" in html
    assert "The table has 5 more, of which 5 would be deleted" in html
    assert "<code>&lt;one&gt;</code> → <code>eins</code>" in html
    assert "name NULL" in html
    assert "nothing was changed" in html
    assert "Compared" in html
    assert "Not complete" not in html
    assert "previewed" in unescape(browser.get(reverse("jobs")).text).lower()


def test_a_load_shows_the_changes_by_column_alone(browser, user):
    job = make_job(Status.SUCCEEDED, chunks=1, compared_json=COMPARED, staging="done", deleted_rows=5)
    html = page(browser, job)
    assert "Changed rows by column: name 2" in html
    assert "<span>deleted from the table</span>" in html
    assert "are new" not in html


def test_what_a_limit_stopped_is_applied_all_the_same_or_dropped(browser, user):
    problem = TooManyChanges("100 rows would be deleted.")
    staged = {"staging": "kept", "seen_json": {"ranges": [], "bytes": 4096}}
    plan = STAGED | {"stop_if": "deleted>10%"}
    job = make_job(Status.FAILED, problem=problem, compared_json=COMPARED, scan_finished=True, **staged)
    ImportJob.objects.filter(pk=job.pk).update(plan_json={**job.plan_json, "staged": plan})
    html = page(browser, job)
    assert "waits for a decision" in html.lower()
    assert "5 rows (50.0%) would be deleted" in html
    assert {"job-apply", "job-apply-yes", "job-compare-again", "job-drop-staged"} <= ids(html)
    assert "job-retry" not in ids(html)
    assert "staged on the server (4" in html
