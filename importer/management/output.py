"""The output of `millrace load`: the plan before the import, the report afterwards."""

from pathlib import Path
from typing import Any

from config.contracts.documents import REPORT
from importer import jobs
from importer.access import approval
from importer.engine.errors import Problem
from importer.engine.source.records.row_error import shortened
from importer.history.regressions import regression
from importer.jobs.rejects import downloads
from importer.jobs.report import report_of_plan
from importer.management.command_line.one_document import DocumentCommand
from importer.models import ImportJob
from importer.models.outcomes import outcome
from importer.preparation.plan_sql import plan_sql
from importer.preparation.prepare import PreparedImport

MOST_KINDS = 20  # reasons that are printed; the JSON report has all


class CommandOutput:
    """Writes plan and report to a command's standard output, and problems to its standard error."""

    def __init__(self, command: DocumentCommand) -> None:
        self.stdout, self.stderr, self._give = command.stdout, command.stderr, command.give

    def plan(self, prepared: PreparedImport, as_json: bool) -> None:
        """Write the plan: each decision with its reason, "!" before one that holds the load back, and the SQL."""
        plan = prepared.plan
        if as_json:
            self._give(REPORT, report_of_plan(plan, prepared.reading))
            return
        self.stdout.write(f"{prepared.source.name} into {plan.schema}.{plan.final_table} of {prepared.target.name}:")
        for reason in plan.reasons:
            self.stdout.write(f"{'! ' if reason.holds_back else '- '}{reason.choice}: {reason.why}")
        if any(reason.holds_back for reason in plan.reasons):
            self.stdout.write("(! holds the load back)")
        for when, statements in plan_sql(plan):
            self.stdout.write(f"\n{when}:\n{statements}")

    def report(self, job: ImportJob, as_json: bool) -> None:
        files = self._write_files(job)
        if as_json:
            self._give(REPORT, jobs.report(job, files["rejects_file"], files["reasons_file"]))
            return
        if jobs.is_asked_for(job):
            self._tell_approval(job)
            return
        self.stdout.write(f"Import {job.pk} {outcome(job) or job.status}: {jobs.equation(job)}")
        self._show_lines(job)
        if job.rows_per_second:
            self.stdout.write(f"{job.rows_per_second:,.0f} rows/s, verified against the ledger on the server")
        if slower := regression(job):
            self.stdout.write(slower.words)
        self._show_kinds(job)
        if files["rejects_file"]:
            self.stdout.write(f"Rejected rows, to be corrected and imported again: {files['rejects_file']}")
        if files["reasons_file"]:
            self.stdout.write(f"Line, column, value and reason of each: {files['reasons_file']}")
        if job.problem:
            self._show_problem(job.problem)
        if jobs.could_leave_out(job):
            self.stderr.write(
                "Bad rows can be left out and kept with their reasons: with --on-error reject, or by a retry on the"
                " job's page, which loads the missing rows."
            )
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
        elif job.loaded_rows and not job.balanced and not job.stages:
            self.stderr.write(
                f"{job.loaded_rows:,} rows of other chunks are in the table and stay there. Retry on the job's page"
                " loads the missing rows from the same file. Before a corrected file is imported, delete these rows"
                " from the table; otherwise they are loaded twice."
            )

    def _show_lines(self, job: ImportJob) -> None:
        """Write how many lines of the file are no records, and those with a text of their own."""
        if not (job.scan_finished and job.skipped_lines):
            return
        self.stdout.write(f"Lines that are not records: {job.skipped_lines}")
        for each in job.skipped_lines.shown:
            if each.kind not in ("header", "blank"):
                self.stdout.write(f"  line {each.line:,}, {each.kind}: {shortened(each.text)}")

    def _write_files(self, job: ImportJob) -> dict[str, Path | None]:
        try:
            return {
                "rejects_file": downloads.write_reject_file(job),
                "reasons_file": downloads.write_reasons_file(job),
            }
        except Problem as problem:  # Only these files are missing; the import is not affected.
            self.stderr.write(str(problem))
            return {"rejects_file": None, "reasons_file": None}

    def _show_kinds(self, job: ImportJob) -> None:
        """Write the most frequent reasons for rejected rows and for changed values."""
        for amount, kinds in (("rows", job.reject_reasons), ("values", job.notices)):
            for kind in kinds[:MOST_KINDS]:
                column = f"column {kind['column']}: " if kind["column"] else ""
                named = amount if kind[amount] != 1 else amount.removesuffix("s")
                self.stdout.write(f"  {kind[amount]:,} {named}: {column}{kind['reason']}")
            if len(kinds) > MOST_KINDS:
                self.stdout.write(f"  and {len(kinds) - MOST_KINDS} more reasons")

    def _show_problem(self, problem: dict[str, Any]) -> None:
        where = f"{problem['where']}: " if problem["where"] else ""
        self.stderr.write(f"{where}{problem['what']}")
        for row in problem["rows"]:
            column = f", column {row['column']}" if row["column"] else ""
            self.stderr.write(f"  line {row['line']:,}{column}: {shortened(row['value'])}: {row['reason']}")
        if problem["bad_rows"] > len(problem["rows"]):
            self.stderr.write(f"  and {problem['bad_rows'] - len(problem['rows']):,} more in this chunk")
        self.stderr.write(problem["advice"])
