"""Runs the trials of a lab one after another. Each is an import of the sample by the usual workers.

A trial's import is an ImportJob that is marked as a trial's. So claims, leases, the ledger, index deferral and
verification are measured as they are in real imports, and dead workers are recovered in the same way. The import is
deleted when the lab has its figures.
"""

from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from importer.engine.errors import Cancelled, Problem
from importer.engine.schema.table import read_table
from importer.engine.target import scratch_tables
from importer.engine.tuning.budget import Spent, TrialCost, why_not
from importer.engine.tuning.rounds import WARM_UP
from importer.jobs import report
from importer.jobs.actions import commands
from importer.lab.cleanup import tidy, untidy
from importer.lab.dry_plan import ran_as, require_as_requested
from importer.lab.setup import prepare_trial, scratch_of
from importer.lab.transitions import Status, change_held, connected, end, held, lease_keeper
from importer.lab.trial_order import EFFECT, effect_of, lay_out_finals, why_left_out
from importer.models import ImportJob, Lab, Trial
from importer.models.outcomes.attempts import speed_of
from importer.preparation.prepare import PreparedImport
from importer.worker.heartbeat import LeaseKeeper

MOST_BEGUN = 3  # attempts of a trial
State = Trial.Status
# States of imports that do nothing on the target.
IDLE = (ImportJob.Status.PAUSED, ImportJob.Status.WAITING, ImportJob.Status.UNAPPROVED)


def advance(lab: Lab) -> bool:
    """Advance the running lab by one step. Returns whether the next step can follow at once.

    Raises Problem if the target does not answer.
    """
    running = lab.trials.filter(status=State.RUNNING).first()
    job = ImportJob.objects.select_related("source").filter(trial=running).first() if running else None
    if running and job:
        if not job.ended:
            _watch(lab, running, job)
            return False
        _finish(lab, running, job)
        return True
    if running:
        retry_trial(running, Problem("The worker that began it died.", str(running), "Look at the worker's log."))
    if untidy(lab):
        _tidy(lab)
    following = _next(lab)
    if not following and lay_out_finals(lab):
        following = _next(lab)
    if not following:
        return end(lab, Status.DONE)
    waits_for = import_before(lab)
    change_held(lab, waits_for=waits_for)
    return not waits_for and _begin(lab, following)


def _next(lab: Lab) -> Trial | None:
    """The next trial that may begin; trials before it that the budget forbids are marked as left out."""
    for trial in lab.trials.filter(status=State.PENDING).select_related("lab"):
        why = (
            _failed_before(lab, trial)
            or why_left_out(lab, trial)
            or why_not(
                lab.budget, spent(lab), trial.combination, lab.sample_rows, max(lab.sample_bytes, lab.table_bytes)
            )
        )
        if not why:
            return trial
        change_trial(trial, State.PENDING, status=State.LEFT_OUT, problem={"what": why})
    return None


def _failed_before(lab: Lab, trial: Trial) -> str:
    failed = lab.trials.filter(combination=trial.combination, round=WARM_UP, status=State.FAILED)
    return "its first trial failed" if failed.exists() else ""


def spent(lab: Lab) -> Spent:
    """What the lab has used of its budget so far: seconds, rows, and the sizes of its tables."""
    finished = list(lab.trials.filter(finished_at__isnull=False))
    known = [
        TrialCost(each.combination, each.seconds, each.table_bytes) for each in finished if each.status == State.DONE
    ]
    prepared = lab.prepared_at - lab.started_at if lab.prepared_at and lab.started_at else None
    seconds = sum(each.seconds for each in finished) + (prepared.total_seconds() if prepared else 0)
    return Spent(seconds, sum(each.rows for each in finished), known)


def import_before(lab: Lab) -> str:
    """A sentence on an import that keeps the target busy, which the next trial waits for; "" if it need not wait.

    Imports that wait or are paused do not keep it busy.
    """
    if lab.during_imports:
        return ""
    busy = ImportJob.objects.filter(target=lab.target, trial=None).exclude(status__in=(*IDLE, *ImportJob.ENDED))
    other = busy.order_by("pk").first()
    return f"import {other.pk} into {other.table} runs on the same target" if other else ""


def _begin(lab: Lab, trial: Trial) -> bool:
    """Create the trial's table and start its import. Returns True if it failed, so that the next trial can begin."""
    if not begin_trial(trial):
        return False
    keeper = lease_keeper(lab)
    try:
        with keeper:
            _make_table(lab, trial, keeper)
            prepared = _prepared(lab, trial)
        _start(lab, trial, prepared)
    except Cancelled:
        raise
    except Problem as problem:
        if problem.retryable:  # Caused by the target, not by the trial.
            change_trial(trial, State.RUNNING, status=State.PENDING, begun=F("begun") - 1)
            raise
        record_trial(trial, status=State.FAILED, problem=problem.as_json())
        return True
    return False


def _make_table(lab: Lab, trial: Trial, keeper: LeaseKeeper) -> None:
    with connected(lab, keeper) as connection:
        tidy(lab, connection)
        table = read_table(connection, lab.schema_name, lab.table_name)
        scratch = scratch_of(lab, trial.number)
        scratch_tables.record(connection, scratch)
        partitions = trial.settings.get("partitions")
        scratch_tables.create(
            connection,
            scratch,
            table,
            partitions=int(partitions) if partitions else None,
            with_parents=lab.grid.needs_foreign_keys,
        )


def _prepared(lab: Lab, trial: Trial) -> PreparedImport:
    """Prepare the trial's import. Raises Problem if the plan does not have the trial's settings."""
    assert lab.sample
    prepared = prepare_trial(lab, trial.settings, lab.sample, scratch_of(lab, trial.number))
    require_as_requested(trial.settings, prepared.plan, str(trial))
    return prepared


def _start(lab: Lab, trial: Trial, prepared: PreparedImport) -> None:
    with transaction.atomic():
        # A worker that claims the lab, or a cancel, waits for this row lock and then finds the job.
        if not change_held(lab, waits_for=""):
            raise Cancelled("The lab is no longer wanted.", where=str(lab))
        job = commands.create(prepared, trial=trial)
    commands.start(job.pk)


def _watch(lab: Lab, trial: Trial, job: ImportJob) -> None:
    """Cancel a trial's import that takes more time than the lab has left."""
    if lab.budget.seconds is None or not trial.started_at:
        return
    left = lab.budget.seconds - spent(lab).seconds
    if (timezone.now() - trial.started_at).total_seconds() < left:
        return
    timeout = Problem(f"It took longer than the {max(0, left):,.0f} seconds that were left.", str(trial))
    lab.trials.filter(pk=trial.pk).update(problem=timeout.as_json())
    with suppress(Problem):  # It is ending already.
        commands.cancel(job.pk)


def _finish(lab: Lab, trial: Trial, job: ImportJob) -> None:
    """Store the figures of the trial's import, and remove the import and its table."""
    if retry_if_disturbed(lab, trial):
        _tidy(lab)
        return
    keeper = lease_keeper(lab)
    with keeper, connected(lab, keeper) as connection:
        succeeded = job.status == ImportJob.Status.SUCCEEDED and job.balanced
        size = scratch_tables.table_bytes(connection, scratch_of(lab, trial.number)) if succeeded else 0
        if not held(lab).exists():
            raise Cancelled("The lab is no longer wanted.", where=str(lab))
        record_trial(trial, **_figures(trial, job, succeeded), table_bytes=size)
        tidy(lab, connection)


def _figures(trial: Trial, job: ImportJob, succeeded: bool) -> dict[str, Any]:
    timings = {
        **report.report(job)["seconds"],
        "chunks": in_chunks(job),
        EFFECT: effect_of(job, trial),
    }
    figures = {"rows": job.committed_rows, "timings": timings}
    if not succeeded:
        problem = trial.problem or job.problem or Problem(f"Its import was {job.status}.", str(trial)).as_json()
        return {**figures, "status": State.FAILED, "problem": problem}
    try:
        # After planning, the server may have refused the method or the dropping of keys.
        require_as_requested(trial.settings, job.plan, str(trial))
    except Problem as problem:
        return {**figures, "status": State.FAILED, "problem": problem.as_json()}
    speed = speed_of(job)
    measured = {"ran_as": ran_as(job.plan), "rows_per_second": speed and speed.overall_rows_per_second}
    return {**figures, **measured, "status": State.DONE, "problem": {}}


def in_chunks(job: ImportJob) -> dict[str, float]:
    """The number of chunks, and the seconds of all chunks together by phase."""
    phases: dict[str, float] = {}
    for timings in job.chunks.values_list("timings", flat=True):
        for phase, seconds in timings.items():
            phases[phase] = phases.get(phase, 0) + seconds
    count = job.chunks.aggregate(count=Count("pk"))["count"]
    return {"count": count, **{phase: round(seconds, 3) for phase, seconds in phases.items()}}


def retry_if_disturbed(lab: Lab, trial: Trial) -> bool:
    """Retry the trial if an import has run on the target since it began, as retry_trial() does. Returns whether so."""
    if lab.during_imports:
        return False
    not_ended_before = Q(finished_at=None) | Q(finished_at__gt=trial.started_at)
    others = ImportJob.objects.filter(not_ended_before, target=lab.target, trial=None, started_at__isnull=False)
    if not others.exclude(status__in=IDLE).exists():
        return False
    why = Problem("Imports ran on the same target during the trial.", str(trial), "Start again when none do.")
    retry_trial(trial, why)
    return True


def begin_trial(trial: Trial) -> bool:
    """Record that the trial begins. Returns False if it is not pending any more."""
    begun = {"status": State.RUNNING, "begun": F("begun") + 1, "started_at": timezone.now(), "problem": {}}
    if not change_trial(trial, State.PENDING, **begun):
        return False
    trial.refresh_from_db()
    return True


def retry_trial(trial: Trial, problem: Problem) -> None:
    """Let the trial begin again, or record it as failed after MOST_BEGUN attempts."""
    if trial.begun < MOST_BEGUN:
        change_trial(trial, State.RUNNING, status=State.PENDING)
    else:
        record_trial(trial, status=State.FAILED, problem=problem.as_json())


def record_trial(trial: Trial, **values: Any) -> None:
    """Store the values with the running trial, which has ended."""
    change_trial(trial, State.RUNNING, finished_at=timezone.now(), **values)


def change_trial(trial: Trial, old: Trial.Status, **values: Any) -> bool:
    """Change the trial if it is in the `old` state. Returns whether it was."""
    changed = Trial.objects.filter(pk=trial.pk, status=old).update(**values)
    Lab.objects.filter(pk=trial.lab_id).update(version=F("version") + 1)
    return bool(changed)


def _tidy(lab: Lab) -> None:
    keeper = lease_keeper(lab)
    with keeper, connected(lab, keeper) as connection:
        tidy(lab, connection)
