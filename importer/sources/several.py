"""Sources of several files, which one import reads as one."""

from collections.abc import Sequence

import xxhash
from django.db import transaction

from importer.access.acting import acting_user
from importer.engine.errors import SourceProblem
from importer.models import SourceFile, SourceMember
from importer.sources.uploads import clean_name


def as_one(files: Sequence[SourceFile]) -> SourceFile:
    """One READY source of these files, in this order; of a single file that itself.

    The same files in the same order give the same row. Raises SourceProblem for a file that is among them twice, and
    for one that has not arrived.
    """
    if not files:
        raise SourceProblem("No file is chosen.", advice="Choose one or several.")
    if len(files) == 1:
        return files[0]
    _check(files)
    size = sum(each.size for each in files)
    content = xxhash.xxh3_128_hexdigest(" ".join(each.fingerprint for each in files).encode())
    keys = [each.pk for each in files]
    with transaction.atomic():
        same = SourceFile.objects.filter(
            fingerprint=content, size=size, file_count=len(files), uploaded_by=acting_user()
        )
        for known in same.prefetch_related("members"):
            if [each.file_id for each in sorted(known.members.all(), key=lambda each: each.place)] == keys:
                known.save(update_fields=["touched_at"])  # A row that was used just now is not deleted.
                return known
        whole = SourceFile.objects.create(
            name=clean_name(f"{files[0].name[:200]} and {len(files) - 1:,} more"),
            path="",
            size=size,
            received=size,
            status=SourceFile.Status.READY,
            fingerprint=content,
            owned=False,
            file_count=len(files),
            uploaded_by=acting_user(),
        )
        SourceMember.objects.bulk_create(
            SourceMember(whole=whole, file=each, place=place) for place, each in enumerate(files)
        )
    return whole


def _check(files: Sequence[SourceFile]) -> None:
    seen: set[int] = set()
    for each in files:
        if each.pk in seen:
            raise SourceProblem("The file is named twice.", each.name, "Name it once: its rows would be loaded twice.")
        if each.arriving or each.status == SourceFile.Status.REMOVED:
            raise SourceProblem("The file is not there as a whole.", each.name, "Wait for its upload, or upload it.")
        seen.add(each.pk)
