"""`manage.py import_csv`: imports a file from the command line. Options and report are a contract (see README)."""

import sys
import time
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from importer import jobs
from importer.access.acting import acting_user
from importer.connections.by_hand.resolve import forget_unused
from importer.engine.errors import Cancelled, Problem
from importer.management.base_command import PreparedCommand
from importer.management.build_import import prepare_from_options
from importer.management.command_line.common_options import COMMON
from importer.management.command_line.short_help import add_help
from importer.management.import_options import add_flags
from importer.management.output import CommandOutput
from importer.management.waiting import WaitingSaid
from importer.models import ImportJob
from importer.models.outcomes import exit_code, outcome_of
from importer.preparation.prepare import PreparedImport
from importer.worker import local_pool, presence

LOOK_EVERY = 0.1  # seconds
UNKNOWN = 1  # the exit code if the command had a problem, and the import has not ended or has succeeded
NOT_TAKEN_AFTER = 20  # seconds until a message says that no worker has taken the job


class Command(PreparedCommand):
    help = "Load a CSV file into a table of a target, and prove that every row arrived."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """The parser, with a short help and one of all options."""
        parser = super().create_parser(prog_name, subcommand, add_help=False, **kwargs)
        parser.usage = "%(prog)s FILE... --to TARGET --table TABLE [options]"
        add_help(parser, COMMON)
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        add_flags(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        output = CommandOutput(self.stdout, self.stderr)
        job = None
        try:
            prepared = _prepare(options)
            if options["plan_only"]:
                output.plan(prepared, options["json"])
                forget_unused([prepared.source])
                return
            job = jobs.create(prepared, acting_user())
            job = _follow(job, prepared, options)
        except Problem as problem:
            now = ImportJob.objects.get(pk=job.pk) if job else None
            if options["json"]:
                output.problem(problem, now)
            raise CommandError(str(problem), returncode=_exit_code(problem, now)) from problem
        output.report(job, options["json"])
        if code := exit_code(job):
            sys.exit(code)


def _exit_code(problem: Problem, job: ImportJob | None) -> int:
    """The exit code after a problem of the command: the job's, if it has one that tells of a problem."""
    if not job:
        return outcome_of(problem).exit_code
    return exit_code(job) or UNKNOWN


def _prepare(options: dict[str, Any]) -> PreparedImport:
    """Plan the import. Raises Problem if there is an obstacle, and Cancelled after Ctrl-C."""
    try:
        return prepare_from_options(options)
    except KeyboardInterrupt as interrupt:
        raise Cancelled("Ctrl-C ended the import before it began.", advice="Nothing was written.") from interrupt


def _follow(job: ImportJob, prepared: PreparedImport, options: dict[str, Any]) -> ImportJob:
    """Start the job and wait for its end, with a progress bar on a terminal. Ctrl-C cancels the job.

    A job that waits for approval is not waited for: that can take days.
    """
    quiet = options["json"] or not sys.stderr.isatty()
    with tqdm(total=prepared.source.size, unit="B", unit_scale=True, disable=quiet, desc=f"import {job.pk}") as bar:
        told: set[str] = set()
        waiting = WaitingSaid()

        def look(now: ImportJob) -> None:
            if (reason := _why_it_waits(now)) and reason not in told:
                told.add(reason)
                sys.stderr.write(f"{reason}\n")
            bar.total = now.read_size
            waiting.look(now)
            bar.set_postfix_str(f"{now.rows_in_table:,} rows, {now.status}{waiting.now and f': {waiting.now}'}")
            bar.update(now.data_offset + now.committed_bytes - bar.n)

        wait: Callable[[], ImportJob] = lambda: _wait(job.pk, look)  # noqa: E731
        if options["in_process"]:
            wait = lambda: local_pool.run(job.pk, prepared.plan.parallelism, look)  # noqa: E731
        else:
            _warn_of_few_workers(options["parallelism"])
            jobs.start(job.pk)
        try:
            ended = wait()
        except KeyboardInterrupt:
            _cancel(job.pk)
            ended = wait()
        look(ended)
    return ended


def _why_it_waits(job: ImportJob) -> str:
    """What the job waits for, other than workers; "" for nothing."""
    if before := jobs.table_owner(job):
        return f"Import {before.pk} has the table {job.table}: this one waits for it."
    if not jobs.is_stuck(job):
        return ""
    return (
        f"What import {job.pk} has changed on the server cannot be put back yet, and is tried again:"
        f" {job.obstacle['what']} {job.obstacle['advice']} Ctrl-C ends it without, and gives the SQL."
    )


def _cancel(job_id: int) -> None:
    """Cancel the job, or end one that the server keeps from ending.

    One that can no longer be cancelled is about to end, and its end is waited for.
    """
    end = jobs.end_without if jobs.is_stuck(ImportJob.objects.get(pk=job_id)) else jobs.cancel
    try:
        end(job_id)
    except Problem as problem:
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()


def _warn_of_few_workers(parallelism: int | None) -> None:
    most = presence.parallel_loads()
    if parallelism and 0 < most < parallelism:
        sys.stderr.write(f"--parallel {parallelism}: the running workers load at most {most} chunks in parallel.\n")


def _wait(job_id: int, look: Callable[[ImportJob], None]) -> ImportJob:
    begun = time.monotonic()
    warned = False
    while not local_pool.is_over(job := ImportJob.objects.get(pk=job_id)):
        look(job)
        if not warned and job.step == ImportJob.Step.SCAN_QUEUED and time.monotonic() - begun > NOT_TAKEN_AFTER:
            warned = True
            sys.stderr.write("No worker has taken the import yet: is `make run` running? --in-process needs none.\n")
        time.sleep(LOOK_EVERY)
    return job
