"""`millrace load`, `plan` and `check`: import a file. Options and report are a contract (see README)."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError

from importer.access import approval
from importer.access.acting import acting_user
from importer.connections.by_hand.resolve import forget_unused
from importer.engine.errors import Cancelled, Problem
from importer.jobs import approval as job_approval
from importer.jobs import report
from importer.jobs.actions import again, commands
from importer.jobs.rejects import downloads
from importer.jobs.report import report_of_plan, report_of_problem
from importer.management.application_tables import unusable
from importer.management.base_command import PreparedCommand
from importer.management.build_import import prepare_from_options, read_from_options
from importer.management.command_line.help.common_options import common_options
from importer.management.command_line.help.short_help import add_help
from importer.management.import_options import add_flags, usage
from importer.management.terminal import by_url
from importer.management.terminal.follow.following import follow
from importer.management.terminal.follow.progress import Amounts, Progress
from importer.management.terminal.parsers import with_files_as_paths
from importer.management.terminal.report_text import repeated_line
from importer.management.terminal.words import PROGRAM, WORDS, sentence
from importer.management.verbs.jobs import end
from importer.management.verbs.verb import Context
from importer.models import ImportJob
from importer.models.outcomes import UNKNOWN, exit_code, outcome_of
from importer.preparation.prepare import PreparedImport
from importer.preparation.previous_imports import refuse_repeated
from importer.preparation.whole_file import AsRead, FileCheck, check_file, document_of, document_of_problem

CHECK_ONLY = "--check-only"
RUN = "job run"

Made = TypeVar("Made")


class Command(PreparedCommand):
    help = "Load a CSV file into a table of a target, and prove that every row arrived."
    showing_options = ("plan_only", "check_only")
    _job: ImportJob | None = None
    # Whether the command line asks for a check of the file only, before it is parsed.
    _checks = False

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command line; the first two words are the program and the command."""
        self._checks = CHECK_ONLY in argv
        super().run_from_argv(with_files_as_paths(argv))

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """The parser, with a short help and one of all options: those of the word that is typed."""
        parser = super().create_parser(prog_name, subcommand, add_help=False, **kwargs)
        if prog_name == PROGRAM:
            parser.description = sentence(WORDS[subcommand].about)
        parser.usage = usage(subcommand, "mysql://USER@HOST:PORT/DATABASE.TABLE | --to TARGET --table TABLE")
        add_help(parser, common_options(subcommand))
        # Files and the URL may stand before, between and behind the options.
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        add_flags(parser, by_url.add_flags)
        parser.set_defaults(in_process=True)  # As `millrace load`: --workers asks for them.
        about = "load the file once more, instead of continuing an import of it that has not ended"
        parser.add_argument("--again", action="store_true", help=about)

    def handle(self, *_args: Any, **options: Any) -> None:
        context, job = Context(None, Namespace(**options), self, PROGRAM), None
        try:
            if options["check_only"]:
                self._checks = True
                _end_with(_check(context))
                return
            prepared = _until_ctrl_c(prepare_from_options, options)
            if options["plan_only"]:
                _end_with(_plan(context, prepared))
                return
            job = self._job = self._begun_before(prepared, options) or self._create(prepared)
            job = follow(job, in_process=options["in_process"], quiet=options["as_json"])
        except Problem as problem:
            now = self._read_back(problem)
            raise CommandError(str(problem), returncode=_exit_code(problem, now)) from problem
        except OperationalError as error:
            if not job or not (problem_of_records := unusable(error)):
                raise
            self._read_back(problem_of_records)
            raise CommandError(str(problem_of_records), returncode=UNKNOWN) from problem_of_records
        _end_with(_report(context, job))

    def document_of_problem(self, problem: Problem, exit_code: int, _options: Mapping[str, Any]) -> dict[str, Any]:
        """The report of the import, or of one that did not begin."""
        if self._checks and not self._job:
            return document_of_problem(problem, exit_code)
        return report_of_problem(problem, self._job, exit_code)

    def _read_back(self, problem: Problem) -> ImportJob | None:
        """The import as it is after a problem of the command; adds to its advice how many of its rows are committed.

        As it was at its beginning, if the application's database cannot even be read. None if it did not begin.
        """
        from importer.worker.verify import read_committed  # Here: a load without a problem needs none of it.

        if not self._job:
            return None
        with suppress(OperationalError):
            self._job = ImportJob.objects.select_related("source", "target").get(pk=self._job.pk)
        if not self._job.ended:
            continued = "" if RUN in problem.advice else f" To load the rest: {PROGRAM} {RUN} {self._job.pk}"
            problem.advice = f"{problem.advice} {read_committed(self._job)}{continued}"
        return self._job

    def _begun_before(self, prepared: PreparedImport, options: Mapping[str, Any]) -> ImportJob | None:
        """The unfinished import of the same command, such as one that was killed; this command ends it. Else None."""
        job = None if options["again"] else again.unfinished(prepared, acting_user())
        if job:
            sys.stderr.write(
                f"Import {job.pk} of the same file into {job.table} has not ended: this command continues it, and loads"
                " no row twice. To load the file once more: --again\n"
            )
            forget_unused([prepared.source])
        return job

    def _create(self, prepared: PreparedImport) -> ImportJob:
        job = commands.create(prepared, acting_user())
        if earlier := prepared.plan.loaded_before:
            sys.stderr.write(f"{repeated_line(earlier.words)}\n")
        return job


def _end_with(code: int) -> None:
    if code:
        sys.exit(code)


def _check(context: Context) -> int:
    """Check the whole file, and load nothing."""
    from importer.management.verbs.files import show_check  # Here: a load needs none of it.

    read = _until_ctrl_c(read_from_options, vars(context.options))
    try:
        return show_check(context, document_of(read.source.name, _followed(read, quiet=context.options.as_json)))
    finally:
        forget_unused([read.source])


def _followed(read: AsRead, *, quiet: bool) -> FileCheck:
    """The check, with a progress line."""
    progress, name = Progress(quiet), read.source.name

    def on_rows(rows: int, done: int, size: int) -> None:
        progress.show_amounts(name, Amounts(done, size, rows), "checking")

    def on_bytes(done: int) -> None:
        progress.show_amounts(name, Amounts(done, read.source.size, 0), "unpacking")

    try:
        return check_file(read, on_rows, on_bytes)
    finally:
        progress.close()


def _plan(context: Context, prepared: PreparedImport) -> int:
    from importer.management.verbs.files import show_plan  # Here, as above.

    try:
        refuse_repeated(prepared.source, prepared.plan, prepared.options)
        plan = prepared.plan
        about = f"{prepared.source.name} into {plan.schema}.{plan.final_table} of {prepared.target.name}"
        return show_plan(context, report_of_plan(plan, prepared.reading), about)
    finally:
        forget_unused([prepared.source])


def _report(context: Context, job: ImportJob) -> int:
    """Print the report, with the files of what was rejected, and where the old table is."""
    rejects = reasons = None
    try:
        rejects, reasons = downloads.write_reject_file(job), downloads.write_reasons_file(job)
    except Problem as problem:  # Only these files are missing; the import is not affected.
        context.output.warn(str(problem))
    code = end(context, report.report(job, rejects, reasons))
    if job_approval.is_asked_for(job):
        without = f"Without workers, once it is approved: {PROGRAM} job run {job.pk}"
        context.output.say(f"{job_approval.sentence(job)} {approval.advice_for(job)} {without}")
    if job.kept_table and not job.keeps_rows:
        line = f"The old table is kept as {job.kept_table}: {PROGRAM} kept-table restore|drop {job.pk}"
        context.output.say(line)
    return code


def _exit_code(problem: Problem, job: ImportJob | None) -> int:
    """The exit code after a problem of the command: the job's, if that is one of a problem."""
    if not job:
        return outcome_of(problem).exit_code
    return exit_code(job) or UNKNOWN


def _until_ctrl_c(prepare: Callable[[dict[str, Any]], Made], options: dict[str, Any]) -> Made:
    """What `prepare` makes of the options. Raises Problem if there is an obstacle, and Cancelled after Ctrl-C."""
    try:
        return prepare(options)
    except KeyboardInterrupt as interrupt:
        raise Cancelled("Ctrl-C ended the import before it began.", advice="Nothing was written.") from interrupt
