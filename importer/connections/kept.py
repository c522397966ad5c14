"""The sources that come of what is found: read where they are, or fetched into the folder of the uploads."""

from importer.connections.found import Found
from importer.models import SourceConnection, SourceFile
from importer.sources import PIECE_BYTES, clean_name

__all__ = ["PIECE_BYTES", "in_place"]


def in_place(connection: SourceConnection, found: Found, path: str, size: int, fingerprint: str) -> SourceFile:
    """A source that stays where it is; the same version of a file gives the same row. `size` is in bytes."""
    source, _ = SourceFile.objects.get_or_create(
        connection=connection,
        found_name=found.name,
        found_etag=found.etag,
        path=path,
        size=size,
        fingerprint=fingerprint,
        owned=False,
        status=SourceFile.Status.READY,
        defaults={
            "name": clean_name(found.name),
            "received": size,
            "found_modified_at": found.modified_at,
        },
    )
    return source
