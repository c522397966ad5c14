"""Recognizes files that a schedule has loaded before, so that each file is loaded once."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import TypeVar

import xxhash
from django.db.models import Q, QuerySet
from django.utils import timezone

from importer.connections.connection_kinds import kind_of
from importer.connections.listed_files import ListedFile
from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun
from importer.schedules.run import retry_policy
from importer.schedules.transitions import Outcome

BATCH_SIZE = 500  # files per query
# How often a file is fetched again of which the place does not say whether it has changed.
COMPARE_EVERY = timedelta(minutes=5)
# What comes of fetching it in vain.
IN_VAIN = (Outcome.ALREADY_LOADED, Outcome.FAILED, Outcome.NEEDS_ANSWER, Outcome.DROPPED)

T = TypeVar("T")


def identity(file: ListedFile) -> str:
    """A digest of a file's name, size and time, which stays the same while the file is unchanged.

    Without a time, its etag is used. Without both it is "": only the content can be compared.
    """
    when = file.modified_at.isoformat() if file.modified_at else file.etag
    if not when:
        return ""
    return xxhash.xxh3_128(f"{file.name}\0{file.size}\0{when}".encode()).hexdigest()


def is_loaded() -> Q:
    """The condition for files whose rows are in the table, including by an import that succeeded after a retry."""
    return Q(outcome__in=(Outcome.LOADED, Outcome.ALREADY_LOADED)) | Q(job__status=ImportJob.Status.SUCCEEDED)


def classify(run: ScheduleRun, files: Iterable[ListedFile]) -> Iterator[tuple[ListedFile, DiscoveredFile.Outcome]]:
    """Each file with its outcome: FOUND, or known already by its identity.

    For a schedule that compares contents, a file of known identity and etag is not read again.
    """
    for batch in in_batches(files):
        ids = [identity(each) for each in batch]
        before = _known(run.schedule, ids)
        for each, its_id in zip(batch, ids, strict=True):
            yield each, _outcome(run, each.etag, before.get(its_id, []))


def in_batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Lists of at most BATCH_SIZE items."""
    left = iter(items)
    while batch := list(islice(left, BATCH_SIZE)):
        yield batch


def _known(schedule: Schedule, ids: Sequence[str]) -> dict[str, list[tuple[str, DiscoveredFile.Outcome]]]:
    """By identity: the etag of each earlier file with this identity, and its outcome, LOADED by whichever import."""
    wanted = [each for each in ids if each]
    # A run ended before it tried the files that it left.
    files = schedule.files.filter(identity__in=wanted).exclude(outcome=Outcome.LEFT)
    loaded = set(files.filter(is_loaded()).values_list("pk", flat=True))
    known: dict[str, list[tuple[str, DiscoveredFile.Outcome]]] = {}
    for pk, its_id, etag, outcome in files.values_list("pk", "identity", "etag", "outcome"):
        known.setdefault(its_id, []).append((etag, Outcome.LOADED if pk in loaded else Outcome(outcome)))
    return known


def _outcome(
    run: ScheduleRun, etag: str, before: Sequence[tuple[str, DiscoveredFile.Outcome]]
) -> DiscoveredFile.Outcome:
    by_content = run.schedule.known_by == Schedule.KnownBy.CONTENT
    same = [outcome for its_etag, outcome in before if not by_content or its_etag == etag]
    if Outcome.LOADED in same:
        return Outcome.ALREADY_LOADED
    if Outcome.DROPPED in same:
        return Outcome.DROPPED
    return Outcome.FAILED_BEFORE if same and run.cause == ScheduleRun.Cause.ARRIVAL else Outcome.FOUND


def is_new(schedule: Schedule, files: Iterable[ListedFile]) -> bool:
    """Whether one of the settled files, in its present version, is new to the schedule, or left and due again.

    Some files have to be fetched to tell: without a time, or at web servers, which may give that of the request. They
    count as new COMPARE_EVERY after they were fetched in vain.
    """
    lately = schedule.runs.filter(finished_at__gt=timezone.now() - COMPARE_EVERY)
    compared = lately.filter(files__outcome__in=IN_VAIN).exists()
    if compared and not kind_of(schedule.connection).lists:
        return False
    tried = schedule.files.all()
    if retry_policy.tries_what_is_left(schedule):
        tried = tried.exclude(outcome=Outcome.LEFT)
    for batch in in_batches(each for each in files if each.settled):
        ids = {identity(each) for each in batch}
        known = set(tried.filter(identity__in=ids - {""}).values_list("identity", flat=True))
        if ids - known - {""} or ("" in ids and not compared):
            return True
    return False


def same_content(picked: DiscoveredFile) -> QuerySet[DiscoveredFile]:
    """Other files of the schedule with equal content."""
    others = DiscoveredFile.objects.filter(schedule=picked.schedule_id, fingerprint=picked.fingerprint)
    return others.exclude(pk=picked.pk)


def is_known_by_content(schedule: Schedule, picked: DiscoveredFile) -> bool:
    """Whether the file is the same as another with equal content: the schedule says so, or it has no identity."""
    return schedule.known_by == Schedule.KnownBy.CONTENT or not picked.identity


def earlier_tries(schedule: Schedule, picked: DiscoveredFile) -> Iterator[ImportJob]:
    """The last import of a file of this name, and the last of this content, into the table, unless they succeeded.

    Content counts for a file that is known by it: the file may have come under another name before.
    """
    tried = schedule.files.filter(
        job__target=schedule.target, job__schema_name=schedule.schema_name, job__table_name=schedule.table_name
    )
    tried = tried.select_related("job__source", "job__target").order_by("-job_id")
    same = [Q(name=picked.name)]
    if is_known_by_content(schedule, picked):
        same.append(Q(fingerprint=picked.fingerprint))
    for condition in same:
        last = tried.filter(condition).first()
        if last and last.job and last.job.status != ImportJob.Status.SUCCEEDED:
            yield last.job
