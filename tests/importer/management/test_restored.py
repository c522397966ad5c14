"""What a restored installation does not continue, and the numbers of its next imports."""

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from importer.engine.mysql.connection import Address
from importer.engine.units import MIB
from importer.management.backup.adjust import adjust
from importer.management.backup.manifest import Manifest
from importer.models import Chunk, ImportJob, Lab, Schedule, SourceFile
from tests.dashboard.job_data import make_job
from tests.importer.labs import created_lab, now, tables, take_step, to_trial, write_rows
from tests.importer.management.installation import Installation
from tests.importer.management.test_backup import application_database
from tests.importer.steps import run
from tests.targets import target_with

MANIFEST = Manifest(1, "0.1.0", "", "sqlite", {}, "/old/uploads", {})
DELETED = """
from importer.models import JobRecord
record = JobRecord.objects.create(job_id=41)
answer = record.pk
"""
NEXT = """
from tests.dashboard.job_data import make_job
answer = make_job().pk
"""


@pytest.mark.django_db
def test_what_was_under_way_does_not_go_on_by_itself():
    job = make_job(chunks=2)
    ImportJob.objects.update(status="loading", step="scanning", step_connection_id=7)
    Chunk.objects.update(status="loading", lease=timezone.now(), connection_id=8)
    SourceFile.objects.update(path="/old/uploads/4f", owned=True)
    Session.objects.create(session_key="s", session_data="", expire_date=timezone.now())
    adjust("default", MANIFEST, "/new")
    job.refresh_from_db()
    assert (job.status, job.step, job.step_connection_id) == ("failing", "", None)
    assert "under way when the backup was made" in job.problem["what"]
    assert set(job.chunks.values_list("status", "lease", "connection_id")) == {("pending", None, None)}
    assert SourceFile.objects.get().path == "/new/4f"
    assert not Session.objects.exists()
    assert not Schedule.objects.filter(paused=False).exists()


@pytest.mark.usefixtures("no_workers", "transactional_db")
def test_a_lab_that_was_under_way_has_failed_and_its_tables_are_dropped(mariadb: Address, tmp_path):
    target = target_with(mariadb, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(30), p INT)")
    files = (write_rows(tmp_path / name) for name in ("a", "b"))
    running, waiting = (created_lab(target, file, {"chunk_bytes": (4096, MIB)}) for file in files)
    to_trial(running)
    Lab.objects.filter(pk=running.pk).update(lease=timezone.now(), connection_id=7)
    adjust("default", MANIFEST, "/new")
    assert (now(running).lease, now(running).connection_id) == (None, None)
    run(ImportJob.objects.get(trial__lab=running))
    take_step(running)
    ended = now(running)
    assert (ended.status, ended.sample) == ("failed", None)
    assert "its sample is not in the backup" in ended.problem["what"]
    assert now(waiting).status == "waiting"
    assert tables(mariadb) == {"t"}


@pytest.mark.parametrize("kind", ["sqlite", "server"])
def test_the_number_of_a_deleted_import_is_not_given_again(kind, server, tmp_path):
    with application_database(kind, server) as first, application_database(kind, server) as second:
        old, new = Installation.with_tables(tmp_path / "old", first), Installation(tmp_path / "new", second)
        with old.shell() as there:
            assert there.python(DELETED) == 41
            there.manage("backup", "create", str(tmp_path / "b.tar"))
        new.manage("backup", "restore", str(tmp_path / "b.tar"))
        with new.shell() as here:
            assert here.python(NEXT) == 42
            here.manage("migrate", "--skip-checks")
            assert here.python(NEXT) == 43
