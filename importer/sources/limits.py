"""How many files one import takes."""

from importer.engine.errors import SourceProblem
from importer.engine.units import MIB, human_bytes

MOST_FILES = 1_000
# The most bytes, of all chosen files together, whose copy a request waits for.
MOST_COPIED_AT_ONCE = 64 * MIB


def require_short_wait(size: int | None, where: str) -> None:
    """Raise SourceProblem for more bytes than a person waits for on a page, or for an unknown number of them."""
    if size is not None and size <= MOST_COPIED_AT_ONCE:
        return
    much = "an unknown size" if size is None else human_bytes(size)
    raise SourceProblem(
        f"What is to be copied has {much}; a page copies at most {human_bytes(MOST_COPIED_AT_ONCE)} while you wait.",
        where,
        "Import it by a schedule that runs once, or on the command line: import_csv.",
    )


def refuse_none(count: int, where: str, advice: str) -> None:
    """Raise SourceProblem if no file was found."""
    if not count:
        raise SourceProblem("No file matches.", where, advice)


def refuse_too_many(count: int, where: str) -> None:
    """Raise SourceProblem for more files than one import takes."""
    if count > MOST_FILES:
        raise SourceProblem(
            f"{count:,} files match; one import takes at most {MOST_FILES:,}.",
            where,
            "Put more of the names into the pattern, and import the rest after it.",
        )
