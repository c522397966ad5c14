"""`millrace kept-table`: restores or drops the table backup of an import in mode replace."""

from typing import Any

from django.core.management.base import CommandParser

from config.contracts.documents import KEPT_TABLE
from importer import jobs
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.management.base_command import PreparedCommand
from importer.management.terminal import by_url
from importer.models import ImportJob

ACTIONS = {"restore": jobs.restore_backup, "drop": jobs.drop_backup}


class Command(PreparedCommand):
    help = "Restore the old table that an import in mode replace has kept, or drop it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=ACTIONS, help="put the old table back, or drop it")
        parser.add_argument("job", type=int, help="the import's number")
        by_url.add_password_flags(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        job = seen(ImportJob.objects.select_related("target").filter(pk=options["job"])).first()
        if job is None:
            raise Problem(f"There is no import {options['job']}.", advice="`job list` has the latest.")
        by_url.hold_password_again(job.target, {**options, "in_process": True})
        ACTIONS[options["action"]](job.pk)
        job.refresh_from_db()
        backup = f"{job.kept_table} is kept" if job.kept_table else "no other table is kept"
        if options["as_json"]:
            restored = job.restored_at is not None
            self.give(KEPT_TABLE, {"job": job.pk, "table": job.table, "restored": restored, "kept": job.kept_table})
            return
        state = "the old table" if job.restored_at else "as the import left it"
        self.stdout.write(f"{job.table} is {state}; {backup}.")
