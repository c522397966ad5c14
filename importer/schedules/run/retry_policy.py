"""Decides which problems of a run are retried and when, and which concern one file. The only place that decides it."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from importer.models import Schedule, ScheduleRun
from importer.schedules.transitions import LONGEST_PAUSE

# Kinds of Problem (importer.engine.errors) that concern one file: the run continues with the next file.
OF_ONE_FILE = (
    "SourceProblem",
    "SourceMissing",
    "NoConnection",
    "SourceChanged",
    "NoCSV",
    "TooLarge",
    "RecordUnreadable",
    "Unsortable",
    "EndNeedsAnswer",
    "RowsRefused",
    "TooManyRejects",
    "TooManyChanges",
    "AllRowsRejected",
    "ApprovalRefused",
    "PartlyLoaded",
)


def is_retryable(problem: dict[str, Any]) -> bool:
    """Whether a later attempt may succeed without anybody's help.

    The problem says so itself: the server is away, a connection was lost, a lock was not granted. SourceChanged is
    retried as well: the file was still being written.
    """
    return bool(problem.get("retryable")) or problem.get("kind") == "SourceChanged"


def pause_after(run: ScheduleRun) -> float:
    """The seconds until the next attempt after one that has failed: twice as many after each failure."""
    pause: float = run.schedule.backoff_seconds * 2**run.failures
    return min(LONGEST_PAUSE, pause)


def tries_what_is_left(schedule: Schedule) -> bool:
    """Whether a new run may begin for files alone that the last run has left.

    The last run failed by a temporary problem, and another pause has passed since.
    """
    last = schedule.runs.exclude(status=ScheduleRun.Status.SKIPPED).select_related("schedule").first()
    if not last or last.status != ScheduleRun.Status.FAILED or not is_retryable(last.problem):
        return False
    return not last.finished_at or last.finished_at + timedelta(seconds=pause_after(last)) <= timezone.now()


def stops_the_run(problem: dict[str, Any]) -> bool:
    """Whether the run's other files would meet the problem, too: it is about the server, the table or the header."""
    return problem.get("kind") not in OF_ONE_FILE
