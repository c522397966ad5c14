"""How a schedule's run ended, in words: by its status and by its imports. All pages, commands and messages ask here."""

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Value, When
from django.db.models.fields.json import KT

from importer.models.outcomes import words_of
from importer.models.outcomes.looks import NO_COMPLETE_FILE, NO_NEW_FILE
from importer.models.schedule import DiscoveredFile, ScheduleRun

# What words_of_run() takes, in its order, of runs that with_imports() has annotated.
WORDS_OF = ("came_to", "rejected", "restored", KT("problem__kind"), "note")
_FILES = DiscoveredFile.objects.filter(run=OuterRef("pk"))
# Whether an import of the run rejected rows and is in the table, and whether the old table of one is back.
HAS_REJECTS = Exists(_FILES.filter(job__rejected_rows__gt=0, job__restored_at=None))
HAS_RESTORED = Exists(_FILES.filter(job__restored_at__isnull=False))
# Files that were not loaded, also not by a later attempt of their import.
_UNLOADED = _FILES.filter(
    ~Q(job__status=ScheduleRun.Status.SUCCEEDED) | ~Q(job__balanced=True) | Q(job=None),
    outcome__in=(DiscoveredFile.Outcome.FAILED, DiscoveredFile.Outcome.NEEDS_ANSWER),
)
# The status of a run as its imports are now: one that failed has lost rows alone if they were all loaded without them.
CAME_TO = Case(
    When(
        Q(status=ScheduleRun.Status.FAILED) & HAS_REJECTS & ~Exists(_UNLOADED),
        then=Value(ScheduleRun.Status.SUCCEEDED.value),
    ),
    default=F("status"),
)


def with_imports(runs: QuerySet[ScheduleRun]) -> QuerySet[ScheduleRun]:
    """The runs with what their imports have come to, and two figures of these.

    `came_to`: CAME_TO. `restored`: how many were restored, that is, their old table is back. `rejected`: the rows
    that the others have rejected; None without any.
    """
    back = Q(files__job__restored_at__isnull=False)
    return runs.annotate(
        came_to=CAME_TO,
        rejected=Sum("files__job__rejected_rows", filter=Q(files__job__restored_at=None)),
        restored=Count("files__job", filter=back),
    )


def words_of_run(status: str, rejected: int | None, restored: int, kind: str | None, note: str) -> str:
    """The outcome of a run in words; its status where they are the same.

    `rejected`, `restored`: as with_imports() counts them. `kind`: that of the run's problem. A run that lost rows is
    called so even if another of its imports was restored, because the loss still needs a person.
    """
    begins = note.partition(":")[0]
    if status == ScheduleRun.Status.SUCCEEDED and begins in (NO_NEW_FILE.words, NO_COMPLETE_FILE.words):
        return begins
    return words_of(status, rejected, kind, restored=bool(restored) and not rejected)


def outcome_of_run(run: ScheduleRun) -> str:
    """The outcome of a run in words. One that does not come from with_imports() takes a query."""
    if hasattr(run, "came_to") and hasattr(run, "rejected") and hasattr(run, "restored"):
        return words_of_run(run.came_to, run.rejected, run.restored, run.problem.get("kind"), run.note)
    return words_of_run(*with_imports(ScheduleRun.objects.filter(pk=run.pk)).values_list(*WORDS_OF).get())
