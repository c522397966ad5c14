"""Decides which problems of a run are retried, and which concern one file only. The only place that decides it."""

from typing import Any

# Kinds of Problem (importer.engine.errors) that concern one file: the run continues with the next file.
OF_ONE_FILE = (
    "SourceProblem",
    "SourceMissing",
    "NoConnection",
    "SourceChanged",
    "RecordUnreadable",
    "RowsRefused",
    "TooManyRejects",
    "AllRowsRejected",
    "ApprovalRefused",
)


def is_retryable(problem: dict[str, Any]) -> bool:
    """Whether a later attempt may succeed without anybody's help.

    The problem says so itself: the server is away, a connection was lost, a lock was not granted. SourceChanged is
    retried as well: the file was still being written.
    """
    return bool(problem.get("retryable")) or problem.get("kind") == "SourceChanged"


def stops_the_run(problem: dict[str, Any]) -> bool:
    """Whether the run's other files would meet the problem, too: it is about the server, the table or the header."""
    return problem.get("kind") not in OF_ONE_FILE
