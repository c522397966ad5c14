"""Rights that end while an import runs: it loads no further row, and leaves the table in order."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from importer.access import people
from importer.access.acting import acting_as
from importer.engine.mysql.connection import connect, fetch_all
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import Chunk, Grant, ImportJob, Level, Role, Target
from importer.worker import load_chunks
from tests.importer.steps import advance, import_of, queued, run, take
from tests.people import admin, operator
from tests.targets import count_rows, on_mariadb

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 3000
Status = ImportJob.Status
TABLES = ("CREATE TABLE t (n INT, word VARCHAR(20), KEY (word))",)
database = on_mariadb


@pytest.fixture
def ann(transactional_db) -> User:
    admin("root")
    return operator("ann")


def created(target: Target, user: User | None, folder: Path, **options: object) -> ImportJob:
    path = folder / "words.csv"
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    return import_of(path, target, options=Options(chunk_bytes=8000, parallelism=2, **options), user=user)


@pytest.fixture
def started(target: Target, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ImportJob:
    """An import that Ann asked for, with one loaded chunk and more to come."""
    monkeypatch.setattr(load_chunks, "TASK_SECONDS", 0)
    monkeypatch.setattr("importer.jobs.steps.chunk_leases.RUN_CHUNKS", 1)
    job = created(target, ann, tmp_path)
    for _ in range(2):
        advance(job)
        take(queued(job)[0])
    assert job.chunks.filter(status=Chunk.Status.LOADED).count() == 1
    return job


def take_grant(ann: User) -> None:
    Grant.objects.filter(user=ann).delete()


def narrow_grant(ann: User) -> None:
    people.grant(ann, "target", Level.LOAD, tables=["other.*"])


def make_viewer(ann: User) -> None:
    people.set_role(ann, Role.VIEWER)


ENDS = [take_grant, narrow_grant, make_viewer, people.deactivate]


@pytest.mark.parametrize("ends", ENDS)
def test_no_chunk_is_claimed_after_the_right_has_ended(ends: Callable, started: ImportJob, target: Target, ann: User):
    rows = count_rows(target)
    advance(started)
    step = queued(started)[0]
    ends(ann)
    take(step)
    job = run(started)
    assert count_rows(target) == rows == job.loaded_rows
    assert (job.status, job.table_claim) == (Status.FAILED, None)
    assert "ann may no longer load into the table" in job.problem["what"]


def test_a_sweep_ends_it_although_nothing_is_claimed(started: ImportJob, ann: User):
    take_grant(ann)
    lifecycle.advance(started.pk)
    assert ImportJob.objects.get(pk=started.pk).status == Status.FAILING


def test_one_that_has_not_begun_loads_nothing(target: Target, ann: User, tmp_path: Path):
    job = created(target, ann, tmp_path)
    take_grant(ann)
    assert run(job).status == Status.FAILED
    assert count_rows(target) == 0


def test_a_staged_one_does_not_reach_its_table(target: Target, ann: User, tmp_path: Path):
    job = created(target, ann, tmp_path, mode="atomic")
    while ImportJob.objects.get(pk=job.pk).status != Status.FINISHING:
        advance(job)
        for step in queued(job):
            if step.task != "finish":
                take(step)
    take_grant(ann)
    assert run(job).status == Status.FAILED
    assert count_rows(target) == 0


def test_keys_that_were_off_come_back(target: Target, ann: User, tmp_path: Path):
    job = created(target, ann, tmp_path, indexes="defer")
    while ImportJob.objects.get(pk=job.pk).changes != "made":
        advance(job)
        take(queued(job)[0])
    take_grant(ann)
    assert run(job).status == Status.FAILED
    with connect(target.address) as connection:
        assert len(fetch_all(connection, "SHOW INDEX FROM t")) == 1


def test_somebody_who_may_can_retry_it(started: ImportJob, target: Target, ann: User):
    take_grant(ann)
    assert run(started).status == Status.FAILED
    with acting_as(User.objects.get(username="root")):
        commands.retry(started.pk)
    assert run(started).status == Status.SUCCEEDED
    assert count_rows(target) == ROWS


def test_one_that_the_system_asked_for_goes_on(target: Target, ann: User, tmp_path: Path):
    job = created(target, None, tmp_path)
    people.deactivate(ann)
    assert run(job).status == Status.SUCCEEDED
