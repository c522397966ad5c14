"""The outcomes of an import: their words, exit codes and colours, which all doors share (docs/contracts.md)."""

from dataclasses import dataclass

from importer.engine.errors import Cancelled, Problem, TargetUnreachable
from importer.engine.reading.questions import NeedsAnswer
from importer.models import ImportJob

Status = ImportJob.Status


@dataclass(frozen=True)
class Outcome:
    """How an import ended. `colour` is Tabler's name of it."""

    words: str
    exit_code: int
    colour: str

    def __str__(self) -> str:
        return self.words


SUCCEEDED = Outcome("succeeded", 0, "green")
WITH_REJECTS = Outcome("completed with rejects", 5, "yellow")
NEEDS_ANSWER = Outcome("needs an answer", 3, "blue")
REFUSED = Outcome("refused", 4, "red")
FAILED = Outcome("failed", 6, "red")
UNREACHABLE = Outcome("target unreachable", 7, "red")
CANCELLED = Outcome("cancelled", 8, "secondary")
RESTORED = Outcome("restored", 0, "secondary")
OUTCOMES = (SUCCEEDED, WITH_REJECTS, NEEDS_ANSWER, REFUSED, FAILED, UNREACHABLE, CANCELLED, RESTORED)


def outcome(job: ImportJob) -> Outcome | None:
    """The outcome of a job that has ended; None of one that is under way."""
    if not job.ended:
        return None
    if job.status == Status.CANCELLED:
        return CANCELLED
    if job.status == Status.FAILED or not job.balanced:
        return UNREACHABLE if job.problem.get("kind") == TargetUnreachable.__name__ else FAILED
    if job.restored_at:
        return RESTORED
    return WITH_REJECTS if job.rejected_rows else SUCCEEDED


def outcome_words(job: ImportJob) -> str:
    """The outcome of a job in words; the status of one that is under way."""
    ended = outcome(job)
    return ended.words if ended else job.status


def outcome_of(problem: Problem) -> Outcome:
    """The outcome of an import that did not begin because of the problem."""
    if isinstance(problem, NeedsAnswer):
        return NEEDS_ANSWER
    if isinstance(problem, Cancelled):
        return CANCELLED
    return UNREACHABLE if isinstance(problem, TargetUnreachable) else REFUSED


def words_of(status: str, rejected: int | None) -> str:
    """The status of an import or of a schedule's run in words; one that left rows out has an outcome of its own."""
    return WITH_REJECTS.words if status == Status.SUCCEEDED and rejected else status
