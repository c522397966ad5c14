"""Which outcome a job or a problem has. config/contracts/outcomes.py declares the outcomes."""

from django.db.models import CharField, Q, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce

from config.contracts.outcomes import (
    CANCELLED,
    FAILED,
    FOUND_BAD_ROWS,
    NEEDS_ANSWER,
    OUTCOMES,
    PREVIEWED,
    READER_GONE,
    REFUSED,
    RESTORED,
    SUCCEEDED,
    UNAPPROVED,
    UNDECIDED,
    UNKNOWN,
    UNREACHABLE,
    WITH_REJECTS,
    WRONG_USAGE,
    Colour,
    Outcome,
)
from importer.engine.errors import ApprovalRefused, Cancelled, Problem, TargetUnreachable, TooManyChanges, WrongUsage
from importer.engine.reading.questions import NeedsAnswer
from importer.models.job import ImportJob

__all__ = [
    "CANCELLED",
    "COMPLETE_IMPORTS",
    "FAILED",
    "FOUND_BAD_ROWS",
    "HELD_UP",
    "NEEDS_ANSWER",
    "OUTCOMES",
    "PREVIEWED",
    "READER_GONE",
    "REFUSED",
    "RESTORED",
    "SUCCEEDED",
    "UNAPPROVED",
    "UNDECIDED",
    "UNKNOWN",
    "UNREACHABLE",
    "WITH_REJECTS",
    "WRONG_USAGE",
    "Colour",
    "Outcome",
]

Status = ImportJob.Status
# Of an import that the target does not let end: its page says why.
HELD_UP = "held up"

_BY_WORDS = {each.words: each for each in OUTCOMES}


# The kind of a job's problem, for the conditions below; "" without a problem.
PROBLEM_KIND = Coalesce(Cast(KT("problem__kind"), CharField(max_length=64)), Value(""))
_KINDS = {
    UNREACHABLE.words: TargetUnreachable.__name__,
    REFUSED.words: ApprovalRefused.__name__,
    UNDECIDED.words: TooManyChanges.__name__,
}
_ADDED_UP = Q(status=Status.SUCCEEDED, balanced=True)
# The jobs of each outcome that a job can have, by its words: outcome() in the database. `kind` is PROBLEM_KIND.
CONDITIONS: dict[str, Q] = {
    SUCCEEDED.words: _ADDED_UP & Q(restored_at=None, rejected_rows=0),
    WITH_REJECTS.words: _ADDED_UP & Q(restored_at=None, rejected_rows__gt=0),
    **{words: Q(status=Status.FAILED, kind=kind) for words, kind in _KINDS.items()},
    FAILED.words: Q(status=Status.FAILED) & ~Q(kind__in=_KINDS.values()) | Q(status=Status.SUCCEEDED, balanced=False),
    CANCELLED.words: Q(status=Status.CANCELLED, previewed_at=None),
    PREVIEWED.words: Q(status=Status.CANCELLED, previewed_at__isnull=False),
    RESTORED.words: _ADDED_UP & Q(restored_at__isnull=False),
}

# Imports that can make up for one that lost rows or failed: what they have loaded is in the table. No trial of a lab is
# one: it loads into a scratch table.
COMPLETE_IMPORTS = ImportJob.objects.filter(status=Status.SUCCEEDED, balanced=True, restored_at=None)


def outcome(job: ImportJob) -> Outcome | None:
    """The outcome of a job that has ended; None of one that is under way."""
    if not job.ended:
        return None
    if job.status == Status.SUCCEEDED and not job.balanced:
        return FAILED
    if job.previewed_at:
        return PREVIEWED
    return _BY_WORDS[
        words_of(job.status, job.rejected_rows, job.problem.get("kind"), restored=job.restored_at is not None)
    ]


def reported(job: ImportJob) -> Outcome | None:
    """The outcome that a command reports: also of a job that has not ended, and waits for approval."""
    return UNAPPROVED if job.status == Status.UNAPPROVED else outcome(job)


def exit_code(job: ImportJob) -> int:
    """The exit code of a command that has followed the job to its outcome; 0 while it is under way."""
    now = reported(job)
    return now.exit_code if now else 0


def outcome_words(job: ImportJob) -> str:
    """The outcome of a job in words; the status of one that is under way, or that it is held up."""
    ended = outcome(job)
    if job.held_up:
        return HELD_UP
    return ended.words if ended else words_of(job.status, None)


def outcome_of(problem: Problem) -> Outcome:
    """The outcome of an import that did not begin because of the problem."""
    if isinstance(problem, NeedsAnswer):
        return NEEDS_ANSWER
    if isinstance(problem, Cancelled):
        return CANCELLED
    if isinstance(problem, WrongUsage):
        return WRONG_USAGE
    return UNREACHABLE if isinstance(problem, TargetUnreachable) else REFUSED


def words_of(status: str, rejected: int | None, kind: str | None = "", *, restored: bool = False) -> str:
    """The outcome in words, from the status of an import or of a schedule's run; the status where they are the same.

    `rejected`: the number of its rejected rows. `kind`: that of its problem. `restored`: the old table is back.
    """
    for words, its_kind in _KINDS.items():
        if status == Status.FAILED and kind == its_kind:
            return words
    if status == Status.UNAPPROVED:
        return UNAPPROVED.words
    if status == Status.SUCCEEDED and restored:
        return RESTORED.words
    return WITH_REJECTS.words if status == Status.SUCCEEDED and rejected else status
