"""Whether the table would take a fix of a rejected row, and the outcome in the import that took it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.load.rejects.fixes import fixed_record
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect
from importer.engine.validation import ValidationRules
from importer.jobs.actions.fixes import Fixes
from importer.jobs.rejects.rows import Place, RejectedRecord, rows
from importer.models import ImportJob
from importer.preparation.row_problems import row_errors

_OUTCOMES = {
    ImportJob.Status.SUCCEEDED: "Fixed",
    ImportJob.Status.FAILED: "Failed",
    ImportJob.Status.CANCELLED: "Cancelled",
}


@dataclass(frozen=True)
class _Bytes:
    """Bytes that are read as a file."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]


def draft_problems(job: ImportJob, found: Iterable[RejectedRecord], known: Fixes) -> dict[Place, str]:
    """Why the table would not take a row with the values of the person's draft, by the rows that it would not take.

    The rules are those of the import's plan: the table may have changed since, and the server may find more.
    """
    drafts = [(each, known.own[each.at]) for each in found if each.at in known.own and each.record]
    rules = job.plan.exactness if drafts else None
    if not rules:
        return {}
    width, dialect = len(job.mapping), job.dialect
    why = {
        row.at: _error(fixed_record(row.record, dialect, texts, width), row.line, dialect, rules)
        for row, texts in drafts
    }
    return {at: words for at, words in why.items() if words}


def _error(record: bytes, line: int, dialect: Dialect, rules: ValidationRules) -> str:
    chunk = ChunkRange(0, 0, len(record), 1, line, "")
    error = row_errors(ChunkSource(_Bytes(record), Path(), chunk, dialect), rules).get(0)
    if not error:
        return ""
    return f"{error.column}: {error.reason}" if error.column else error.reason


def fix_outcomes(job: ImportJob, found: Iterable[RejectedRecord], known: Fixes) -> dict[Place, str]:
    """The outcome of each fixed row in the import that took it, in a word or two; without rows whose import is gone."""
    shown = {each.at: each for each in found}
    by_import: dict[int, list[Place]] = {}
    imports: dict[int, ImportJob] = {}
    for at, by in known.taken.items():
        if by and at in shown:
            imports[by.pk] = by
            by_import.setdefault(by.pk, []).append(at)
    outcomes: dict[Place, str] = {}
    for pk, places in by_import.items():
        by = imports[pk]
        again = _rejected_again(job, by, [shown[at] for at in places], known)
        outcome = _OUTCOMES.get(ImportJob.Status(by.status), "Being loaded")
        outcomes |= {at: "Rejected again" if at in again else outcome for at in places}
    return outcomes


def _rejected_again(job: ImportJob, by: ImportJob, taken: list[RejectedRecord], known: Fixes) -> set[Place]:
    """Which of these rows the import has rejected: it has their corrected records among its rejected rows."""
    if not by.rejected_rows:
        return set()
    if by.rejected_rows == by.accounted_rows:
        return {each.at for each in taken}
    width, dialect = len(job.mapping), job.dialect
    records = {_bare(each.record) for each in rows(by, None, 0, by.rejected_rows)}
    sent = {
        each.at: _bare(fixed_record(each.record, dialect, known.taken_texts[each.at], width))
        for each in taken
        if each.record and known.taken_texts[each.at]
    }
    return {at for at, record in sent.items() if record in records}


def _bare(record: bytes) -> bytes:
    return record.rstrip(b"\r\n")
