"""A schedule of a restored installation, while the one that made the backup has loaded more since."""

import pytest
from django.core import serializers

from importer import schedules
from importer.engine.mysql.connection import Address
from importer.management.backup.adjust import adjust
from importer.management.backup.manifest import Manifest
from importer.models import Chunk, DiscoveredFile, ImportJob, JobRecord, Schedule, ScheduleRun, Target
from importer.retention.needed import why_job_stays
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import outcomes, rows, run_now, to_end, to_import
from tests.importer.steps import run as run_job

pytestmark = pytest.mark.usefixtures("no_workers")

MANIFEST = Manifest(1, "0.1.0", "", "sqlite", {}, "/old", {})


@pytest.fixture
def restored(make, folder) -> Schedule:
    """A schedule whose import had loaded nothing yet in the backup, and has loaded all since."""
    schedule = make()
    drop(folder, "a.csv")
    going = schedules.run_now(schedule)
    to_import(going)
    backup = [serializers.serialize("json", model.objects.all()) for model in (ScheduleRun, ImportJob, DiscoveredFile)]
    assert to_end(going).status == "succeeded"
    for model in (Chunk, JobRecord):
        model.objects.all().delete()
    for each in backup:
        for row in serializers.deserialize("json", each):
            row.save()
    adjust("default", MANIFEST, "/new")
    assert run_job(ImportJob.objects.get()).status == "failed"
    schedule.refresh_from_db()
    return schedule


@pytest.mark.parametrize("away_at_first", [False, True])
def test_its_file_is_not_loaded_a_second_time(restored: Schedule, database: Address, away_at_first: bool):
    Schedule.objects.update(most_attempts=1)
    job = ImportJob.objects.get()
    assert job.accounted_rows == 0
    if away_at_first:
        port = job.target.port
        Target.objects.update(port=1)
        assert outcomes(run_now(restored)) == {"a.csv": "failed"}
        Target.objects.update(port=port)
    assert "a schedule continues from it" in why_job_stays(ImportJob.objects.get())
    done = run_now(restored)
    assert (outcomes(done), done.files.get().job_id, rows(database)) == ({"a.csv": "loaded"}, job.pk, [1])


def test_another_version_of_its_file_is_not_loaded_before_somebody_has_looked(restored, folder, database):
    drop(folder, "a.csv", "5,five\n")
    assert "0 or more rows of an earlier version" in run_now(restored).problem["what"]
    assert rows(database) == [1]
    assert schedules.forget(restored, "a.csv") == 1
    run_sql(database, "DELETE FROM t")
    assert run_now(restored).status == "succeeded"
    assert rows(database) == [5]
