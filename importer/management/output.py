"""What `manage.py import_csv` says: the plan before, the report afterwards."""

import json
from pathlib import Path
from typing import Any, Protocol

from importer import jobs
from importer.engine.errors import Problem
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.source.records.row_error import shortened
from importer.history.regressions import regression
from importer.jobs import reject_downloads
from importer.models import ImportJob
from importer.preparation.plan_sql import plan_sql
from importer.preparation.prepare import PreparedImport

MOST_KINDS = 20  # printed; the report as JSON has all


class Output(Protocol):
    """A stream of a Django command, which ends what it writes with a line feed."""

    def write(self, msg: str) -> Any: ...


class Shown:
    """What goes to a command's standard output and, for what went wrong, to its standard error."""

    def __init__(self, stdout: Output, stderr: Output) -> None:
        self.stdout = stdout
        self.stderr = stderr

    def plan(self, prepared: PreparedImport, as_json: bool) -> None:
        """What would be done: each choice with its reason, "!" before what holds the load back, and the SQL."""
        plan = prepared.plan
        if as_json:
            self.stdout.write(json.dumps(plan_to_json(plan), indent=2))
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
            self.stdout.write(json.dumps(jobs.report(job, **files), indent=2))
            return
        self.stdout.write(f"Import {job.pk} {job.status}: {jobs.equation(job)}")
        if job.rows_per_second:
            self.stdout.write(f"{job.rows_per_second:,.0f} rows/s, verified against the ledger on the server")
        if slower := regression(job):
            self.stdout.write(slower.words)
        self._show_kinds(job)
        if files["rejects_file"]:
            self.stdout.write(f"Rejected rows, to mend and import again: {files['rejects_file']}")
        if files["reasons_file"]:
            self.stdout.write(f"Line, column, value and reason of each: {files['reasons_file']}")
        if job.problem:
            self._show_problem(job.problem)
        if jobs.could_leave_out(job):
            self.stderr.write(
                "Such rows can be left out and kept with their reasons: with --on-error reject, or by a retry on the"
                " job's page, which loads what is not in yet."
            )
        self._show_what_stands(job)

    def _show_what_stands(self, job: ImportJob) -> None:
        """What has become of the table where that is not plain from the numbers."""
        if job.stages and not job.finished:
            self.stderr.write(
                "The server does not answer: whether all rows are in, or none, is known as soon as it does."
                if job.leftover
                else f"{job.table} is as it was: mode {job.options.mode} brings in all rows or none."
            )
        elif job.kept_table:
            self.stdout.write(f"The old table is kept as {job.kept_table}: manage.py kept_table restore|drop {job.pk}")
        elif job.loaded_rows and not job.balanced and not job.stages:
            self.stderr.write(
                f"{job.loaded_rows:,} rows of other chunks are in the table and stay there. Retry on the job's page"
                " loads what is missing, from the same file. Before a corrected file is imported as a new one, those"
                " rows must be deleted from the table, or they are there twice."
            )

    def _write_files(self, job: ImportJob) -> dict[str, Path | None]:
        try:
            return {
                "rejects_file": reject_downloads.write_reject_file(job),
                "reasons_file": reject_downloads.write_reasons_file(job),
            }
        except Problem as problem:  # The import is as it is; only these files are not to be had here.
            self.stderr.write(str(problem))
            return {"rejects_file": None, "reasons_file": None}

    def _show_kinds(self, job: ImportJob) -> None:
        """The commonest reasons for rows that did not go in, and what was changed and counted."""
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
