"""An import that a newer release has planned: a worker of this one leaves it to workers of that release."""

from pathlib import Path

import pytest

from importer import tasks
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address
from importer.engine.plan import stored_plan
from importer.jobs import lifecycle
from importer.jobs.steps.chunk_leases import claim_run
from importer.models import Chunk, ImportJob, Target
from importer.queue import Message
from importer.worker import local_pool
from importer.worker.hosts import presence, releases
from importer.worker.sweep import sweep_jobs
from tests.engine.loads import rows_of
from tests.importer.steps import advance, import_of, run, take
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers")
NEWER = stored_plan.FORMAT + 1
QUEUES = ("load", "control", "scan")


@pytest.fixture
def newer(mariadb: Address, transactional_db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ImportJob:
    """An import that a process of the newer release has planned, scanned and queued."""
    path = tmp_path / "t.csv"
    path.write_text("n\n1\n2\n")
    with monkeypatch.context() as of_newer:
        of_newer.setattr(stored_plan, "FORMAT", NEWER)
        job = import_of(path, target_with(mariadb, "CREATE TABLE t (n INT)"))
        advance(job)
        take(Message("scan", job.pk))
        advance(job)
    # What this release does not know.
    plan = {**ImportJob.objects.get(pk=job.pk).plan_json, "method": "load_by_telepathy", "new_setting": [1]}
    ImportJob.objects.filter(pk=job.pk).update(plan_json=plan)
    return ImportJob.objects.get(pk=job.pk)


def state(job: ImportJob) -> list:
    job = ImportJob.objects.get(pk=job.pk)
    return [job.status, job.step, job.problem, *job.chunks.values_list("status", "attempt", "deaths", "problem")]


def queued_chunk(job: ImportJob) -> int:
    return job.chunks.get(status=Chunk.Status.QUEUED).pk


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    messages: list[Message] = []
    monkeypatch.setattr("importer.queue.send", messages.extend)
    return messages


def test_its_steps_and_chunks_are_not_taken(newer: ImportJob, redis, sent: list[Message]):
    before = state(newer)
    assert before[0] == ImportJob.Status.LOADING
    tasks.load_run(queued_chunk(newer))
    assert claim_run(queued_chunk(newer)) is None
    for task in ("scan", "verify", "arrange", "restore", "stage", "finish", "clean"):
        getattr(tasks, task)(newer.pk)
    assert lifecycle.advance(newer.pk) == []
    sweep_jobs(lambda job_id, _: lifecycle.advance(job_id))
    assert state(newer) == before
    assert sent == []


def test_a_dead_worker_of_the_newer_release_is_left_to_that_release(newer: ImportJob, redis):
    newer.chunks.update(status=Chunk.Status.LOADING, lease="2020-01-01T00:00Z", attempt=1)
    before = state(newer)
    sweep_jobs(lambda job_id, _: lifecycle.advance(job_id))
    assert state(newer) == before


def test_a_command_that_runs_it_here_says_so(newer: ImportJob):
    with pytest.raises(Problem, match="newer release has planned"):
        local_pool.run(newer.pk, 1, lambda _job: None)


def test_a_message_goes_to_a_worker_that_knows_the_plan(newer: ImportJob, redis, sent: list[Message]):
    presence.announce("load@old", 2, QUEUES, direct=True)
    chunk = queued_chunk(newer)
    assert releases.pass_on("load_run", chunk)
    assert sent == []
    presence.announce("load@new", 2, QUEUES, direct=True, plan_format=NEWER)
    assert releases.pass_on("load_run", chunk)
    assert sent == [Message("load_run", chunk, worker="load@new")]


def test_of_a_target_with_a_label_only_workers_with_it_get_the_message(newer: ImportJob, redis, sent: list[Message]):
    Target.objects.filter(pk=newer.target_id).update(label="far")
    presence.announce("load@near", 2, QUEUES, direct=True, plan_format=NEWER)
    assert releases.pass_on("verify", newer.pk)
    assert sent == []
    presence.announce("load@far", 2, ["load.far", "control.far"], direct=True, plan_format=NEWER, labels=["far"])
    assert releases.pass_on("verify", newer.pk)
    assert releases.pass_on("load_run", queued_chunk(newer))
    assert [message.worker for message in sent] == ["load@far", "load@far"]


def test_workers_of_the_newer_release_load_it(newer: ImportJob, mariadb: Address, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stored_plan, "FORMAT", NEWER)
    ImportJob.objects.filter(pk=newer.pk).update(plan_json={**newer.plan_json, "method": "load_data_local"})
    job = run(newer)
    assert (job.status, job.problem) == (ImportJob.Status.SUCCEEDED, {})
    assert rows_of(mariadb, "SELECT n FROM t ORDER BY n") == [(1,), (2,)]


def test_a_plan_from_before_there_was_a_number_is_known(newer: ImportJob):
    plan = {name: value for name, value in newer.plan_json.items() if name != "format"}
    assert not stored_plan.is_newer(plan)
    assert stored_plan.is_newer(newer.plan_json)


def test_its_page_is_shown_and_says_what_it_waits_for(newer: ImportJob, admin_client, redis):
    presence.announce("load@old", 2, QUEUES)
    assert admin_client.get(f"/jobs/{newer.pk}/").status_code == 200
    why = admin_client.get(f"/jobs/{newer.pk}/why/", headers={"HX-Request": "true"}).content.decode()
    assert "waits for workers of a newer release" in why
