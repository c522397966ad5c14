"""Connections on the form of a schedule: only those that the person may see, and files only of those one may use."""

import pytest
from django.test import Client
from django.urls import reverse

from importer.access import people
from importer.connections.protocols import folder as folders
from importer.models import Level, SourceConnection, Target
from tests.dashboard.job_data import make_job
from tests.people import stranger

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(tmp_path, settings, monkeypatch) -> SourceConnection:
    monkeypatch.setattr(folders, "SETTLED", 0.0)  # A file's last change cannot be set back.
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    (tmp_path / "salaries.csv").write_text("a\n1\n")
    return SourceConnection.objects.create(name="payroll", kind="folder", base=str(tmp_path))


@pytest.fixture
def eve():
    """An operator with a grant on every target, and on no connection."""
    user = stranger("eve")
    people.grant(user, "target", Level.LOAD)
    return user


def form(user, job) -> str:
    client = Client()
    client.force_login(user)
    return client.get(reverse("schedule_new"), {"job": job.pk}).content.decode()


def preview(user, connection: SourceConnection) -> str:
    client = Client()
    client.force_login(user)
    entered = {"connection": connection.pk, "pattern": "*.csv", "trigger": "arrival", "zone": "UTC"}
    return client.get(reverse("schedule_preview"), entered).content.decode()


def test_without_a_grant_a_connection_is_not_offered(eve, connection):
    job = make_job()
    assert Target.objects.exists()
    assert "payroll" not in form(eve, job)
    people.grant(eve, "connection", Level.LOAD, connection)
    assert "payroll" in form(eve, job)


def test_files_are_listed_only_for_who_may_use_the_connection(eve, connection):
    assert "salaries" not in preview(eve, connection)
    people.grant(eve, "connection", Level.LOOK, connection)
    assert "salaries" not in preview(eve, connection)
    assert "may not use" in preview(eve, connection)
    people.grant(eve, "connection", Level.LOAD, connection)
    assert "salaries" in preview(eve, connection)
