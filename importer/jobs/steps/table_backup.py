"""The table backup: puts back the old table of mode replace, or the old rows that another mode keeps; or drops it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from importer import queue
from importer.access import audit
from importer.engine import failpoints
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Connection, connect
from importer.engine.stored import to_json
from importer.engine.target import staging, table_backup
from importer.engine.target.write_modes import UNDOING
from importer.jobs.lifecycle import advance
from importer.jobs.record import record_backup_restored
from importer.jobs.same_table import at_work_since, others_of_table
from importer.jobs.transitions import STEP, JobStep, backoff, claim_of, held_step, no_step, release_step, step_is_free
from importer.lease import change
from importer.models import ImportJob, Schedule
from importer.queue import Message

if TYPE_CHECKING:
    from importer.engine.target.take_back import TakenBack


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
        _tell_others(job)


def _tell_others(job: ImportJob) -> None:
    """The pages of the schedules whose runs it belongs to say that it was taken back, and the history."""
    Schedule.objects.filter(pk__in=job.picked.values("schedule")).update(version=F("version") + 1)
    record_backup_restored(job.pk)


def why_backup_stays(job: ImportJob) -> str:
    """Why the old table, or the old rows, cannot be put back; "" if they can."""
    if job.restored_at:
        return f"The old {'rows were' if job.keeps_rows else 'table was'} restored already."
    if not job.kept_table:
        return _why_none(job)
    if not job.ended:
        return "The import has not ended."
    if job.keeps_rows:
        return "The old rows are being put back." if job.undo_asked else ""
    since = at_work_since(job, job.loaded_at) if job.loaded_at else others_of_table(job)
    later = (since | others_of_table(job).filter(table_claim__isnull=False)).order_by("pk").last()
    return f"Import {later.pk} has worked on the table since; its rows would be put aside as well." if later else ""


def _why_none(job: ImportJob) -> str:
    """Why nothing old is kept, and what to choose next time."""
    if job.keeps_rows or job.options.mode == "replace":
        return f"No old {'rows are' if job.keeps_rows else 'table is'} kept."
    if job.options.mode in UNDOING:
        return "This import has kept no old rows. Next time choose --undo keep."
    instead = {"append": "mode atomic with --undo keep can be taken back, for two to three times the time"}
    return f"Mode {job.options.mode} keeps nothing; {instead.get(job.options.mode, 'drop the table instead')}."


def imports_since_restore(job: ImportJob) -> list[int]:
    """The imports that have loaded rows into the table since the old one was put back, the first one first."""
    return _loaded_since(job, job.restored_at)


def imports_since_load(job: ImportJob) -> list[int]:
    """The imports that have loaded rows into the table since this one, the first one first."""
    return _loaded_since(job, job.loaded_at)


def _loaded_since(job: ImportJob, moment: datetime | None) -> list[int]:
    since = at_work_since(job, moment).exclude(committed_bytes=0) if moment else ImportJob.objects.none()
    return list(since.order_by("pk").values_list("pk", flat=True)[:3])


def restore_backup(job_id: int, overwrite: bool = False) -> None:
    """Give the old table its name back atomically; the job's table becomes the backup. Or put the old rows back.

    That takes longer, so workers do it. `overwrite`: also rows that others have changed since. Raises Problem if it is
    not possible, or if another job uses the table.
    """
    if _read(job_id).keeps_rows:
        _ask_undo(job_id, overwrite)
        return
    job = _hold(job_id, why_backup_stays, claim=True)
    failpoints.reach("backup.claimed")
    try:
        with _connected(job) as connection:
            failpoints.reach("backup.connected")
            table_backup.restore(connection, job.schema_name, str(job.key), job.table_name)
            failpoints.reach("backup.renamed")
    finally:
        release_backup(job)


def _ask_undo(job_id: int, overwrite: bool) -> None:
    job = _checked(job_id, why_backup_stays)
    if job.target.lacks_password:
        raise _refused(job, f"No worker has the password of its server: millrace job undo {job.pk} asks for it.")
    audit.note(overwrite=overwrite)
    asked = {"asked": timezone.now().isoformat(), "overwrite": overwrite}
    free = ImportJob.objects.filter(step_is_free(), pk=job.pk, status__in=ImportJob.ENDED, restored_at=None)
    try:
        with transaction.atomic():
            begun = change(free, undo_json=asked, table_claim=claim_of(job))
    except IntegrityError:
        raise _refused(job, "Another import is at work on the table.") from None
    if not begun:
        raise _refused(job, "Somebody is doing that already.")
    queue.send(advance(job.pk))


def record_taken_back(job: ImportJob, taken: "TakenBack") -> bool:
    """Record what was taken back, and release job and table. False: another worker has the step."""
    done = {"undo_json": to_json(taken), "restored_at": timezone.now(), "table_claim": None, "step_failures": 0}
    recorded = change(held_step(job), **done, **no_step())
    if recorded:
        _tell_others(job)
    return recorded


def undo_failed(job: ImportJob, problem: Problem, *, given_up: bool) -> list[Message]:
    """After a failure to take the change back: try again, or record the problem. The table is as it was, or it is done,
    which the next try finds out.
    """
    if given_up:
        release_step(job)
        return []
    if problem.retryable and job.step_failures + 1 < settings.MAX_ATTEMPTS and held_step(job).exists():
        return [Message("advance", job.pk, delay=backoff(job))]
    failed = {"undo_json": {"problem": problem.as_json()}, "table_claim": None, "step_failures": 0}
    change(held_step(job), **failed, **no_step())
    return []


def unfinished_undos() -> list[int]:
    """Jobs that are to be taken back."""
    return list(ImportJob.objects.filter(undo_json__has_key="asked").values_list("pk", flat=True))


def drop_backup(job_id: int) -> None:
    """Drop the job's table backup. Raises Problem if there is none."""
    job = _hold(job_id, _why_not_drop, claim=False)
    try:
        with _connected(job) as connection:
            table_backup.drop(connection, job.schema_name, job.kept_table)
    finally:
        release_backup(job)


def _why_not_drop(job: ImportJob) -> str:
    if job.undo_asked:
        return "The old rows are being put back."
    return "" if job.kept_table and job.ended else "No table of it is kept."


def _hold(job_id: int, why_not: Callable[[ImportJob], str], claim: bool) -> ImportJob:
    """The job, locked for a change of its backup; with `claim`, the target's table is claimed, too."""
    job = _checked(job_id, why_not)
    if why := _hold_now(job, claim):
        raise _refused(job, why)
    return _read(job_id)


def _checked(job_id: int, why_not: Callable[[ImportJob], str]) -> ImportJob:
    job = _read(job_id)
    audit.about(job)
    audit.note(kept_table=job.kept_table)
    if why := why_not(job):
        raise _refused(job, why)
    return job


def _refused(job: ImportJob, why: str) -> Problem:
    advice = f"millrace job show {job.pk}, or its page, shows its state."
    return Problem(why, where=f"import {job.pk}", advice=advice)


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
