"""The output of `millrace load`: the plan before the import, the report afterwards."""

from collections.abc import Iterator
from pathlib import Path

from config.contracts.documents import REPORT
from importer import jobs
from importer.access import approval
from importer.engine.errors import Problem
from importer.history.regressions import regression
from importer.jobs.rejects import downloads
from importer.jobs.report import report_of_plan
from importer.management.terminal.one_document import DocumentCommand
from importer.management.terminal.report_text import (
    kind_lines,
    plan_lines,
    problem_lines,
    reading_lines,
    skipped_lines,
    ways_out,
)
from importer.management.terminal.words import PROGRAM
from importer.models import ImportJob
from importer.models.outcomes import outcome
from importer.preparation.prepare import PreparedImport


class CommandOutput:
    """Writes plan and report to a command's standard output, and problems to its standard error."""

    def __init__(self, command: DocumentCommand) -> None:
        self.stdout, self.stderr, self._give = command.stdout, command.stderr, command.give

    def plan(self, prepared: PreparedImport, as_json: bool) -> None:
        """Write the reading, the plan and the SQL: each decision with its reason, "!" before one that holds it back."""
        plan, report = prepared.plan, report_of_plan(prepared.plan, prepared.reading)
        if as_json:
            self._give(REPORT, report)
            return
        for line in reading_lines(report["reading"]):
            self.stdout.write(line)
        self.stdout.write(f"\n{prepared.source.name} into {plan.schema}.{plan.final_table} of {prepared.target.name}:")
        for line in plan_lines(report["plan"]):
            self.stdout.write(line)

    def report(self, job: ImportJob, as_json: bool) -> None:
        files = self._write_files(job)
        if as_json:
            self._give(REPORT, jobs.report(job, files["rejects_file"], files["reasons_file"]))
            return
        if jobs.is_asked_for(job):
            self._tell_approval(job)
            return
        self.stdout.write(f"Import {job.pk} {outcome(job) or job.status}: {jobs.equation(job)}")
        for line in skipped_lines(job.skipped_lines) if job.scan_finished else ():
            self.stdout.write(line)
        if job.rows_per_second:
            compared = ", each stored value compared with the file" if job.options.verify == "full" else ""
            verified = f"verified against the ledger on the server{compared}"
            self.stdout.write(f"{job.rows_per_second:,.0f} rows/s, {verified}")
        if slower := regression(job):
            self.stdout.write(slower.words)
        for line in kind_lines(job.reject_reasons, job.notices):
            self.stdout.write(line)
        if files["rejects_file"]:
            self.stdout.write(f"Rejected rows, to be corrected and imported again: {files['rejects_file']}")
        if files["reasons_file"]:
            self.stdout.write(f"Line, column, value and reason of each: {files['reasons_file']}")
        for line in problem_and_ways_out(job):
            self.stderr.write(line)
        self._show_table_state(job)

    def _tell_approval(self, job: ImportJob) -> None:
        """Write that the import waits for another person, who that is, and what happens then."""
        self.stdout.write(f"Import {job.pk} waits for approval by another person; nothing is written before.")
        self.stdout.write(f"{jobs.sentence(job)} Digest: {jobs.digest_of(job)}")
        self.stdout.write(
            f"{approval.advice_for(job)} On the import's page, or: millrace job approve {job.pk} --digest DIGEST --as"
            f" PERSON. Then the workers load it; without workers: millrace job run {job.pk}. To give it up: millrace"
            f" job cancel {job.pk}"
        )

    def _show_table_state(self, job: ImportJob) -> None:
        """Write the state of the table if the row counts do not show it."""
        if job.stages and not job.finished:
            self.stderr.write(
                "The server does not answer. When it does, it is known whether the table has all rows or none."
                if job.leftover
                else f"{job.table} is unchanged: mode {job.options.mode} loads all rows or none."
            )
        elif job.kept_table:
            self.stdout.write(f"The old table is kept as {job.kept_table}: millrace kept-table restore|drop {job.pk}")

    def _write_files(self, job: ImportJob) -> dict[str, Path | None]:
        try:
            return {
                "rejects_file": downloads.write_reject_file(job),
                "reasons_file": downloads.write_reasons_file(job),
            }
        except Problem as problem:  # Only these files are missing; the import is not affected.
            self.stderr.write(str(problem))
            return {"rejects_file": None, "reasons_file": None}


def problem_and_ways_out(job: ImportJob) -> Iterator[str]:
    """The problem of an import with its first bad rows, and the commands that load the missing rows."""
    if job.problem:
        yield from problem_lines(job.problem)
    of_bad_rows = job.problem if jobs.could_leave_out(job) else {}
    stay = job.loaded_rows if job.ended and not (job.balanced or job.stages) else 0
    yield from ways_out(job.pk, of_bad_rows, stay, PROGRAM)
    # The worker that drops it may still be at it: only after a failure there is something to say.
    if job.ended and job.leftover and (job.step_failures or job.target.left_to_commands):
        yield f"The staging table that it may have left on {job.target} is not dropped yet. {jobs.who_cleans(job)}"
