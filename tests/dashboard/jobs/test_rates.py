"""A rate is rows by loading time: the hours until somebody presses Retry are in no rate and no time, in any place."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse

from dashboard.formatting import rate, size
from dashboard.jobs.cards.timeline import timeline
from dashboard.jobs.list.page import rows as listed
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs import report as job_report
from importer.jobs.actions import commands
from importer.jobs.approval import is_asked_for
from importer.jobs.steps.chunk_leases import claim_run
from importer.jobs.steps.lease_recovery import expired_runs
from importer.models import ImportJob, Target
from importer.models.channel import Event
from importer.models.outcomes.attempts import attempts_of, seconds_of
from importer.notifications.payload import payload_of
from importer.worker import sweep
from tests.documents import read
from tests.engine.loads import run_sql
from tests.importer.steps import advance, import_of, queued, run, take
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers")
ROWS = 3000
MOMENTS = (
    *("created_at", "taken_at", "worked_at", "started_at", "attempt_started_at", "scanned_at", "finished_at"),
    "phase_since",
)


@pytest.fixture
def target(database: Address, transactional_db) -> Target:
    run_sql(database, "CREATE TABLE t (n INT, word VARCHAR(20), KEY (n))")
    return saved_target(database, "t")


def failed(target: Target, folder: Path, mode: str) -> ImportJob:
    """An import that one of its rows has ended."""
    path = folder / "words.csv"
    words = [f"word {n}" for n in range(ROWS)]
    words[2000] = "a word that is much too long"
    path.write_text("n,word\n" + "".join(f"{n},{word}\n" for n, word in enumerate(words)))
    options = Options(chunk_bytes=8000, parallelism=2, mode=mode, indexes="defer")
    job = run(import_of(path, target, options=options))
    assert job.status == ImportJob.Status.FAILED
    return job


def hours_later(job: ImportJob) -> None:
    """Move everything that has happened five hours into the past."""
    ImportJob.objects.filter(pk=job.pk).update(**{name: F(name) - timedelta(hours=5) for name in MOMENTS})
    job.chunks.update(lease=F("lease") - timedelta(hours=5))


def history(job: ImportJob, *columns: str) -> dict[str, float]:
    """Facts of the job, as the command prints them."""
    out = StringIO()
    call_command("history", "--json", "--where", "job", "=", str(job.pk), "--columns", *columns, stdout=out)
    (facts,) = read(out.getvalue())["jobs"]
    return {name: facts[name] for name in columns}


@pytest.mark.parametrize("mode", ["append", "atomic"])
def test_a_retry_hours_later_has_the_rate_of_its_attempts_everywhere(
    target: Target, tmp_path: Path, browser: Client, mode: str
):
    job = failed(target, tmp_path, mode)
    hours_later(job)
    run_sql(target.address, "ALTER TABLE t MODIFY word VARCHAR(40)")
    commands.retry(job.pk)
    job = run(ImportJob.objects.get(pk=job.pk))
    first, second = attempts_of(job)
    together = seconds_of(job)
    assert together == first.seconds + second.seconds
    assert 0 < first.seconds.loading < together.loading < together.working < 3600
    assert (first.rows + second.rows, second.outcome) == (ROWS, "succeeded")
    rows_per_second = round(ROWS / together.loading, 1)

    report = job_report.report(job)
    assert report["rates"]["rows_per_second"] == pytest.approx(rows_per_second, abs=0.11)
    assert report["rates"]["overall_rows_per_second"] == pytest.approx(ROWS / together.working, abs=0.11)
    assert report["seconds"]["load"] == round(together.loading, 3)
    assert report["seconds"]["total"] == round(together.working, 3)
    assert report["seconds"]["scan"] < 3600
    assert [each["seconds"]["loading"] for each in report["attempts"]] == [
        first.seconds.loading,
        second.seconds.loading,
    ]

    columns = ("rows_per_second", "load_seconds", "total_seconds", "scan_seconds", "verify_seconds")
    facts = history(job, *columns)
    assert facts["rows_per_second"] == report["rates"]["rows_per_second"]
    assert [facts[f"{name}_seconds"] for name in ("load", "total", "scan", "verify")] == [
        report["seconds"][name] for name in ("load", "total", "scan", "verify")
    ]
    (row,) = listed([job.pk])
    assert (row["rate"], row["seconds"]) == (job.rows_per_second, report["seconds"]["total"])
    assert payload_of(Event.RECOVERED, "", job, None, None)["job"]["rows_per_second"] == facts["rows_per_second"]
    said = history(job, "file_bytes", "rows_per_second", "parallelism", "rows")
    for page in (reverse("jobs"), reverse("job", args=[job.pk])):
        text = browser.get(page).text
        for shown in (rate(said["rows_per_second"]), size(said["file_bytes"]), f"{said['rows']:,}"):
            assert shown in text
    assert row["parallelism"] == said["parallelism"] == report["plan"]["parallel_chunks"]


def admitted(target: Target, folder: Path) -> ImportJob:
    """An import that has its table, and that no worker has taken."""
    path = folder / "numbers.csv"
    path.write_text("n,word\n" + "1,a\n" * ROWS)
    job = import_of(path, target, options=Options())
    lifecycle.advance(job.pk)
    return job


def between_two_chunks(target: Target, folder: Path) -> ImportJob:
    """An import whose next chunk no worker takes, as one of low priority while others load."""
    job = admitted(target, folder)
    (scan,) = queued(job)
    take(scan)
    advance(job)
    return job


def with_a_dead_worker(target: Target, folder: Path) -> ImportJob:
    job = between_two_chunks(target, folder)
    assert claim_run(job.chunks.get().pk)
    return job


def approved(target: Target, folder: Path) -> ImportJob:
    """An import that was scanned, and may load from now on."""
    Target.objects.update(needs_approval=True)
    job = run(admitted(target, folder))
    assert is_asked_for(job)
    Target.objects.update(needs_approval=False)
    advance(job)
    return job


def retried(target: Target, folder: Path) -> ImportJob:
    job = failed(target, folder, "append")
    run_sql(target.address, "ALTER TABLE t MODIFY word VARCHAR(40)")
    commands.retry(job.pk)
    return job


@pytest.mark.parametrize("begun", [admitted, between_two_chunks, with_a_dead_worker, approved, retried])
def test_a_wait_for_a_worker_is_no_loading_time(target: Target, tmp_path: Path, begun):
    job = begun(target, tmp_path)
    hours_later(job)
    so_far = seconds_of(ImportJob.objects.get(pk=job.pk))
    assert (round(so_far.waiting / 3600), so_far.working < 3600) == (5, True)
    sweep.expire_runs(expired_runs(job))
    job = run(ImportJob.objects.get(pk=job.pk))
    assert job.status == ImportJob.Status.SUCCEEDED
    seconds = seconds_of(job)
    assert (round(seconds.waiting / 3600), 0 < seconds.loading < 3600) == (5, True)
    assert job.rows_per_second == pytest.approx(ROWS / seconds.loading)
    facts = history(job, "waiting_seconds", "load_seconds")
    assert facts == {"waiting_seconds": round(seconds.waiting, 3), "load_seconds": round(seconds.loading, 3)}
    (*_, last) = timeline(job, job.finished_at)
    load = next(each for each in last.phases if each.kind == "load")
    assert load.seconds - load.waited < 3600


def test_a_pause_is_no_loading_time(target: Target, tmp_path: Path):
    job = admitted(target, tmp_path)
    commands.pause(job.pk)
    hours_later(job)
    commands.resume(job.pk)
    job = run(ImportJob.objects.get(pk=job.pk))
    seconds = seconds_of(job)
    assert (round(seconds.paused / 3600), seconds.working < 3600) == (5, True)
    assert job.rows_per_second == pytest.approx(ROWS / seconds.loading)
