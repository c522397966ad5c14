"""Room that is reserved on the disk of the uploads: for what is arriving now, and only for minutes."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Least
from django.utils import timezone

from importer.engine.errors import DiskFull
from importer.models import SourceFile
from importer.sources.room import in_words, room

RESERVED_FOR = timedelta(minutes=5)  # after an upload's last byte


def require_room(name: str, size: int, source: SourceFile | None = None) -> None:
    """Raise DiskFull unless `size` bytes fit in addition to what is reserved for uploads other than the source.

    `name` is that of the file which needs the room.
    """
    reserved = _reserved_bytes(source)
    if size > room(settings.UPLOAD_DIR) - reserved:
        under_way = f" {reserved:,} bytes are reserved for uploads under way." if reserved else ""
        raise DiskFull(
            f"The disk for uploads is full. {in_words(settings.UPLOAD_DIR, size)}{under_way}",
            where=name,
            advice="Remove uploads that are no longer needed, or give UPLOAD_DIR a larger disk.",
        )


def _reserved_bytes(other_than: SourceFile | None) -> int:
    """The rest of each upload under way, but not more than has arrived of it.

    An announcement alone reserves nothing: nobody keeps the disk from others without filling it.
    """
    under_way = SourceFile.objects.filter(
        status=SourceFile.Status.UPLOADING, touched_at__gt=timezone.now() - RESERVED_FOR
    )
    if other_than:
        under_way = under_way.exclude(pk=other_than.pk)
    rest = Least(models.F("size") - models.F("received"), models.F("received"), output_field=models.BigIntegerField())
    total: int | None = under_way.aggregate(bytes=models.Sum(rest))["bytes"]
    return total or 0
