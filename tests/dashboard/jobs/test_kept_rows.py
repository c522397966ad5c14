"""What an import keeps to be taken back, on its page."""

import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.engine.errors import TargetProblem
from importer.engine.stored import to_json
from importer.engine.target.take_back import TakenBack
from importer.models import ImportJob
from tests.dashboard.job_data import make_job

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("user")]

Status = ImportJob.Status
FIRST = tuple((str(number), "<a>") for number in range(12))


def kept(**values: object) -> ImportJob:
    """An ended import that keeps rows."""
    values = {"kept_table": "millrace_old_1", "kept_rows": 30, "kept_bytes": 4096, "staging": "done", **values}
    job = make_job(Status.SUCCEEDED, chunks=1, balanced=True, **values)
    ImportJob.objects.filter(pk=job.pk).update(options_json={**job.options_json, "mode": "sync", "undo": "keep"})
    return job


def card(browser, job: ImportJob) -> str:
    html = browser.get(reverse("job", args=[job.pk])).content.decode()
    section = re.search(r'<section class="card" id="job-table-backup".*?</section>', html, re.DOTALL)
    return " ".join(unescape(section[0]).split())


def test_it_can_be_taken_back_after_a_question(browser):
    job = kept()
    html = card(browser, job)
    assert "It can be taken back" in html
    assert 'kept as <code class="break">millrace_old_1</code> (4 KiB)' in html
    assert 'name="overwrite"' in html
    assert "old table" not in html
    browser.post(reverse("job_restore", args=[job.pk]), {"overwrite": "on"})
    asked = ImportJob.objects.get(pk=job.pk)
    assert (asked.undo_asked, asked.undo_json["overwrite"], asked.table_claim is None) == (True, True, False)
    html = card(browser, job)
    assert "The old rows are being put back" in html
    assert "job-restore" not in html


@pytest.mark.parametrize(("overwritten", "left"), [(True, "overwritten"), (False, "left as they are")])
def test_what_was_taken_back_and_what_others_had_changed(browser, overwritten, left):
    taken = TakenBack(1, 2, 3, 12, overwritten, ("id", "name"), FIRST)
    html = card(browser, kept(undo_json=to_json(taken), restored_at=timezone.now()))
    assert "1 changed row has its old values, 2 deleted ones are back, and 3 new ones are gone" in html
    assert f"Others had changed 12 rows since, which were {left}: id, name 0, <a>; 1, <a>;" in html
    assert "9, <a>; and others." in html
    assert 'id="job-restore"' not in html
    assert "Restored</span>" in browser.get(reverse("jobs")).text


def test_why_it_was_not_taken_back(browser):
    problem = TargetProblem("The columns of t are others.", advice="Nothing was changed.")
    html = card(browser, kept(undo_json={"problem": problem.as_json()}))
    assert "It was not taken back: The columns of t are others. Nothing was changed." in html
    assert 'id="job-restore"' in html
