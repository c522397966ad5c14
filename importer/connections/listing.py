"""What a connection finds."""

from dataclasses import dataclass
from datetime import datetime

from importer.engine.errors import SourceProblem

# More files than this at once are nobody's wish, and each takes some hundred bytes of memory.
MOST_FOUND = 100_000


@dataclass(frozen=True)
class ListedFile:
    """A file at a connection: its `name` below the base, with "/" between folders; `size` in bytes.

    `etag` changes whenever the content does: a server's ETag, an object's version, a local file's identity. What the
    place does not tell is None or "".
    """

    name: str
    size: int | None
    modified_at: datetime | None
    etag: str = ""


def sorted_by_name(found: list[ListedFile], where: str) -> list[ListedFile]:
    """The same, sorted by name. Raises SourceProblem for too many."""
    refuse_too_many(len(found), where)
    return sorted(found, key=lambda each: each.name)


def refuse_too_many(count: int, where: str) -> None:
    """Raise SourceProblem if there are more than anybody can want."""
    if count > MOST_FOUND:
        raise SourceProblem(
            f"More than {MOST_FOUND:,} files match.", where, "Put more of the name, such as a date, into the pattern."
        )
