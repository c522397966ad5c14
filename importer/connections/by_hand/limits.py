"""How many files one import takes."""

from importer.engine.errors import SourceProblem

MOST_FILES = 1_000


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
