"""Which files a schedule has loaded before: each file goes in once."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import xxhash
from django.db.models import Q, QuerySet

from importer.connections import ListedFile
from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun
from importer.schedules.transitions import Outcome

BATCH_SIZE = 500

T = TypeVar("T")


def identity(found: ListedFile) -> str:
    """What stays the same while a file is not changed: a digest of its name, size and time.

    Where the place gives no time, its etag; "" where it gives neither, for then nothing but the content tells.
    """
    when = found.modified_at.isoformat() if found.modified_at else found.etag
    if not when:
        return ""
    return xxhash.xxh3_128(f"{found.name}\0{found.size}\0{when}".encode()).hexdigest()


def is_loaded() -> Q:
    """Files whose rows are in the table; also by an import that failed at first, and that somebody has retried."""
    return Q(outcome__in=(Outcome.LOADED, Outcome.ALREADY_LOADED)) | Q(job__status=ImportJob.Status.SUCCEEDED)


def classify(run: ScheduleRun, found: Iterable[ListedFile]) -> Iterator[tuple[ListedFile, DiscoveredFile.Outcome]]:
    """Each file with what becomes of it: found, or known already by its name, size and time.

    A file that is known by its content, and unchanged by name, size, time and etag, is not read again.
    """
    for some in in_batches(found):
        ids = [identity(each) for each in some]
        before = _seen(run.schedule, ids)
        for each, its_id in zip(some, ids, strict=True):
            yield each, _outcome(run, each.etag, before.get(its_id, []))


def in_batches(found: Iterable[T]) -> Iterator[list[T]]:
    """Lists of as many as the database is asked about at once."""
    left = iter(found)
    while some := list(islice(left, BATCH_SIZE)):
        yield some


def _seen(schedule: Schedule, ids: Sequence[str]) -> dict[str, list[tuple[str, bool]]]:
    """By identity: the etag of each such file that was seen before, and whether its rows are in."""
    wanted = [each for each in ids if each]
    files = schedule.files.filter(identity__in=wanted)
    loaded = set(files.filter(is_loaded()).values_list("pk", flat=True))
    seen: dict[str, list[tuple[str, bool]]] = {}
    for pk, its_id, etag in files.values_list("pk", "identity", "etag"):
        seen.setdefault(its_id, []).append((etag, pk in loaded))
    return seen


def _outcome(run: ScheduleRun, etag: str, before: Sequence[tuple[str, bool]]) -> DiscoveredFile.Outcome:
    by_content = run.schedule.known_by == Schedule.KnownBy.CONTENT
    same = [loaded for its_etag, loaded in before if not by_content or its_etag == etag]
    if any(same):
        return Outcome.ALREADY_LOADED
    return Outcome.FAILED_BEFORE if same and run.cause == ScheduleRun.Cause.ARRIVAL else Outcome.FOUND


def is_new(schedule: Schedule, found: Iterable[ListedFile]) -> bool:
    """Whether one of the files was never seen by the schedule, as it is now."""
    for some in in_batches(found):
        ids = {identity(each) for each in some}
        known = set(schedule.files.filter(identity__in=ids - {""}).values_list("identity", flat=True))
        if "" in ids or ids - known:
            return True
    return False


def same_content(picked: DiscoveredFile) -> QuerySet[DiscoveredFile]:
    """Files of the schedule that had the same content."""
    others = DiscoveredFile.objects.filter(schedule=picked.schedule_id, fingerprint=picked.fingerprint)
    return others.exclude(pk=picked.pk)


def earlier_try(picked: DiscoveredFile) -> ImportJob | None:
    """The last import of the file as it was in an earlier run, or earlier in this one, that has not succeeded."""
    tried = DiscoveredFile.objects.filter(schedule=picked.schedule_id, name=picked.name).exclude(job=None)
    last = tried.select_related("job__source", "job__target").order_by("-job_id").first()
    return last.job if last and last.job and last.job.status != ImportJob.Status.SUCCEEDED else None
