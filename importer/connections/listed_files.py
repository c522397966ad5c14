"""The files that a connection lists."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from importer.engine.errors import SourceProblem
from importer.engine.preflight.finding import Finding

# A pattern that matches more files is taken for a mistake; each takes some hundred bytes of memory.
MOST_FOUND = 100_000
# Characters of a name or a path: as many as the tables of sources and of schedules' files store.
LONGEST_NAME = 1024

# What stands in a name for bytes that are not UTF-8: a surrogate, or NUL, which no name contains (sftp_client.py).
_NO_TEXT = re.compile(r"[\0\ud800-\udfff]")


@dataclass(frozen=True)
class ListedFile:
    """A file at a connection: its `name` relative to the base, with "/" between folders; `size` in bytes.

    `etag` changes with the content: a server's ETag, an object's version, a local file's identity. Values that the
    server does not give are None or "". A name that is too long to be stored is listed, too; fetching it is refused.

    `settled`: not written to in the last seconds. It depends on the moment, so two listings are compared without it.
    """

    name: str
    size: int | None
    modified_at: datetime | None
    etag: str = ""
    settled: bool = field(default=True, compare=False)


def refuse_long_name(name: str) -> None:
    """Raise SourceProblem for a name, or a path, that is too long to be stored."""
    if len(name) > LONGEST_NAME:
        what = f"The name of the file has {len(name):,} characters, and at most {LONGEST_NAME:,} are stored."
        raise SourceProblem(what, f"{name[:80]}…", "Give the file or its folder a shorter name.")


def as_stored(name: str) -> str:
    """The name, shortened to what can be stored."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


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


def is_text(name: str) -> bool:
    """Whether the name is UTF-8. Other names can neither be stored nor be shown."""
    return not _NO_TEXT.search(name)


def as_text(name: str) -> str:
    """The name as it is shown, with ? for each byte that is not UTF-8."""
    return _NO_TEXT.sub("?", name)


def findings_of_names(names: Iterable[str]) -> Iterator[Finding]:
    """A warning if some of the names are not UTF-8: their files and folders are left out."""
    if left_out := [as_text(each) for each in names if not is_text(each)]:
        count = "1 name is" if len(left_out) == 1 else f"{len(left_out):,} names are"
        what = f"{count} not UTF-8 and left out, with ? for other bytes: {', '.join(left_out[:3])}."
        yield Finding("names", "warn", what, "Rename the files if they are to be loaded.")
