"""Removes everything that a lab has made: scratch tables (by their records on the target), imports, the sample."""

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from importer.engine.load import ledger
from importer.engine.load.finish import READ_TIMEOUT
from importer.engine.mysql.connection import Connection, connect
from importer.engine.target import scratch_tables, staging, table_backup, write_modes
from importer.jobs.rejects import storage
from importer.lab.transitions import Status
from importer.models import ImportJob, Lab, SourceFile, Target, Trial


def untidy(lab: Lab) -> bool:
    """Whether a finished trial still has its import, which is deleted after the scratch tables."""
    return _over(lab).exists()


def tidy(lab: Lab, connection: Connection) -> None:
    """Drop all scratch tables of the lab, and delete the imports of its finished trials.

    No import of the lab may be running. May be repeated. Raises TargetProblem with the server's message.
    """
    scratch_tables.drop(connection, scratch_tables.list_records(connection, str(lab.key)))
    for job in _over(lab):
        ledger.delete_if_allowed(connection, str(job.key))
        _drop_staged(connection, job)
        storage.forget(job)
        job.delete()


def leave(lab: Lab, connection: Connection) -> None:
    """Drop and delete everything that the lab has made on the target; then also the table of such records, if empty."""
    tidy(lab, connection)
    scratch_tables.drop_empty_records(connection)


def _drop_staged(connection: Connection, job: ImportJob) -> None:
    """Drop the staging table, the table backup and the undone table of an experiment's import."""
    if not write_modes.stages(job.options.mode):
        return
    for name in staging.names_of_job(str(job.key)):
        table_backup.drop(connection, job.schema_name, name)


def _over(lab: Lab) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(trial__lab=lab).exclude(trial__status=Trial.Status.RUNNING)


def remove_sample(lab: Lab) -> None:
    """Delete the sample or the files of an experiment: on disk and in the database."""
    # Not only in LAB_DIR: an experiment copies a file to where the server reads it (bench/experiments/raw).
    SourceFile.objects.filter(path__contains=f"/{lab.key}.").delete()
    for path in settings.LAB_DIR.glob(f"{lab.key}.*"):
        _remove(path)


def remove_orphans() -> int:
    """Remove the samples of ended or deleted labs and of abandoned attempts. Returns their number."""
    removed = 0
    for path in settings.LAB_DIR.glob("*-*-*-*-*.*"):
        if not _needed(path):
            SourceFile.objects.filter(path=str(path)).delete()
            _remove(path)
            removed += 1
    return removed


def _remove(path: Path) -> None:
    """Remove a file, the folder of an experiment's private server, or a link with the folder that it leads to."""
    if path.is_symlink():
        shutil.rmtree(path.resolve(), ignore_errors=True)
        path.unlink(missing_ok=True)
    elif path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _needed(path: Path) -> bool:
    key, attempt, *_part = path.name.split(".")
    try:
        lab = Lab.objects.select_related("sample").exclude(status__in=Lab.ENDED).get(key=uuid.UUID(key))
    except (ValueError, Lab.DoesNotExist):
        return False
    if lab.sample:
        return lab.sample.path == str(path)
    if lab.experiment:
        return str(lab.attempt) == attempt
    return lab.status == Status.PREPARING and str(lab.attempt) == attempt


def sweep_target(target: Target) -> Iterator[str]:
    """Drop the scratch tables of labs that have ended or are unknown here. Yields a sentence about each table.

    Raises Problem if the target does not answer or refuses.
    """
    with connect(target.address, READ_TIMEOUT) as connection:
        for left in scratch_tables.list_records(connection):
            lab = Lab.objects.filter(key=left.lab).exclude(status__in=Lab.ENDED).first()
            if lab:
                yield f"{left.schema}.{left.name}: lab {lab.pk} has not ended, and drops it itself."
                continue
            scratch_tables.drop(connection, [left])
            yield f"{left.schema}.{left.name}, made like {left.made_like}: dropped."
        scratch_tables.drop_empty_records(connection)
