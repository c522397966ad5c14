"""`millrace job`: lists, follows and steers imports, and what people decide about one that waits for them."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from config.contracts.documents import CAUSES, REPORT
from importer import jobs
from importer.access import audit
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.stored import to_json
from importer.management.base_command import PreparedCommand
from importer.management.command_line import job_verbs
from importer.management.terminal import by_url
from importer.management.terminal.follow import waiting
from importer.management.terminal.follow.following import follow
from importer.management.terminal.output import problem_and_ways_out
from importer.management.terminal.verbs import LIST, add_job_verbs
from importer.models import ImportJob
from importer.models.outcomes import exit_code, outcome_words
from importer.preparation.plan_sql import plan_sql
from importer.retention import ended_jobs


class Command(PreparedCommand):
    help = "List, show, follow and steer imports, and decide what one waits for."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = add_job_verbs(parser, (LIST, *job_verbs.VERBS, *VERBS))
        job_verbs.add_retry_arguments(verbs["retry"])
        by_url.add_password_flags(verbs["run"])

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb. Raises Problem if the import's state does not allow it."""
        if verb == LIST:
            job_verbs.write_list(self, options)
            return
        job = seen(ImportJob.objects.select_related("target", "source").filter(pk=options["job"])).first()
        if job is None:
            raise Problem(f"There is no import {options['job']}.", advice="`job list` has the latest.")
        audit.about(job)
        if verb in job_verbs.VERBS:
            job_verbs.VERBS[verb](self, job, options)
        else:
            VERBS[verb](self, job, options)

    def _plan(self, job: ImportJob, options: dict[str, Any]) -> None:
        if options["as_json"]:
            self.give(REPORT, jobs.report(job))
            return
        self.stdout.write(jobs.sentence(job))
        for when, statements in plan_sql(job.plan):
            self.stdout.write(f"\n{when}:\n{statements}")
        self.stdout.write(f"\nDigest: {jobs.digest_of(job)}")
        if not jobs.is_asked_for(job):
            self.stdout.write(f"It does not wait for an approval: it is {outcome_words(job)}.")

    def _why(self, job: ImportJob, options: dict[str, Any]) -> None:
        found = waiting.explanations(job)
        if options["as_json"]:
            self.give(CAUSES, {"job": job.pk, "causes": [to_json(each) for each in found]})
            return
        self.stdout.write(waiting.as_text(job, found))

    def _approve(self, job: ImportJob, options: dict[str, Any]) -> None:
        jobs.approve(job.pk, options["digest"])
        self._tell(job, options, f"approved. The workers load it; without workers: millrace job run {job.pk}")

    def _refuse(self, job: ImportJob, options: dict[str, Any]) -> None:
        jobs.refuse(job.pk, options["reason"])
        self._tell(job, options)

    def _run(self, job: ImportJob, options: dict[str, Any]) -> None:
        by_url.hold_password_again(job.target, {**options, "in_process": True})
        jobs.advance(job.pk)  # One that waited for an approval may need none any more.
        job = follow(job, in_process=True, quiet=options["as_json"])
        self._tell(job, options)
        sys.exit(exit_code(job))

    def _cancel(self, job: ImportJob, options: dict[str, Any]) -> None:
        jobs.cancel(job.pk)
        self._tell(job, options)

    def _delete(self, job: ImportJob, _options: dict[str, Any]) -> None:
        ended_jobs.remove_by_hand(job.pk)
        self.stdout.write(f"{job} is deleted. What it loaded stays in its table.")

    def _restore_now(self, job: ImportJob, options: dict[str, Any]) -> None:
        jobs.try_now(job.pk)
        self._tell(job, options)

    def _end_without(self, job: ImportJob, options: dict[str, Any]) -> None:
        jobs.end_without(job.pk)
        self._tell(job, options)

    def _tell(self, job: ImportJob, options: dict[str, Any], state: str = "") -> None:
        """Write the import's state, `state` or its outcome, with its problem; with --json its report."""
        job.refresh_from_db()
        if options["as_json"]:
            self.give(REPORT, jobs.report(job))
            return
        self.stdout.write(f"{job}: {state or f'{outcome_words(job)}.'}")
        for line in problem_and_ways_out(job):
            self.stdout.write(line)


VERBS: dict[str, Callable[[Command, ImportJob, dict[str, Any]], None]] = {
    "plan": Command._plan,
    "why": Command._why,
    "approve": Command._approve,
    "refuse": Command._refuse,
    "run": Command._run,
    "cancel": Command._cancel,
    "delete": Command._delete,
    "restore-now": Command._restore_now,
    "end-without": Command._end_without,
}
