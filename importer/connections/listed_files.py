"""The files that a connection lists."""

from dataclasses import dataclass, field
from datetime import datetime

from importer.engine.errors import SourceProblem

# A pattern that matches more files is taken for a mistake; each takes some hundred bytes of memory.
MOST_FOUND = 100_000
# Characters of a name: as many as the tables of sources and of schedules' files store.
LONGEST_NAME = 1024


@dataclass(frozen=True)
class ListedFile:
    """A file at a connection: its `name` relative to the base, with "/" between folders; `size` in bytes.

    `etag` changes with the content: a server's ETag, an object's version, a local file's identity. Values that the
    server does not give are None or "". Raises SourceProblem for a name that is too long to be stored.

    `settled`: not written to in the last seconds. It depends on the moment, so two listings are compared without it.
    """

    name: str
    size: int | None
    modified_at: datetime | None
    etag: str = ""
    settled: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        if len(self.name) > LONGEST_NAME:
            what = f"The name of a file has {len(self.name):,} characters, and at most {LONGEST_NAME:,} are stored."
            raise SourceProblem(what, f"{self.name[:80]}…", "Give the file or its folder a shorter name.")


def sorted_by_name(files: list[ListedFile], where: str) -> list[ListedFile]:
    """The files sorted by name. Raises SourceProblem for too many."""
    refuse_too_many(len(files), where)
    return sorted(files, key=lambda each: each.name)


def refuse_too_many(count: int, where: str) -> None:
    """Raise SourceProblem for more than MOST_FOUND files."""
    if count > MOST_FOUND:
        raise SourceProblem(
            f"More than {MOST_FOUND:,} files match.", where, "Put more of the name, such as a date, into the pattern."
        )
