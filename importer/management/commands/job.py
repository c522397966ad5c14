"""`manage.py job`: what people decide about an import that waits for them."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from importer import jobs
from importer.access import audit
from importer.access.policy import seen
from importer.management.base_command import PreparedCommand
from importer.models import ImportJob
from importer.models.outcomes import outcome_words


class Command(PreparedCommand):
    help = "Cancel an import, or decide what it waits for."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        for name, (_, about) in VERBS.items():
            verbs.add_parser(name, help=about).add_argument("job", type=int, help="the import's number")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb, and tell the import's state afterwards. Raises Problem if that state does not allow it."""
        job = seen(ImportJob.objects.filter(pk=options["job"])).first()
        if job is None:
            raise CommandError(f"There is no import {options['job']}.")
        audit.about(job)
        VERBS[verb][0](job.pk)
        job = ImportJob.objects.get(pk=job.pk)
        self.stdout.write(f"{job} is {outcome_words(job)}.")
        if job.problem:
            self.stdout.write(f"{job.problem['what']} {job.problem['advice']}".strip())


VERBS: dict[str, tuple[Callable[[int], None], str]] = {
    "cancel": (jobs.cancel, "end an import; what is committed stays, except in a staging table"),
    "restore-now": (jobs.try_now, "try at once to put back the keys that the server refused to build"),
    "end-without": (jobs.end_without, "end an import without these keys; it tells the SQL that brings them back"),
}
