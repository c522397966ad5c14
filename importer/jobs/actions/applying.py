"""Applies what an import has staged and compared with its table, compares it once more, or drops it."""

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from importer.access import audit
from importer.access.acting import acting_user
from importer.engine.errors import NotDecided, Problem
from importer.engine.load.outcome import Compared
from importer.engine.stored import from_json
from importer.jobs.actions.commands import RETRIED, Reached, is_kept, retry, start
from importer.jobs.actions.staged_again import Again
from importer.jobs.transitions import Staging, Status
from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun


def apply(job_id: int, *, all_the_same: bool = False) -> None:
    """Change the table as the comparison of the job has shown, from the staged rows, or not at all.

    If they are gone, the file is loaded again and must show the same. `all_the_same`: also beyond the job's limits.
    Raises Problem where nothing was compared, for what is beyond the limits, and as retry() does.
    """
    job = _compared(job_id)
    if not all_the_same and (beyond := beyond_limits(job)):
        beyond.advice = (
            f"{job.table} is unchanged. If the file is right, apply it all the same: millrace job apply {job.pk}"
            f" --all-the-same. To give it up: millrace job drop {job.pk}"
        )
        raise beyond
    audit.note(all_the_same=all_the_same)
    retry(job_id, again=Again(preview=False, as_seen=True))


def compare(job_id: int) -> None:
    """Compare what the job has staged with its table as it is now, and change nothing. Raises Problem as apply()."""
    _compared(job_id)
    retry(job_id, again=Again(preview=True, as_seen=False))


def drop(job_id: int) -> None:
    """Drop the job's staged rows, and end one that waits for a decision. Raises Problem if none are kept."""
    job = ImportJob.objects.get(pk=job_id)
    # What somebody has decided against is not offered again.
    ended: dict[str, object] = (
        {"status": Status.CANCELLED, "problem": {}, "seen_json": None} if job.status == Status.FAILED else {}
    )
    if not _let_go(job, **ended):
        raise Reached("No staged rows of this import are kept.", str(job), "Its page shows its present state.")
    if ended:
        _drop_files(job)


def _drop_files(job: ImportJob) -> None:
    """Let no later run of a schedule load the job's file again, and nobody look at those that could not."""
    picked = job.picked.filter(outcome=DiscoveredFile.Outcome.FAILED)
    runs = ScheduleRun.objects.filter(pk__in=list(picked.values_list("run", flat=True)))
    picked.update(outcome=DiscoveredFile.Outcome.DROPPED)
    who = {"dismissed_at": timezone.now(), "dismissed_by": acting_user()}
    others = Exists(DiscoveredFile.objects.filter(run=OuterRef("pk"), outcome=DiscoveredFile.Outcome.FAILED))
    for run in runs.exclude(others).filter(status__in=ScheduleRun.UNSUCCESSFUL, dismissed_at=None):
        ScheduleRun.objects.filter(pk=run.pk).update(**who, version=F("version") + 1)
    Schedule.objects.filter(runs__in=list(runs.values_list("pk", flat=True))).update(version=F("version") + 1)


def drop_undecided(job: ImportJob, days: str) -> bool:
    """Drop the job's staged rows because of their age. False: somebody has decided about them just now."""
    problem = NotDecided(
        f"Nobody has applied or dropped it within {days}, so its staged rows were dropped.",
        where=job.table,
        advice="The table is unchanged. A retry loads the file again, and compares it with the table as it is then.",
    )
    return _let_go(job, **({"problem": problem.as_json()} if job.status == Status.FAILED else {}))


def can_apply(job: ImportJob) -> bool:
    """Whether apply() can change what the job has shown, but for its limits: nothing is known to be in the way."""
    return bool(job.seen_json) and not job.finished and job.status in RETRIED and is_kept(job)


def beyond_limits(job: ImportJob) -> Problem | None:
    """The problem of what the job would change, if its limits do not allow it; else None."""
    from importer.engine.load.finish.changes import beyond_limits as beyond  # Here: few requests need it.

    compared, staged = job.compared_json, job.plan.staged
    return beyond(staged, from_json(Compared, compared), job.table) if compared and staged else None


def _compared(job_id: int) -> ImportJob:
    job = ImportJob.objects.select_related("target", "source").get(pk=job_id)
    if not job.seen_json and job.status in RETRIED:
        raise Problem(
            "Nothing is staged that could be applied: the import was not compared with its table.",
            where=str(job),
            advice=f"millrace job show {job.pk}, or its page, shows its present state.",
        )
    return job


def _let_go(job: ImportJob, **values: object) -> bool:
    kept = ImportJob.objects.filter(pk=job.pk, status__in=ImportJob.ENDED, staging=Staging.KEPT)
    let_go = bool(kept.update(staging=Staging.READY, version=F("version") + 1, worked_at=timezone.now(), **values))
    if let_go:
        start(job.pk)
    return let_go
