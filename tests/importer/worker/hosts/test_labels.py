"""A target with a label is loaded by workers with this label, and by no others."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import worker_labels
from importer import queue
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.management.processes.command_lines import worker_control, worker_load
from importer.models import ImportJob
from importer.sources import uploads
from importer.worker.hosts import presence
from tests.importer.steps import import_of
from tests.importer.word_file import word_file
from tests.stack import Process, Stack, wait_until
from tests.targets import target_with

LABEL = "eu-west"


def test_workers_with_labels_take_tasks_of_their_labels_only(settings):
    settings.LOADS = [LABEL, "lab"]
    assert "--queues=load.eu-west,load.lab" in worker_load()
    assert "--queues=control.eu-west,control.lab,scan.eu-west,scan.lab" in worker_control()
    settings.LOADS = []
    assert "--queues=load" in worker_load()


@pytest.mark.parametrize("wrong", ["EU", "eu_west", "-eu", "a" * 33, "eu.west"])
def test_a_text_that_is_no_label_is_refused(wrong):
    assert worker_labels([" eu-west", "", "b1"]) == ["eu-west", "b1"]
    with pytest.raises(ImproperlyConfigured, match=r"LOADS: .* is no label"):
        worker_labels([wrong])


@pytest.fixture
def labelled(stack: Stack, tmp_path: Path) -> Iterator[Process]:
    """A worker of a host whose LOADS is the label."""
    queues = ",".join(f"{queue}.{LABEL}" for queue in ("load", "control", "scan"))
    command = list(stack.load_worker.command)
    command[command.index("load")] = queues
    command[command.index("load@%h")] = "load@labelled"
    process = Process(command, {**stack.env, "LOADS": LABEL}, tmp_path / "labelled.log")
    process.start()
    queue.connection.cache_clear()
    wait_until(lambda: presence.parallel_loads(LABEL) == 2, what="the worker with the label")
    yield process
    process.stop()


def test_all_chunks_are_loaded_by_the_worker_with_the_label(
    mariadb: Address, labelled: Process, tmp_path: Path, transactional_db
):
    target = target_with(mariadb, "CREATE TABLE t (n INT, word VARCHAR(20))")
    target.label = LABEL
    target.save()
    source = uploads.register(word_file(tmp_path / "words.csv", range(3000)))
    job = import_of(source, target, options=Options(chunk_bytes=8000, parallelism=2))
    own = {str(pid) for pid in labelled.children()}
    commands.start(job.pk)
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the end of the import")
    job = ImportJob.objects.get(pk=job.pk)
    assert (job.status, job.loaded_rows) == (ImportJob.Status.SUCCEEDED, 3000), job.problem
    assert {worker.partition("@")[0] for worker in job.chunks.values_list("worker", flat=True)} <= own
