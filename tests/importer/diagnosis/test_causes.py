"""What the application makes an import wait for: the cause that is named, and nothing for one that continues."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from config.version import VERSION
from importer.diagnosis.facts import facts_of
from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.causes.application import OF_LOW_PRIORITY
from importer.engine.mysql.diagnosis.diagnose import diagnose
from importer.engine.plan import stored_plan
from importer.lease import lease_end
from importer.models import Chunk, ImportJob, SourceFile, Target
from importer.worker.hosts import presence
from tests.dashboard.job_data import Status, make_job

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]
QUEUES = ("load", "control", "scan")


def explained(job: ImportJob) -> list[Explanation]:
    job = ImportJob.objects.select_related("target", "source").get(pk=job.pk)
    return diagnose(Evidence(facts_of(job)))


def causes(job: ImportJob) -> list[str]:
    return [each.cause for each in explained(job)]


def loading(job: ImportJob, runs: int) -> None:
    """The chunks in flight belong to this many runs; the rest of them is released."""
    in_flight = list(job.chunks.filter(status=Chunk.Status.LOADING))
    for chunk in in_flight[:runs]:
        Chunk.objects.filter(pk=chunk.pk).update(run=uuid4())
    job.chunks.filter(pk__in=[each.pk for each in in_flight[runs:]]).update(status=Chunk.Status.PENDING)


def queued(job: ImportJob, seconds: float) -> None:
    """A chunk of the import has waited for a worker for so long; none is loading."""
    job.chunks.filter(status=Chunk.Status.LOADING).update(status=Chunk.Status.PENDING)
    lease = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS - seconds)
    chunk = job.chunks.filter(status=Chunk.Status.PENDING).first()
    Chunk.objects.filter(pk=chunk.pk).update(status=Chunk.Status.QUEUED, lease=lease, run=uuid4())


@pytest.fixture
def two_places(redis):
    presence.announce("load@here", 2, QUEUES)


def test_an_import_that_goes_on_has_no_cause(two_places):
    job = make_job(parallelism=2)
    loading(job, 2)
    assert causes(job) == []


@pytest.mark.parametrize(("status", "cause"), [(Status.PAUSED, "paused"), (Status.UNAPPROVED, "approval")])
def test_people_keep_it_waiting(status: str, cause: str):
    assert causes(make_job(status)) == [cause]


def test_another_import_has_the_table():
    job = make_job(Status.WAITING)
    owner = make_job(table_claim=f"{job.target_id}:osm.nodes")
    (first,) = explained(job)
    assert first.cause == "other_import"
    assert first.what == f"Import {owner.pk} has the table osm.nodes: one import loads into a table at a time."


def test_no_worker_runs():
    job = make_job()
    queued(job, 3)
    assert causes(job) == ["no_worker"]


@pytest.mark.parametrize("status", [Status.WAITING, Status.LOADING])
def test_the_process_that_loaded_it_is_gone(status: str, redis):
    past = timezone.now() - timedelta(hours=1)
    job = make_job(status, phase_since=past, worked_at=past)
    ImportJob.objects.filter(pk=job.pk).update(created_at=past, step="", step_lease=None)
    job.chunks.filter(status=Chunk.Status.LOADING).update(lease=lease_end())
    if status == Status.LOADING:
        assert "no_process" not in causes(job), "its chunks are being loaded"
    job.chunks.filter(status=Chunk.Status.LOADING).update(lease=past)
    (found,) = [each for each in explained(job) if each.cause == "no_process"]
    last = f"The last sign of life is of {past:%Y-%m-%d %H:%M:%S} UTC."
    assert found.evidence == f"{last} Its records may be behind its table."
    assert found.advice == f"This command continues it: millrace job run {job.pk}"
    presence.announce("load@here", 2, QUEUES)
    assert "no_process" not in causes(job), "the workers continue it"


@pytest.mark.parametrize("ahead", [timedelta(minutes=10), timedelta(days=1)])
def test_the_clock_was_set_back(ahead: timedelta, redis):
    """Its process is gone as well, and no sign of it is before the present time."""
    later = timezone.now() + ahead
    job = make_job(phase_since=later, worked_at=later)
    ImportJob.objects.filter(pk=job.pk).update(created_at=later, step="", step_lease=None)
    job.chunks.update(lease=later)
    found = {each.cause: each for each in explained(job)}
    assert {"clock", "no_process"} <= found.keys()
    assert "s ahead of this host's clock" in found["clock"].evidence


def test_only_workers_of_an_older_release_run(two_places):
    job = make_job()
    queued(job, 3)
    job.plan_json["format"] = stored_plan.FORMAT + 1
    job.save()
    (first, *_) = explained(job)
    assert first.cause == "newer_release"
    assert first.evidence.endswith(f"to older workers: load@here ({VERSION}).")
    presence.announce("load@far", 2, QUEUES, plan_format=stored_plan.FORMAT + 1, labels=["far"])
    assert "newer_release" in causes(job), "that worker works for other targets"
    presence.announce("load@new", 2, QUEUES, plan_format=stored_plan.FORMAT + 1)
    assert "newer_release" not in causes(job)


@pytest.mark.parametrize("by_url", [True, False])
def test_only_a_command_has_the_password_of_the_server(two_places, by_url):
    job = make_job()
    Target.objects.update(password_ciphertext="", password_unstored=True, by_url=by_url)
    assert "left_to_command" not in causes(job), "the command loads"
    loading(job, 0)
    (first,) = explained(job)
    assert first.cause == "left_to_command"
    assert f"millrace job run {job.pk}" in first.advice
    assert ("Or store it on the page of target" in first.advice) is not by_url


def test_a_worker_of_another_kind_is_no_help():
    presence.announce("control@here", 2, ("control", "scan"))
    job = make_job()
    queued(job, 3)
    assert causes(job) == ["no_worker"]


def test_no_worker_has_the_label_of_the_target(two_places):
    job = make_job()
    job.target.label = "eu-west"
    job.target.save()
    queued(job, 3)
    (first,) = explained(job)
    assert first.cause == "no_worker"
    assert "No worker with the label eu-west" in first.what
    assert "LOADS=eu-west" in first.advice
    presence.announce("load@there", 2, ["load.eu-west"], labels=["eu-west"])
    assert "no_worker" not in causes(job)


def test_all_workers_are_busy_with_another_import(two_places):
    job, other = make_job(), make_job(table="ways", parallelism=2)
    loading(other, 2)
    queued(job, 3)
    (first,) = explained(job)
    assert first.cause == "workers_busy"
    assert "They load 2 chunks in parallel, which is all they can" in first.evidence
    assert "within about a minute" in first.advice
    ImportJob.objects.filter(pk=job.pk).update(options_json={"priority": "low"})
    (first,) = explained(job)
    assert first.advice == OF_LOW_PRIORITY


def test_work_that_was_queued_just_now_is_no_cause(two_places):
    job, other = make_job(), make_job(table="ways", parallelism=2)
    loading(other, 2)
    queued(job, 0.5)
    assert causes(job) == []


def test_the_target_takes_no_more_parallel_chunks(two_places):
    job, other = make_job(parallelism=2), make_job(table="ways", parallelism=1)
    job.target.ceiling = 2
    job.target.save()
    loading(job, 1)
    loading(other, 1)
    (first,) = explained(job)
    assert (first.cause, first.waits) == ("ceiling", False)
    assert "2 load into it now, 1 of them by other imports; this import asks for 2 and has 1." in first.evidence


def test_the_workers_have_fewer_places_than_it_asks_for(two_places):
    job = make_job(parallelism=4)
    loading(job, 2)
    (first,) = explained(job)
    assert (first.cause, first.waits) == ("few_workers", False)
    assert "at most 2 chunks in parallel; the import asks for 4" in first.what


def test_it_has_loaded_all_that_has_arrived():
    job = make_job(chunks=4, loaded=4, scan_finished=False)
    SourceFile.objects.filter(pk=job.source_id).update(
        status=SourceFile.Status.UPLOADING, received=job.source.size // 2
    )
    assert causes(job) == ["upload"]


def test_the_disk_of_the_workers_is_full(two_places, settings):
    job = make_job(parallelism=2)
    loading(job, 2)
    settings.KEEP_FREE_BYTES = 2**62
    assert causes(job) == ["full_disk"]
