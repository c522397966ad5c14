"""The table backup of mode replace: restores it under its old name, or drops it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from importer.access import audit
from importer.engine import failpoints
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Connection, connect
from importer.engine.target import staging, table_backup
from importer.jobs.record import record_backup_restored
from importer.jobs.same_table import at_work_since, others_of_table
from importer.jobs.transitions import STEP, JobStep, claim_of, held_step, no_step, step_is_free
from importer.models import ImportJob, Schedule


def record_backup(job: ImportJob) -> None:
    """Read from the target which of the job's tables exist, and record name, rows and bytes of the backup."""
    key, schema = str(job.key), job.schema_name
    undone = staging.undone_name(key)
    with connect(job.target.address) as connection:
        sizes = {name: table_backup.size(connection, schema, name) for name in (undone, staging.backup_name(key))}
    name, size = next(((name, size) for name, size in sizes.items() if size), ("", (None, None)))
    ImportJob.objects.filter(pk=job.pk).update(
        kept_table=name,
        kept_rows=size[0],
        kept_bytes=size[1],
        restored_at=(job.restored_at or timezone.now()) if name == undone else job.restored_at,
        version=F("version") + 1,
    )
    if name == undone:
        # The pages of the schedules whose runs it belongs to say so, and the history.
        Schedule.objects.filter(pk__in=job.picked.values("schedule")).update(version=F("version") + 1)
        record_backup_restored(job.pk)


def why_backup_stays(job: ImportJob) -> str:
    """Why the old table cannot be restored; "" if it can."""
    if job.restored_at:
        return "The old table was restored already."
    if not job.kept_table:
        return "No old table is kept." if job.options.mode == "replace" else "This import has replaced no table."
    if not job.ended:
        return "The import has not ended."
    since = at_work_since(job, job.loaded_at) if job.loaded_at else others_of_table(job)
    later = (since | others_of_table(job).filter(table_claim__isnull=False)).order_by("pk").last()
    return f"Import {later.pk} has worked on the table since; its rows would be put aside as well." if later else ""


def imports_since_restore(job: ImportJob) -> list[int]:
    """The imports that have loaded rows into the table since the old one was put back, the first one first."""
    if not job.restored_at:
        return []
    since = at_work_since(job, job.restored_at).exclude(committed_bytes=0)
    return list(since.order_by("pk").values_list("pk", flat=True)[:3])


def restore_backup(job_id: int) -> None:
    """Give the old table its name back atomically; the job's table becomes the backup.

    Raises Problem if that is not possible, or if another job uses the table.
    """
    job = _hold(job_id, why_backup_stays, claim=True)
    failpoints.reach("backup.claimed")
    try:
        with _connected(job) as connection:
            failpoints.reach("backup.connected")
            table_backup.restore(connection, job.schema_name, str(job.key), job.table_name)
            failpoints.reach("backup.renamed")
    finally:
        release_backup(job)


def drop_backup(job_id: int) -> None:
    """Drop the job's table backup. Raises Problem if there is none."""
    job = _hold(job_id, lambda job: "" if job.kept_table and job.ended else "No table of it is kept.", claim=False)
    try:
        with _connected(job) as connection:
            table_backup.drop(connection, job.schema_name, job.kept_table)
    finally:
        release_backup(job)


def _hold(job_id: int, why_not: Callable[[ImportJob], str], claim: bool) -> ImportJob:
    """The job, locked for a change of its backup; with `claim`, the target's table is claimed, too."""
    job = _read(job_id)
    audit.about(job)
    audit.note(kept_table=job.kept_table)
    why = why_not(job) or _hold_now(job, claim)
    if why:
        raise Problem(
            why, where=f"import {job_id}", advice=f"millrace job show {job_id}, or its page, shows its state."
        )
    return _read(job_id)


def _read(job_id: int) -> ImportJob:
    return ImportJob.objects.select_related("target").get(pk=job_id)


def _hold_now(job: ImportJob, claim: bool) -> str:
    values: dict[str, Any] = {"step": JobStep.KEEPING, "step_connection_id": None}
    values |= {"table_claim": claim_of(job)} if claim else {}
    try:
        with transaction.atomic():
            held = STEP.claim(ImportJob.objects.filter(step_is_free(), pk=job.pk, status__in=ImportJob.ENDED), **values)
    except IntegrityError:
        return "Another import is at work on the table."
    return "" if held else "Somebody is doing that already."


@contextmanager
def _connected(job: ImportJob) -> Iterator[Connection]:
    """A connection to the target, which the sweeper kills if it releases the job first.

    So a process that was stopped for a while does not change tables that another import may have by then. Raises
    Problem if the job was released before the connection was recorded. Without a connection, such as for a wrong
    password, nothing was changed: job and table are released at once.
    """
    with ExitStack() as opened:
        try:
            connection = opened.enter_context(connect(job.target.address))
        except Problem:
            _let_go(job)
            raise
        if not STEP.renew(_kept_by(job), step_connection_id=connection.thread_id()):
            raise Problem(
                "It took too long to begin, and nothing was changed.", where=f"import {job.pk}", advice="Try again."
            )
        yield connection


def release_backup(job: ImportJob) -> None:
    """Record the job's existing tables, and release job and table, unless they are released.

    If the server is away, the sweeper does so later, or the next command that needs the table.
    """
    if _kept_by(job).exists():
        record_backup(job)
        _let_go(job)


def _let_go(job: ImportJob) -> None:
    _kept_by(job).update(table_claim=None, **no_step())


def _kept_by(job: ImportJob) -> QuerySet[ImportJob]:
    """The job, if this attempt still holds its backup."""
    return held_step(job).filter(step=JobStep.KEEPING)


def pending_backups() -> list[ImportJob]:
    """Jobs whose backup was being restored or dropped when the process or the server went away."""
    expired = ImportJob.objects.filter(step=JobStep.KEEPING, step_lease__lte=timezone.now())
    return list(expired.select_related("target"))
