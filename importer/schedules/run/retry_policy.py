"""Which problems of a run may pass by themselves, and which are of one file alone: decided here and nowhere else."""

from typing import Any

# Kinds of Problem (importer.engine.errors) that lie in one file: those after it may well go in.
OF_ONE_FILE = ("SourceProblem", "SourceChanged", "RecordUnreadable", "RowsRefused", "TooManyRejects")


def is_retryable(problem: dict[str, Any]) -> bool:
    """Whether the same may well succeed a little later, with nobody doing anything.

    That is what whoever raised it says: a server that is away, a lost connection, a lock that was not given. A file
    that was another one than the scan saw is looked at again as well: somebody was still writing to it.
    """
    return bool(problem.get("retryable")) or problem.get("kind") == "SourceChanged"


def stops_the_run(problem: dict[str, Any]) -> bool:
    """Whether the run's other files would meet the same: the server, the table, the header."""
    return problem.get("kind") not in OF_ONE_FILE
