"""The deletion is killed again and again: the next runs finish it, and nothing is left over."""

import os
import subprocess
from pathlib import Path

import pytest
from django.db import connections

from importer.jobs.rejects import downloads
from importer.models import Chunk, ImportJob, JobRecord, SourceFile
from importer.retention.run import run_to_the_end
from tests.importer.retention.conftest import NOW
from tests.stack import PYTHON, ROOT, Stack, wait_until

IMPORTS, KILLS = 20, 3


def left(folders: Path) -> tuple[int, int, int]:
    """Imports, chunks and files that are there."""
    connections.close_all()
    # os.walk() passes over a folder that is removed while it runs.
    files = sum(len(names) for _, _, names in os.walk(folders))
    return ImportJob.objects.count(), Chunk.objects.count(), files


@pytest.mark.django_db(transaction=True)
def test_killed_at_any_moment_it_leaves_nothing_behind(stack_env: Stack, ended, folders: Path):
    for number in range(IMPORTS):
        job = ended(500, chunks=5, rejected_rows=number % 2)
        if job.rejected_rows:
            downloads.folder(job).mkdir()
            (downloads.folder(job) / "00000000.rejects").write_bytes(b"1\n")
    folder_env = {"UPLOAD_DIR": str(folders / "uploads"), "REJECTS_DIR": str(folders / "rejects")}
    for _ in range(KILLS):
        kill_after_a_deletion(stack_env.env | folder_env, folders)
        # A file whose row says that it is there is there.
        ready = SourceFile.objects.filter(status=SourceFile.Status.READY)
        assert all(each.file.exists() for each in ready)
        # What is there of an import is there completely.
        assert not Chunk.objects.filter(job__chunks_removed_at__isnull=False).exists()
        assert JobRecord.objects.count() == IMPORTS
    assert ImportJob.objects.exists(), "the last process was killed before it had finished"
    run_to_the_end(NOW)
    downloads.remove_orphans()
    assert left(folders) == (0, 0, 0)
    assert not SourceFile.objects.exists()
    assert JobRecord.objects.count() == IMPORTS


def kill_after_a_deletion(env: dict[str, str], folders: Path) -> None:
    before = left(folders)
    with subprocess.Popen([str(PYTHON), "manage.py", "retention", "run"], cwd=ROOT, env=env) as command:
        try:
            wait_until(lambda: left(folders) != before, what="a deletion")
        finally:
            command.kill()
