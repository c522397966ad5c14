"""`millrace kept-table`: restores or drops the table backup of an import in mode replace."""

from collections.abc import Callable

from config.contracts.documents import KEPT_TABLE
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.jobs.steps.table_backup import drop_backup, restore_backup
from importer.management.base_command import PreparedCommand
from importer.management.terminal import by_url
from importer.management.verbs.jobs import JOB
from importer.management.verbs.verb import Context, Run, Verb
from importer.models import ImportJob


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
        state = "the old table" if restored else "as the import left it"
        context.output.say(f"{job.table} is {state}; {backup}.")

    return run


class Command(PreparedCommand):
    help = "Restore the old table that an import in mode replace has kept, or drop it."
    verbs = {
        "restore": Verb("put the old table back", _does(restore_backup), (JOB, by_url.add_password_flags)),
        "drop": Verb("drop the old table", _does(drop_backup), (JOB, by_url.add_password_flags)),
    }
