"""A connection, a preset and a schedule of both, made in the browser."""

import pytest
from django.urls import reverse

from importer.connections.protocols import folder as folders
from importer.models import MappingPreset, Schedule, SourceConnection
from tests.dashboard.job_data import make_job


@pytest.fixture
def connection(tmp_path, settings, monkeypatch):
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    monkeypatch.setattr(folders, "SETTLED", 0.0)
    return SourceConnection.objects.create(name="incoming", kind="folder", base=str(tmp_path))


@pytest.fixture
def preset():
    job = make_job()
    recipe = {name: getattr(job, name) for name in ("target", "schema_name", "table_name", "dialect_json")}
    return MappingPreset.objects.create(name="orders", header=["n"], columns_json=[], mapping_json=[], **recipe)


def values(connection, **changes):
    return {
        "name": "nightly", "connection": connection.pk, "pattern": "orders-*.csv", "trigger": "cron",
        "cron": "30 2 * * *", "zone": "Europe/Vienna", "overlap": "queue", "misfire": "once", "misfire_most": 10,
        "most_attempts": 5, "backoff_seconds": 60, "no_file": "fine", "known_by": "content", "afterwards": "keep",
        "drift": "stop",
    } | changes  # fmt: skip


@pytest.fixture
def made(browser, connection, preset):
    browser.post(f"{reverse('schedule_new')}?preset={preset.pk}", values(connection))
    return Schedule.objects.get()
