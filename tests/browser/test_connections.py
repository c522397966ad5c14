"""Somebody of the staff makes a folder connection on a phone, checks it, and continues to a new schedule."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from importer.connections.protocols import folder as folders
from importer.models import ImportJob, SourceConnection
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.dashboard.job_data import make_job

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_folder_is_made_checked_and_used_in_a_schedule(opened, settings, tmp_path, monkeypatch):
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    monkeypatch.setattr(folders, "SETTLED", 0.0)
    User.objects.filter(username="ann").update(is_staff=True)
    make_job(status=ImportJob.Status.SUCCEEDED)
    other = SourceConnection.objects.create(name="another", kind="folder", base=str(tmp_path))
    page = opened(reverse("jobs"), viewport={"width": 390, "height": 844})
    page.get_by_text("Manage", exact=True).click()
    page.get_by_role("link", name="Connections").click()
    page.get_by_role("link", name="Add a connection").click()
    expect(page.get_by_label("Name")).to_be_visible()
    expect_no_scrolling_sideways(page)
    for field in page.locator("input:visible, textarea:visible, select:visible").all():
        assert field.evaluate("field => field.labels.length"), field.evaluate("field => field.outerHTML")
    page.get_by_label("Name").fill("incoming")
    expect(page.get_by_label("Folder", exact=True)).to_have_value(str(tmp_path))
    page.get_by_role("button", name="Save and check").click()
    expect(page).to_have_url(re.compile(r"/connections/\d+/"))
    expect(page.get_by_text("No files directly in it now.")).to_be_visible()
    (tmp_path / "nodes-1.csv").write_text("id\n1\n")
    page.get_by_label("Name").fill("typed but not saved")
    page.get_by_text("checks passed").click()
    page.get_by_role("button", name="Check now").click()
    expect(page.locator("#findings")).to_contain_text("1 file in the folder.")
    assert page.get_by_label("Name").input_value() == "typed but not saved"
    expect_no_scrolling_sideways(page)
    page.get_by_role("link", name="New schedule").click()
    page.locator("a[href*='job=']").click()
    made = SourceConnection.objects.exclude(pk=other.pk).get()
    expect(page.get_by_label("Connection")).to_have_value(str(made.pk))
    expect(page.get_by_text("1 file:")).to_be_visible()
    expect_no_scrolling_sideways(page)
