"""Quotas: how many files and bytes a person may keep among the uploads, settings.UPLOAD_QUOTA_FILES and _BYTES.

Everything counts that is kept on the disk for the person: uploads, imported or not, and files that the person's
schedules have fetched. An upload under way counts with its announced size. Files that are read in their own place, and
what commands without `--as` do, count for nobody. Admins have the same quota: a script of theirs fills a disk, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models

from importer.access.limits import alone
from importer.engine.errors import SourceProblem
from importer.engine.units import count_of, human_bytes
from importer.models import SourceFile

ADVICE = "Delete files that are no longer needed on the page “Your files” (/storage/), or ask an admin to raise {}."


class QuotaExceeded(SourceProblem):
    """A person would keep more files or bytes than allowed."""


@dataclass(frozen=True)
class Kept:
    """What is kept for a person."""

    files: int
    bytes: int

    @property
    def is_much(self) -> bool:
        """Whether it is more than half of a quota."""
        return _is_over(2 * self.files, settings.UPLOAD_QUOTA_FILES) or _is_over(
            2 * self.bytes, settings.UPLOAD_QUOTA_BYTES
        )


def kept_for(user: User | AnonymousUser) -> Kept:
    """The files and bytes that are kept for the person."""
    own = SourceFile.objects.filter(owned=True, uploaded_by_id=user.pk)
    kept = own.exclude(status=SourceFile.Status.REMOVED)
    found = kept.aggregate(files=models.Count("pk"), bytes=models.Sum("size"))
    return Kept(found["files"], found["bytes"] or 0)


@contextmanager
def counted(user: User | None, name: str, files: int, size: int) -> Iterator[None]:
    """Let the block, a transaction, add these numbers of files and bytes to the user's.

    Raises QuotaExceeded, before the block, if that would be more than the quota. `name` is the file's.
    """
    with alone(user):
        if user is not None:
            _require(user, name, files, size)
        yield


def _require(user: User, name: str, files: int, size: int) -> None:
    kept = kept_for(user)
    keeps = f"{user} keeps {human_bytes(kept.bytes)} in {kept.files:,} file{'' if kept.files == 1 else 's'} here,"
    keeps += " imported ones included"
    if files and _is_over(kept.files + files, settings.UPLOAD_QUOTA_FILES):
        raise QuotaExceeded(
            f"{keeps}; each person may keep {count_of(settings.UPLOAD_QUOTA_FILES, 'file')} at the most.",
            where=name,
            advice=ADVICE.format("UPLOAD_QUOTA_FILES"),
        )
    if _is_over(kept.bytes + size, settings.UPLOAD_QUOTA_BYTES):
        raise QuotaExceeded(
            f"{keeps}; {human_bytes(size)} more would be over the {human_bytes(settings.UPLOAD_QUOTA_BYTES)} that each"
            " person may keep.",
            where=name,
            advice=ADVICE.format("UPLOAD_QUOTA_BYTES"),
        )


def _is_over(count: int, most: int) -> bool:
    """Whether a count is over a quota; a quota of 0 is none."""
    return 0 < most < count
