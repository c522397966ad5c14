"""`millrace kept-table`: restores or drops the table backup of an import."""

from collections.abc import Callable

from config.contracts.documents import KEPT_TABLE
from importer import queue
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.jobs.steps.table_backup import drop_backup, restore_backup
from importer.management.base_command import PreparedCommand
from importer.management.terminal import by_url
from importer.management.verbs.jobs import JOB
from importer.management.verbs.verb import Context, Run, Verb
from importer.models import ImportJob
from importer.worker.stage_and_finish import taken_back_here


def _does(act: Callable[[int], object]) -> Run:
    def run(context: Context) -> None:
        options = context.options
        job = seen(ImportJob.objects.select_related("target").filter(pk=options.job)).first()
        if job is None:
            raise Problem(f"There is no import {options.job}.", advice="`job list` has the latest.")
        by_url.hold_password_again(job.target, {**vars(options), "in_process": True})
        act(job.pk)
        job.refresh_from_db()
        restored, kept = job.restored_at is not None, job.kept_table
        context.output.give(KEPT_TABLE, {"job": job.pk, "table": job.table, "restored": restored, "kept": kept})
        backup = f"{kept} is kept" if kept else "no other table is kept"
        old = "as it was before, but for rows that others have changed" if job.keeps_rows else "the old table"
        state = old if restored else "as the import left it"
        context.output.say(f"{job.table} is {state}; {backup}.")

    return run


def _restore(job_id: int) -> None:
    with queue.dropped():
        restore_backup(job_id)
    if problem := taken_back_here(job_id):
        raise problem


class Command(PreparedCommand):
    help = "Restore the old table, or the old rows, that an import has kept, or drop them."
    verbs = {
        "restore": Verb("put the old table, or the old rows, back", _does(_restore), (JOB, by_url.add_password_flags)),
        "drop": Verb(
            "drop the old table, or the table of the old rows", _does(drop_backup), (JOB, by_url.add_password_flags)
        ),
    }
