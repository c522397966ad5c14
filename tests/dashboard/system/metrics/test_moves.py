"""Each metric moves when what it counts happens, on a real server and by real steps; and no deletion lowers a total."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client, override_settings
from django.utils import timezone

from dashboard.system.metrics.declared import METRICS
from dashboard.system.metrics.metric import Type
from importer import queue
from importer.engine.errors import Problem
from importer.engine.load.outcome import Outcome, Tally
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.history import totals
from importer.jobs import lifecycle, transitions
from importer.jobs.actions import commands
from importer.jobs.steps.chunk_leases import claim_run, record_failed
from importer.jobs.steps.lease_recovery import expired_runs
from importer.models import Channel, ImportJob, JobRecord, Notification, SourceFile, Target
from importer.sources import room
from importer.worker import sweep
from importer.worker.hosts import presence
from tests.dashboard.job_data import make_job
from tests.dashboard.system.metrics.scrapes import Samples, figure, moved, scraped
from tests.importer.steps import import_of, run, take
from tests.targets import target_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_workers")]

ROWS = [1, 2, 300, 4]
TOTALS = {each.name for each in METRICS if each.type is Type.COUNTER}


@pytest.fixture(autouse=True)
def _here(settings) -> None:
    settings.METRICS_FROM = ["127.0.0.1/32"]


@pytest.fixture
def target(mariadb: Address, transactional_db) -> Target:
    return target_with(mariadb, "CREATE TABLE t (n TINYINT UNSIGNED)", name="warehouse")


class Change:
    """The scrapes before and after something happened."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.before = scraped(client)
        self.after: Samples = {}

    def seen(self) -> set[str]:
        """Scrape again: the names of the metrics that have moved since the first one."""
        self.after = scraped(self._client)
        return moved(self.before, self.after)

    def by(self, name: str, **labels: str) -> float:
        """By how much a series has moved."""
        return figure(self.after, name, **labels) - figure(self.before, name, **labels)


@pytest.fixture
def change(client: Client, target: Target, redis) -> Iterator[Change]:
    return Change(client)


def created(target: Target, path: Path, rows: list[int] = ROWS, **options) -> ImportJob:
    path.write_text("n\n" + "".join(f"{n}\n" for n in rows))
    return import_of(path, target, options=Options(**options))


def test_an_import(change: Change, target: Target, tmp_path: Path):
    path = tmp_path / "t.csv"
    job = run(created(target, path, on_error="reject"))
    assert job.status == ImportJob.Status.SUCCEEDED
    names = change.seen()
    assert {"millrace_rows_total", "millrace_bytes_total", "millrace_chunks_total"} <= names
    assert change.by("millrace_rows_total", target="warehouse", outcome="loaded") == 3
    assert change.by("millrace_rows_total", target="warehouse", outcome="rejected") == 1
    assert change.by("millrace_bytes_total", target="warehouse") == path.stat().st_size - len("n\n")
    assert change.by("millrace_chunks_total", target="warehouse") == 1
    assert change.by("millrace_chunk_seconds_total", phase="load") > 0
    assert change.by("millrace_imports_ended_total", target="warehouse", outcome="completed with rejects") == 1
    assert change.by("millrace_imports", state="succeeded") == 1


def test_a_deletion_lowers_no_total(change: Change, target: Target, tmp_path: Path):
    run(created(target, tmp_path / "t.csv", on_error="reject"))
    change.seen()
    ImportJob.objects.all().delete()
    JobRecord.objects.all().delete()
    later = scraped(change._client)
    assert {each: later[each] for each in later if each[0] in TOTALS} == {
        each: change.after[each] for each in change.after if each[0] in TOTALS
    }


def test_a_retry_of_an_import(change: Change, target: Target, tmp_path: Path):
    job = run(created(target, tmp_path / "t.csv"))
    assert job.status == ImportJob.Status.FAILED
    commands.retry(job.pk)
    run(job)
    change.seen()
    assert change.by("millrace_retries_total", what="import") == 1
    assert change.by("millrace_imports_ended_total", target="warehouse", outcome="failed") == 2


def test_an_import_that_waits_its_chunks_and_its_dead_workers(change: Change, target: Target, tmp_path: Path, settings):
    job = created(target, tmp_path / "t.csv", on_error="reject")
    [scan] = lifecycle.advance(job.pk)
    ImportJob.objects.filter(pk=job.pk).update(attempt_started_at=timezone.now() - timedelta(minutes=5))
    change.seen()
    assert 300 <= change.by("millrace_queue_age_seconds") < 400
    files = SourceFile.objects.filter(pk=job.source_id)
    files.update(status=SourceFile.Status.UPLOADING, received=F("size") - 1)
    ImportJob.objects.filter(pk=job.pk).update(awaits_bytes=job.source.size)
    change.seen()
    assert change.by("millrace_queue_age_seconds") == 0, "it waits for its bytes, not for a worker"
    files.update(status=SourceFile.Status.READY, received=F("size"))
    settings.LEASE_SECONDS = 0  # A worker takes the step, and is silent from the first moment.
    assert transitions.claim_step(job.pk, "scan")
    settings.LEASE_SECONDS = 60
    assert lifecycle.advance(job.pk) == [scan]
    take(scan)
    [first] = lifecycle.advance(job.pk)
    change.seen()
    assert change.by("millrace_lease_expiries_total", what="step") == 1
    assert change.by("millrace_queue_age_seconds") == 0
    assert change.by("millrace_chunks_in_flight", state="queued") == 1
    settings.LEASE_SECONDS = 0
    assert claim_run(first.id)
    sweep.expire_runs(expired_runs())
    change.seen()
    assert change.by("millrace_lease_expiries_total", what="chunk") == 1
    assert change.by("millrace_chunks_in_flight", state="queued") == 0


def test_retries_of_a_chunk_and_of_a_step(change: Change, target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", on_error="reject")
    [scan] = lifecycle.advance(job.pk)
    claimed = transitions.claim_step(job.pk, "scan")
    assert claimed
    transitions.backoff(claimed)
    ImportJob.objects.filter(pk=job.pk).update(step_lease=timezone.now() + timedelta(minutes=1))
    take(scan)
    [first] = lifecycle.advance(job.pk)
    chunks = claim_run(first.id)
    assert chunks
    record_failed(chunks, chunks.chunks[0], Problem("The connection was lost.", retryable=True))
    change.seen()
    assert change.by("millrace_retries_total", what="step") == 1
    assert change.by("millrace_retries_total", what="chunk") == 1


def test_workers_and_queues(change: Change, redis):
    presence.announce("load@a", 4, ["load"])
    presence.announce("load@b", 2, ["load"], busy=2, version="0.2.0")
    redis.rpush("load", "a message")
    change.seen()
    assert change.by("millrace_workers", role="load") == 2
    assert change.by("millrace_worker_slots", role="load") == 6
    assert change.by("millrace_worker_tasks", role="load") == 2
    assert change.by("millrace_worker_versions", version="0.2.0") == 1
    assert change.by("millrace_queue_messages", queue="load") == 1


def test_without_redis(change: Change):
    with override_settings(REDIS_URL="unix:///nowhere/redis.sock?db=0"):
        queue.connection.cache_clear()
        names = change.seen()
    queue.connection.cache_clear()
    assert change.by("millrace_redis_up") == -1
    # Others write to the disk.
    assert names - {"millrace_disk_free_bytes"} == {"millrace_redis_up", "millrace_queue_messages"}


def test_the_store(change: Change, settings, closed_port: int):
    settings.FILE_STORE, settings.FILE_STORE_REGION = "s3://files/x", "x"
    settings.FILE_STORE_ENDPOINT = f"http://127.0.0.1:{closed_port}"
    settings.FILE_STORE_ACCESS_KEY = settings.FILE_STORE_SECRET_KEY = "x"
    source = make_job().source
    SourceFile.objects.filter(pk=source.pk).update(path="s3://files/x/uploads/a", store_etag='"1"', size=7)
    change.seen()
    assert not [each for each in change.before if each[0].startswith("millrace_store")]
    assert change.after["millrace_store_up", frozenset()] == 0
    assert change.after["millrace_store_bytes", frozenset()] == 7


def test_the_chunks_of_a_lab_are_no_rows_of_an_import(change: Change):
    loaded = [(Outcome(3, False, {"load": 0.5}, Tally(loaded=3)), 12)]
    job = make_job()
    totals.count_loaded(job, loaded)
    assert {"millrace_rows_total", "millrace_bytes_total", "millrace_chunk_seconds_total"} <= change.seen()
    job.trial_id = 1
    totals.count_loaded(job, loaded)
    assert change.by("millrace_rows_total", target="warehouse", outcome="loaded") == 3
    change.seen()
    assert change.by("millrace_rows_total", target="warehouse", outcome="loaded") == 3


def test_the_outbox(change: Change):
    channel = Channel.objects.create(name="ops", kind="mail", addresses="ops@example.org")
    values = {
        "channel": channel,
        "job": make_job(chunks=1),
        "event": "failed",
        "payload": {},
        "next_at": timezone.now(),
    }
    Notification.objects.create(once="1", **values)
    Notification.objects.create(once="2", status=Notification.Status.GIVEN_UP, **values)
    Notification.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    change.seen()
    assert change.by("millrace_outbox_messages", state="waiting") == 1
    assert change.by("millrace_outbox_messages", state="given up") == 1
    assert 300 <= change.by("millrace_outbox_lag_seconds") < 400


def test_the_disks(change: Change, settings):
    settings.KEEP_FREE_BYTES += 1
    settings.UPLOAD_DIR = Path("/proc/not-yet")  # A file system without one free byte (proc(5)).
    change.seen()
    assert change.by("millrace_disk_kept_free_bytes", folder="VAR_DIR") == 1
    assert figure(change.after, "millrace_disk_free_bytes", folder="UPLOAD_DIR") == 0
    assert {dict(labels)["folder"] for name, labels in change.after if "disk_free" in name} == set(room.WRITTEN)
