"""Says why an ended import or a file must stay: something that is under way or can be retried needs it.

Each reason completes "It stays:". Obstacles hold for a deletion by hand, too; the time to retry only for the policies.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Value, When

from importer.models import DiscoveredFile, ImportJob, Lab, ScheduleRun, SourceFile, SourceMember
from importer.models.outcomes.in_backup import IN_BACKUP
from importer.retention.policies import before

Status = ImportJob.Status
RETRIED = [Status.FAILED, Status.CANCELLED]

_LABS = Lab.objects.exclude(status__in=Lab.ENDED)
_LEFT_ROWS = Q(staging__in=ImportJob.FINISHED) | (
    (Q(loaded_rows__gt=0) | IN_BACKUP) & (Q(options_json__mode="append") | ~Q(options_json__has_key="mode"))
)
# A later run of the schedule retries the import, because a new one would load its rows a second time.
_SCHEDULE_CONTINUES = Q(Exists(DiscoveredFile.objects.filter(job=OuterRef("pk"))), _LEFT_ROWS, status__in=RETRIED)

# Each reason with its condition on imports.
CHUNK_OBSTACLES: Mapping[str, Q] = {
    "it has not ended": ~Q(status__in=ImportJob.ENDED),
    "a step of it is under way": ~Q(step="") | Q(table_claim__isnull=False),
    "what it has changed on the server is not undone yet": Q(staging__in=ImportJob.LEFTOVER)
    | Q(changes__in=ImportJob.UNRESTORED),
    "its staged rows are kept on the server, and its page applies or drops them": Q(staging=ImportJob.Staging.KEPT),
    "its page has the SQL of keys that are missing; a retry builds them": Q(changes=ImportJob.Changes.LEFT),
    "a schedule continues from it; retry it, or forget its file (millrace schedule forget)": _SCHEDULE_CONTINUES,
    "a lab is at work on it": Q(Exists(_LABS.filter(of_job=OuterRef("pk")))),
    "it is a trial of a lab": Q(trial__isnull=False),
}
JOB_OBSTACLES: Mapping[str, Q] = {
    **CHUNK_OBSTACLES,
    "its old table, or old rows, are kept on the server, and its page restores or drops them": ~Q(kept_table=""),
}
# The imports of a file, also those of several files with this one among them.
JOBS_OF_FILE = ImportJob.objects.filter(
    Q(source=OuterRef("pk")) | Q(source__in=SourceMember.objects.filter(file=OuterRef(OuterRef("pk"))).values("whole"))
)
# The same on files.
FILE_OBSTACLES: Mapping[str, Q] = {
    "an import of it is under way": Q(Exists(JOBS_OF_FILE.exclude(status__in=ImportJob.ENDED))),
    "a schedule continues from an import of it; retry that, or forget the file (millrace schedule forget)": Q(
        Exists(JOBS_OF_FILE.filter(_SCHEDULE_CONTINUES))
    ),
    "a lab reads it": Q(Exists(_LABS.filter(Q(source=OuterRef("pk")) | Q(sample=OuterRef("pk"))))),
    "a run of a schedule is at work on it": Q(
        Exists(DiscoveredFile.objects.filter(source=OuterRef("pk")).exclude(run__status__in=ScheduleRun.ENDED))
    ),
}


def any_of(reasons: Mapping[str, Q]) -> Q:
    """The condition that one of the reasons holds."""
    found = Q()
    for each in reasons.values():
        found |= each
    return found


def can_be_retried(now: datetime) -> Q:
    """The condition on imports whose time to retry is not over."""
    cutoff = before("retry", now)
    retried = Q(status__in=RETRIED, chunks_removed_at=None)
    return retried if cutoff is None else retried & Q(finished_at__gte=cutoff)


def why_job_stays(job: ImportJob) -> str:
    """The first reason for which the job cannot be deleted; "" if it can."""
    return _first_reason(ImportJob.objects.filter(pk=job.pk), JOB_OBSTACLES)


def why_file_stays(source: SourceFile) -> str:
    """The first reason for which the file cannot be deleted; "" if it can."""
    return _first_reason(SourceFile.objects.filter(pk=source.pk), FILE_OBSTACLES)


def file_reasons(now: datetime) -> Mapping[str, Q]:
    """The reasons for which the policies keep a file at any age."""
    retried = Q(Exists(JOBS_OF_FILE.filter(can_be_retried(now))))
    return {**FILE_OBSTACLES, "an import of it can be retried": retried}


def reason(reasons: Mapping[str, Q]) -> Case:
    """The first reason that holds as a value of a query, or ""."""
    whens = [When(condition, then=Value(text)) for text, condition in reasons.items()]
    return Case(*whens, default=Value(""), output_field=CharField())


def _first_reason(things: QuerySet[ImportJob] | QuerySet[SourceFile], reasons: Mapping[str, Q]) -> str:
    return things.annotate(why=reason(reasons)).values_list("why", flat=True).first() or ""
