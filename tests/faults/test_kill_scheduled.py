"""A schedule as it runs every day, with beat, workers and a folder; its workers are killed in the middle."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections as databases
from django.utils import timezone

from importer.connections import operations
from importer.models import ScheduleRun
from importer.schedules import update
from tests.importer.schedules.conftest import database, drop, make  # noqa: F401
from tests.importer.schedules.steps import request_of, rows
from tests.stack import Stack, wait_until


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the workers, too, may pick files up."""
    path = Path(settings.IMPORT_FOLDERS[0]) / "daily"
    path.mkdir(parents=True)
    yield path
    shutil.rmtree(path)


def test_files_that_arrive_go_in_once_and_are_moved(stack: Stack, make, folder, database):  # noqa: F811
    schedule = make()
    for number in (1, 2):
        drop(folder, f"{number}.csv", "".join(f"{number * 100_000 + n},x\n" for n in range(50_000)))
    found = schedule.connection
    wait_until(lambda: len(operations.find_settled(found, "*.csv", timezone.now(), UTC)) == 2, what="settled files")
    # Its next look is due at once.
    update(schedule, replace(request_of(schedule), afterwards="move", move_to="loaded"))
    wait_until(lambda: ScheduleRun.objects.filter(files__outcome="loading").exists(), what="an import")
    for worker in (stack.control_worker, stack.load_worker):
        worker.kill()
        worker.start()
    wait_until(lambda: schedule.runs.filter(status="succeeded").exists(), what="the run's end")
    assert rows(database) == [n + 100_000 * number for number in (1, 2) for n in range(50_000)]
    assert sorted(path.name for path in folder.rglob("*")) == ["1.csv", "2.csv", "loaded"]
    assert list(folder.glob("*.csv")) == []
    assert list(schedule.runs.values_list("files__outcome", flat=True)) == ["loaded"] * 2
    databases.close_all()
