"""The card of the files of an import of several."""

from dataclasses import dataclass

from importer.history.chunks.files import FileRows, rows_of_files
from importer.models import ImportJob

MOST_SHOWN = 100


@dataclass(frozen=True)
class FilesCard:
    """At most MOST_SHOWN of the files, those with rejected or missing rows first; and how many there are in all."""

    shown: tuple[FileRows, ...]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.shown)


def files_card(job: ImportJob) -> FilesCard | None:
    """The files of an import of several; None for one file."""
    files = rows_of_files(job)
    if not files:
        return None
    if len(files) > MOST_SHOWN:
        files = tuple(sorted(files, key=lambda each: not (each.rejected or each.missing)))
    return FilesCard(files[:MOST_SHOWN], job.source.file_count)
