"""The attempts of a job in its report: each keeps its times, outcome, problem and chunks when the job is retried."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, models

from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs import report as job_report
from importer.jobs.actions import commands
from importer.jobs.transitions import claim_of
from importer.models import Chunk, ImportJob, Target
from importer.models.job.lifetimes import LoadedRows, PresentAttempt, PresentLoad, WorkingCopy, first_values
from importer.models.outcomes.attempts import speed_of
from tests.documents import read
from tests.importer.steps import import_of, run, take
from tests.targets import on_one_server

pytestmark = [pytest.mark.usefixtures("no_workers"), on_one_server]
Status = ImportJob.Status
ROWS = 3000
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FORGOTTEN = (PresentAttempt, PresentLoad, LoadedRows, WorkingCopy)
# Those that decide whether and how a job can be retried, and those that a retry gives another value at once.
LEFT_ALONE = {"problem", "step", "changes", "staging", "phase_since", "plan_json", "key"}
TABLES = ("CREATE TABLE t (n INT, word VARCHAR(20))",)


def created(target: Target, folder: Path, mode: str, **chosen: str) -> ImportJob:
    """An import of which one row is too long for the table."""
    path = folder / "words.csv"
    words = [f"word {n}" for n in range(ROWS)]
    words[2000] = "a word that is much too long"
    path.write_text("n,word\n" + "".join(f"{n},{word}\n" for n, word in enumerate(words)))
    options = Options(chunk_bytes=8000, parallelism=2, mode=mode, **chosen)
    return import_of(path, target, options=options)


def reported(job: ImportJob) -> dict[str, Any]:
    report = job_report.report(ImportJob.objects.get(pk=job.pk))
    read(json.dumps(report))
    return report


def moments(attempt: dict[str, Any]) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(attempt["started"]), datetime.fromisoformat(attempt["ended"])


@pytest.mark.parametrize("mode", ["append", "atomic"])
def test_a_retry_keeps_the_earlier_tries(target: Target, tmp_path: Path, mode: str):
    job = run(created(target, tmp_path, mode))
    [only] = reported(job)["attempts"]
    failed = job.chunks.filter(status=Chunk.Status.LOADED).count()
    assert (only["number"], only["outcome"], only["problem"]["code"]) == (1, "failed", 1300)
    assert (only["chunks"]["failed"], only["chunks"]["loaded"]) == (1, failed)
    commands.retry(job.pk)
    again = run(job)
    [first, second] = reported(again)["attempts"]
    assert first == only
    assert (second["number"], second["outcome"]) == (2, "failed")
    with connect(target.address) as session:
        execute(session, "ALTER TABLE t MODIFY word VARCHAR(40)")
    commands.retry(job.pk)
    job = run(again)
    report = reported(job)
    [_, _, third] = report["attempts"]
    assert (report["outcome"], report["problem"]) == ("succeeded", None)
    assert report["attempts"][:2] == [first, second]
    assert (third["number"], third["outcome"], third["problem"]) == (3, "succeeded", None)
    times = [moment for each in report["attempts"] for moment in moments(each)]
    assert times == sorted(times)
    loaded = [each["chunks"]["loaded"] for each in report["attempts"]]
    # A mode that stages begins again with each try.
    assert (loaded[2] if mode == "atomic" else sum(loaded)) == job.chunks.count()
    assert third["chunks"]["failed"] == 0


def test_a_retry_forgets_the_end_of_the_last_load(target: Target, tmp_path: Path):
    job = run(created(target, tmp_path, "append"))
    ImportJob.objects.filter(pk=job.pk).update(loaded_at=job.finished_at)
    commands.retry(job.pk)
    assert reported(job)["seconds"]["load"] is None


@pytest.mark.parametrize(("seen", "then"), [("cancelling", {"status": "cancelled"}), ("failed", {"attempts": 2})])
def test_a_retry_is_refused_whose_import_changes_after_the_look_at_it(target: Target, tmp_path: Path, seen, then):
    """It would continue with the values of an earlier state."""
    job = run(created(target, tmp_path, "atomic"))
    ImportJob.objects.filter(pk=job.pk).update(status=seen)
    changes = [then]

    def change(execute, *query):
        result = execute(*query)
        if changes:
            ImportJob.objects.filter(pk=job.pk).update(**changes.pop())
        return result

    with connection.execute_wrapper(change), pytest.raises(Problem, match="has changed just now"):
        commands.retry(job.pk)
    after = ImportJob.objects.get(pk=job.pk)
    assert (after.status, after.attempts) == (then.get("status", seen), then.get("attempts", 1))


def test_rates_are_of_the_rows_in_the_table(target: Target, tmp_path: Path):
    """Not of the row that was rejected."""
    job = run(created(target, tmp_path, "append", on_error="reject"))
    speed = speed_of(job)
    assert (job.status, job.rejected_rows, speed.rows) == (Status.SUCCEEDED, 1, ROWS - 1)
    assert job.rows_per_second == speed.rows_per_second == (ROWS - 1) / speed.seconds.loading


def test_a_job_under_way_has_no_outcome(target: Target, tmp_path: Path):
    job = created(target, tmp_path, "append")
    assert reported(job)["attempts"] == [
        {
            "number": 1,
            "started": None,
            "ended": None,
            "outcome": None,
            "method": "load_data_local",
            "problem": None,
            "chunks": {"loaded": 0, "failed": 0},
            "rows": 0,
            "seconds": {
                "waiting": pytest.approx(0, abs=60),
                "loading": 0,
                "paused": 0,
                "indexing": 0,
                "verifying": 0,
            },
        }
    ]
    lifecycle.advance(job.pk)
    [only] = reported(job)["attempts"]
    assert (only["started"] is None, only["ended"], only["outcome"]) == (False, None, None)


def test_the_wait_ends_when_a_worker_takes_the_job(target: Target, tmp_path: Path):
    job = created(target, tmp_path, "append")
    [scan] = lifecycle.advance(job.pk)
    assert reported(job)["seconds"]["wait"] is None
    take(scan)
    waited = reported(job)["seconds"]["wait"]
    assert waited is not None
    # Further steps of other workers change nothing.
    run(job)
    assert reported(job)["seconds"]["wait"] == waited


def test_a_job_of_an_older_version_has_its_last_try_only(target: Target, tmp_path: Path):
    job = run(created(target, tmp_path, "append"))
    ImportJob.objects.filter(pk=job.pk).update(attempts=3, attempt_started_at=None, taken_at=None)
    report = reported(job)
    [only] = report["attempts"]
    assert (only["number"], only["started"], only["outcome"]) == (3, None, "failed")
    assert report["seconds"]["wait"] is None


def other_value(field: models.Field) -> object:
    """A value that the field does not begin with."""
    if isinstance(field, models.BooleanField | models.JSONField):
        return {"False": True, "{}": {"other": 1}, "None": {"other": 1}, "[]": ["other"]}[str(field.get_default())]
    if isinstance(field, models.ForeignKey):
        return User.objects.get_or_create(username="other")[0].pk
    return LONG_AGO if isinstance(field, models.DateTimeField) else "7"


def failed_job(target: Target, folder: Path, mode: str, **values: object) -> ImportJob:
    """A failed import of which no field has the value that it began with."""
    job = run(created(target, folder, mode))
    fields = [field for each in FORGOTTEN for field in each._meta.local_fields if field.name not in LEFT_ALONE]
    others = {field.name: other_value(field) for field in fields}
    ImportJob.objects.filter(pk=job.pk).update(**others, **values)
    return ImportJob.objects.get(pk=job.pk)


def forgotten(job: ImportJob) -> list[type[models.Model]]:
    """The lifetimes whose fields have the values that they began with; it is all of them or none."""
    found = []
    for lifetime in FORGOTTEN:
        first = {name: value for name, value in first_values(lifetime).items() if name not in LEFT_ALONE}
        same = {getattr(job, name) == value for name, value in first.items()}
        assert len(same) == 1, lifetime
        found += [lifetime] if same == {True} else []
    return found


@pytest.mark.parametrize(
    ("mode", "values", "expected"),
    [
        ("append", {}, [PresentAttempt, PresentLoad]),
        ("atomic", {}, [PresentAttempt, PresentLoad, LoadedRows]),
        ("atomic", {"packing": "gzip"}, [PresentAttempt, PresentLoad, LoadedRows, WorkingCopy]),
        ("atomic", {"packing": "gzip", "staging": "done"}, [PresentAttempt]),
    ],
)
def test_a_retry_forgets_what_did_not_stay(target: Target, tmp_path: Path, mode, values, expected):
    before = failed_job(target, tmp_path, mode, **values)
    assert forgotten(before) == []
    # So that the retry waits for the table.
    other = created(target, tmp_path, mode)
    ImportJob.objects.filter(pk=other.pk).update(table_claim=claim_of(before))
    commands.retry(before.pk)
    after = ImportJob.objects.get(pk=before.pk)
    assert forgotten(after) == expected
    assert (after.key != before.key) == (LoadedRows in expected)
    assert (after.attempts, after.step_attempt, after.started_at) == (2, before.step_attempt, before.started_at)
