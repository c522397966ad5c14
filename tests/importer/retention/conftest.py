"""Folders of their own, so that a test finds only its own files; and files and imports of a given age."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from importer.jobs.record import write_record
from importer.models import Chunk, ImportJob, SourceFile
from tests.dashboard.job_data import make_job

NOW = timezone.now()


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> Path:
    settings.UPLOAD_DIR, settings.REJECTS_DIR = tmp_path / "uploads", tmp_path / "rejects"
    for folder in (settings.UPLOAD_DIR, settings.REJECTS_DIR):
        folder.mkdir()
    return tmp_path


@pytest.fixture
def upload(settings) -> Callable[..., SourceFile]:
    """Makes an upload of 3 bytes that was last used some days ago."""

    def make(age: float, **values) -> SourceFile:
        status = values.pop("status", SourceFile.Status.READY)
        source = SourceFile.objects.create(name="a.csv", path="", size=3, received=3, status=status, **values)
        path = settings.UPLOAD_DIR / str(source.key)
        path.write_bytes(b"a\n1")
        SourceFile.objects.filter(pk=source.pk).update(path=str(path), touched_at=days_ago(age))
        source.refresh_from_db()
        return source

    return make


@pytest.fixture
def ended(upload, settings) -> Callable[..., ImportJob]:
    """Makes an import of an upload that ended some days ago, with its record."""

    def make(age: float, status: str = ImportJob.Status.SUCCEEDED, **values) -> ImportJob:
        source = values.pop("source", None) or upload(age)
        job = make_job(status, chunks=values.pop("chunks", 8), **values)
        made_up = job.source
        times = {name: moment and moment - timedelta(days=age) for name, moment in _moments(job).items()}
        ImportJob.objects.filter(pk=job.pk).update(source=source, **times)
        made_up.delete()
        _make_older(job, age)
        if job.ended:
            write_record(job.pk)
        return ImportJob.objects.get(pk=job.pk)

    return make


def _make_older(job: ImportJob, age: float) -> None:
    chunks = list(job.chunks.exclude(started_at=None))
    for each in chunks:
        each.started_at -= timedelta(days=age)
        each.finished_at = each.finished_at and each.finished_at - timedelta(days=age)
    Chunk.objects.bulk_update(chunks, ["started_at", "finished_at"])


def _moments(job: ImportJob) -> dict[str, datetime | None]:
    return {name: getattr(job, name) for name in ("created_at", "started_at", "scanned_at", "loaded_at", "finished_at")}
