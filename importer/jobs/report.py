"""A job's equation and its report as JSON, a contract (docs/contracts.md). Changes nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from config.contracts.report import NO_ROWS, complete
from importer.engine.errors import Problem, problem_values
from importer.engine.load.outcome import Compared
from importer.engine.load.verify import Equation
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading, reading_to_json
from importer.engine.stored import from_json, to_json
from importer.history.chunks.files import rows_of_files
from importer.history.regressions import regression
from importer.jobs import approval
from importer.jobs.sharing.hosts import reading_hosts
from importer.models import Attempt, ImportJob
from importer.models.outcomes import UNKNOWN, Colour, Outcome, outcome_of, reported
from importer.models.outcomes.attempts import attempts_of, rounded_or_none, speed_of, step_seconds
from importer.preparation.plan_sql import plan_sql

PLANNED = Outcome("planned", 0, Colour.GREY, "file")


def equation(job: ImportJob) -> Equation:
    """The rows of the file, and how many were loaded, replaced, unchanged, skipped and rejected."""
    return Equation(
        source=job.scanned_rows,
        loaded=job.loaded_rows,
        replaced=job.replaced_rows,
        unchanged=job.unchanged_rows,
        skipped=job.skipped_rows,
        rejected=job.rejected_rows,
        deleted=job.deleted_rows,
        marked=job.marked_rows,
    )


def report(
    job: ImportJob,
    rejects_file: Path | None = None,
    reasons_file: Path | None = None,
    why: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The report of a job, as `import_csv --json` prints it.

    `lines` are the lines of the file that are no records: for each kind the count, and the first ones with their text.
    `rejects_file` has the rejected rows, `reasons_file` the reasons of all rejected and skipped rows. `why`: the known
    causes that it waits or is slow (importer.diagnosis.why.known_causes).
    """
    rows, speed = equation(job), speed_of(job)
    return complete(
        reported(job),
        {
            "job": job.pk,
            "then": _then(job),
            "rows": {**{name: getattr(rows, name) for name in NO_ROWS}, "source_is_final": job.scan_finished},
            "files": [each.as_json() for each in rows_of_files(job)],
            "lines": job.skipped_lines.as_json(),
            "balanced": job.balanced,
            "compared": to_json(from_json(Compared, job.compared_json)) if job.compared_json else None,
            "undo": _undo(job),
            "reading": job.reading_json or None,
            "plan": _plan(job.plan),
            "loaded_before": job.plan_json.get("loaded_before"),
            "approval": _approval(job),
            "priority": job.options.priority,
            "seconds": {"wait": job.wait_seconds, "locks": job.lock_seconds, **step_seconds(job)},
            "rates": {
                "rows_per_second": rounded_or_none(job.rows_per_second),
                "overall_rows_per_second": rounded_or_none(
                    speed.overall_rows_per_second if speed and job.rows_per_second else None
                ),
                "slower_than_like": slower.as_json() if (slower := regression(job)) else None,
            },
            "why": list(why),
            "attempts": [_attempt(each) for each in attempts_of(job)],
            "lock_waits": job.lock_waits_json or [],
            "hosts": _hosts(job),
            "rejects": {
                "reasons": job.reject_reasons,
                "file": rejects_file and str(rejects_file),
                "reasons_file": reasons_file and str(reasons_file),
            },
            "notices": job.notices,
            "outside_changes": job.outside_changes_json or [],
            "problem": problem_values(job.problem) if job.problem else None,
            "held_up": problem_values(job.obstacle) if job.held_up else None,
            "debug": {
                "status": job.status,
                "step": job.step,
                "plan": job.plan_json,
                "on_error": job.options.on_error,
                "left": list(_left(job)),
            },
        },
    )


def _then(job: ImportJob) -> str | None:
    """What settled an import that did not end well, in words."""
    ended = reported(job)
    if not ended or not ended.is_unwell:
        return None
    from importer.models.outcomes.sequels import sequel  # Here: few reports need it.

    later = sequel(job)
    return later.words if later else None


def _undo(job: ImportJob) -> dict[str, Any] | None:
    """What is kept to take the import back, and what was taken back; None of one that keeps no rows."""
    if not job.keeps_rows:
        return None
    from importer.engine.target.take_back import TakenBack  # Here: few imports keep rows.

    stored = job.undo_json or {}
    taken = from_json(TakenBack, stored if job.restored_at else {})
    return {
        "kept_table": job.kept_table,
        "asked": job.undo_asked,
        "taken_back_at": job.restored_at and job.restored_at.isoformat(),
        **to_json(taken),
        "problem": problem_values(stored["problem"]) if "problem" in stored else None,
    }


def _left(job: ImportJob) -> Iterator[str]:
    """What the ended job leaves on its target that its rows do not show, in sentences."""
    # The worker that drops it may still be at it: only after a failure there is something to say.
    if job.ended and job.leftover and (job.step_failures or job.target.left_to_commands):
        yield f"Its staging table may still be on {job.target}. {who_cleans(job)}"
    if job.ended and job.stages and not job.finished:
        if job.leftover:
            yield "The server does not answer. When it does, it is known whether the table has all rows or none."
        elif job.options.mode == "create":
            yield "No table was made: mode create makes it with all rows, or not at all."
        else:
            yield f"{job.table} is unchanged: mode {job.options.mode} loads all rows or none."


def who_cleans(job: ImportJob) -> str:
    """Who drops the staging table that the ended job has left on its target, and when, in a sentence."""
    if job.target.left_to_commands:
        return f"No worker has the password of its server. Once that answers, millrace job run {job.pk} drops it."
    return "That is done as soon as the server answers."


def figures(job: ImportJob) -> dict[str, Any]:
    """The figures of an import under way. Sizes are bytes."""
    return {
        "job": job.pk,
        "status": job.status,
        "size": job.read_size,
        "scanned_bytes": job.scanned_bytes,
        "committed_bytes": job.committed_bytes,
        "rows_of_file": job.scanned_rows,
        "rows_in_table": job.rows_in_table,
        "rejected_rows": job.rejected_rows,
    }


def _hosts(job: ImportJob) -> dict[str, Any]:
    """The hosts that are left out of the job, and those that read its chunks; nothing if none is left out."""
    return {"left_out": job.left_out_json, "reading": reading_hosts(job)} if job.left_out_json else {}


def report_of_plan(plan: ImportPlan, reading: Reading) -> dict[str, Any]:
    """The report of an import that was planned and not begun."""
    whole = plan_to_json(plan)
    values = {"reading": reading_to_json(reading), "plan": _plan(plan), "loaded_before": whole["loaded_before"]}
    return complete(PLANNED, {**values, "debug": {"plan": whole}})


def report_of_problem(problem: Problem, job: ImportJob | None = None, exit_code: int | None = None) -> dict[str, Any]:
    """The report of an import that did not begin because of the problem.

    With `job` it began, and the problem is of the command that follows it: the report is the job's. The problem is in
    it if the job has none. `exit_code`: the command's, if it is another one than that of the outcome.
    """
    if job:
        of_job = report(job)
        of_job["problem"] = of_job["problem"] or problem_values(problem.as_json())
        return {**of_job, "exit_code": of_job["exit_code"] if exit_code is None else exit_code}
    reading = reading_to_json(problem.reading) if isinstance(problem, NeedsAnswer) else None
    stored = problem.as_json()
    values = {"reading": reading, "loaded_before": stored.get("earlier"), "problem": problem_values(stored)}
    if exit_code == UNKNOWN:
        return complete(None, {**values, "exit_code": exit_code})
    return complete(outcome_of(problem), values)


def _approval(job: ImportJob) -> dict[str, Any] | None:
    """What another person approves or has approved; None for an import that needs no approval."""
    if not (job.approved_at or approval.is_asked_for(job)):
        return None
    return {
        "digest": approval.digest_of(job) if approval.is_asked_for(job) else job.approved_digest,
        "approved_by": job.approved_by.get_username() if job.approved_by else None,
        "approved_at": job.approved_at.isoformat() if job.approved_at else None,
    }


def _plan(plan: ImportPlan) -> dict[str, Any]:
    """The plan for users: the decisions with their reasons, and the exact SQL. The whole plan is under `debug`."""
    return {
        "method": plan.statements.method,
        "chunk_bytes": plan.chunk_bytes,
        "parallel_chunks": plan.parallelism,
        "index_policy": "defer" if _defers_keys(plan) else "keep",
        "sql": [{"when": when, "statements": statements} for when, statements in plan_sql(plan)],
        "reasons": [
            {"choice": each.choice, "why": each.why, "holds_back": each.holds_back, "option": each.option}
            for each in plan.reasons
        ],
    }


def _defers_keys(plan: ImportPlan) -> bool:
    """Whether keys are built after the load: those of the table, or of the staging table that replaces it."""
    of_table = plan.temporary_changes and plan.temporary_changes.keys
    return bool(of_table or (plan.staged and plan.staged.later))


def _attempt(each: Attempt) -> dict[str, Any]:
    return {
        "number": each.number,
        "started": each.started_at and each.started_at.isoformat(),
        "ended": each.ended_at and each.ended_at.isoformat(),
        "outcome": each.outcome or None,
        "method": each.plan_json.get("method"),
        "problem": problem_values(each.problem) if each.problem else None,
        "chunks": {"loaded": each.loaded_chunks, "failed": each.failed_chunks},
        "rows": each.rows,
        "seconds": each.seconds and asdict(each.seconds),
    }
