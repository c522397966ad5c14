"""Kill workers while an import follows the upload of its file: no row is lost and none comes twice."""

import io
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import Chunk, ImportJob
from importer.sources import parts, uploads
from tests.faults.conftest import CHUNK_BYTES, TABLES, Disturbed
from tests.importer.steps import import_of
from tests.stack import Stack, wait_until
from tests.targets import target_with

MIB = 2**20


@pytest.mark.usefixtures("transactional_db")
def test_workers_are_killed_after_each_part(mariadb: Address, stack: Stack, many_rows: Path):
    data = many_rows.read_bytes()
    target = target_with(mariadb, f"CREATE TABLE t ({TABLES['keyed']}) CHARACTER SET utf8mb4")
    source = uploads.begin_upload(many_rows.name, len(data), None)
    parts.append(source, 0, io.BytesIO(data), MIB)
    options = Options(chunk_bytes=CHUNK_BYTES, parallelism=2)
    disturbed = Disturbed(import_of(source, target, options=options), mariadb)
    commands.start(disturbed.job.pk)
    wait_until(disturbed.loaded, what="chunks of the first part")
    for number, worker in enumerate((stack.control_worker, stack.load_worker), start=1):
        parts.append(source, source.received, io.BytesIO(data[source.received :]), 2 * MIB)
        wait_until(lambda: Chunk.objects.filter(job=disturbed.job, status=Chunk.Status.LOADING).exists())
        worker.kill()
        worker.start()
        # Chunks of the part that was the last one when the worker was killed.
        rest = disturbed.job.chunks.filter(offset__gt=(2 * number - 1) * MIB, status=Chunk.Status.LOADED)
        wait_until(rest.exists, what="chunks of the last part")
        assert not ImportJob.objects.get(pk=disturbed.job.pk).scan_finished
    parts.append(source, source.received, io.BytesIO(data[source.received :]), len(data) - source.received)
    uploads.finish(source)
    disturbed.ends_well()
