"""Corrects rejected rows: a draft for each person and row, and an import of the corrected rows.

A row that an import has taken is never offered again, to nobody: it could be in the table twice.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from importer.engine.errors import Problem
from importer.engine.load.rejects.fixes import RejectedCell, cells, fixed_record
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.source.records.refused import is_marked
from importer.engine.target.write_modes import CHANGING
from importer.jobs.actions.again import request_of
from importer.jobs.actions.commands import create, start
from importer.jobs.rejects import downloads, origin
from importer.jobs.rejects.rows import Place, RejectedRecord, rows_at
from importer.models import ImportJob, RowFix, SourceFile
from importer.preparation.like import options_again
from importer.preparation.prepare import prepare
from importer.sources import parts, uploads

# Drafts of one person for one import, and characters of a value that can be edited.
MOST_FIXES = 5_000
LONGEST_EDITED = 10_000


@dataclass(frozen=True)
class Fixes:
    """The corrections of an import's rejected rows as a person sees them.

    `own`: the person's drafts. `taken`: the import that took the row, None if that was deleted. `taken_texts`: the
    texts with which it took the row, empty if they are no longer kept. `changed_at`: when the last draft was entered.
    """

    own: Mapping[Place, Sequence[str]]
    taken: Mapping[Place, ImportJob | None]
    taken_texts: Mapping[Place, Sequence[str]]
    changed_at: datetime | None


def can_be_fixed(job: ImportJob) -> bool:
    """Whether rejected rows can be corrected here: the import has ended, and what it loaded has stayed.

    An import that stages and has not finished has loaded nothing: a retry reads the same rows again from the file.
    """
    has_loaded = job.finished or not job.stages
    kept = not job.chunks_removed_at and not job.restored_at
    return job.ended and bool(job.rejected_rows) and has_loaded and kept


def fixes_of(job: ImportJob, person: User) -> Fixes:
    """The person's drafts, and the rows that were taken already, by whomever."""
    stored = RowFix.objects.filter(job=job, key=job.key).select_related("taken_by")
    drafts = {(each.chunk, each.place): each for each in stored.filter(person=person, taken_at=None).order_by("pk")}
    gone = {(each.chunk, each.place): each for each in stored.exclude(taken_at=None)}
    own = {place: each for place, each in drafts.items() if place not in gone}
    return Fixes(
        {place: each.texts for place, each in own.items()},
        {place: each.taken_by for place, each in gone.items()},
        {place: each.texts for place, each in gone.items()},
        max((each.changed_at for each in own.values() if each.changed_at), default=None),
    )


def cells_of(job: ImportJob, row: RejectedRecord) -> list[RejectedCell]:
    """The fields of a rejected row, without its mark if it has one; at least as many as the file has."""
    found = cells(row.record, job.dialect)
    if is_marked(row.record, job.dialect):
        found = found[:-1]
    return [*found, *[RejectedCell(b"", "")] * (len(job.mapping) - len(found))]


def texts_of(job: ImportJob, person: User, row: RejectedRecord) -> list[str]:
    """The texts of the row's fields: those of the person's draft, or else as they are in the file."""
    before = [each.text for each in cells_of(job, row)]
    draft = fixes_of(job, person).own.get(row.at, before)
    return [draft[number] if number < len(draft) else text for number, text in enumerate(before)]


def undo_fix(job: ImportJob, person: User, row: RejectedRecord) -> None:
    """Take the person's draft of a row back. Raises Problem as save_fix() does."""
    save_fix(job, person, row, [each.text for each in cells_of(job, row)])


def save_fix(job: ImportJob, person: User, row: RejectedRecord, texts: Sequence[str]) -> None:
    """Keep the texts of the row's fields as the person's draft; no draft is kept of a row as it was.

    Raises Problem for a value that the file cannot express, too many drafts, and a row that has been loaded since.
    """
    if not can_be_fixed(job) or not row.record:
        raise Problem("This row cannot be corrected here.", advice="Download the reject file, and correct it there.")
    before = [each.text for each in cells_of(job, row)]
    drafts = RowFix.objects.filter(job=job, key=job.key, person=person)
    if list(texts) == before:
        drafts.filter(chunk=row.chunk, place=row.place, taken_at=None).delete()
        return
    fixed_record(row.record, job.dialect, texts, len(job.mapping))
    with transaction.atomic():
        ImportJob.objects.select_for_update().get(pk=job.pk)
        if row.at in fixes_of(job, person).taken:
            raise Problem("This row has already been loaded.", advice="Reload the page.")
        if drafts.filter(taken_at=None).count() >= MOST_FIXES:
            raise Problem(f"{MOST_FIXES:,} rows are corrected already.", advice="Load these first.")
        drafts.update_or_create(
            job=job, key=job.key, chunk=row.chunk, place=row.place, person=person, defaults={"texts": list(texts)}
        )


def load_fixed(job: ImportJob, person: User) -> tuple[ImportJob, int]:
    """Import the person's corrected rows into the job's table, with the job's settings, and start that.

    Returns the new import and its number of rows. Raises Problem if no row waits for that, if the rows are gone, and
    for any obstacle of a new import; then the drafts stay.
    """
    drafts = fixes_of(job, person).own if can_be_fixed(job) else {}
    if not drafts:
        raise Problem("No corrected row waits to be loaded.", advice="Correct rows first; each is loaded once.")
    rows = [each for each in rows_at(job, drafts.keys()) if each.record]
    if len(rows) != len(drafts):
        raise Problem("Some of the corrected rows are no longer kept.", advice=downloads.FIND_THEM)
    fillings = _fillings(job, rows)
    records = [fixed_record(each.record, job.dialect, drafts[each.at], len(job.mapping)) for each in rows]
    source = _upload(job, b"".join(downloads.fixed_file(job, records)), person)
    try:
        started = _take(job, source, person, drafts, fillings)
    except Problem:
        uploads.remove(source)
        raise
    start(started.pk)
    return started, len(rows)


def _fillings(job: ImportJob, rows: Sequence[RejectedRecord]) -> tuple[GeneratedColumn, ...]:
    """The job's generated columns with the values of these rows. Raises Problem if one column has several of them."""
    files, lines = {each.file or job.source.name for each in rows}, {each.line for each in rows}
    fillings = origin.with_origin(job.fillings, files, lines)
    if columns := origin.columns_of_place(fillings):
        raise Problem(
            "The corrected rows would get other values than theirs: these columns have each row's place in its file.",
            where=f"{job.table}, {', '.join(columns)}",
            advice="Correct and load the rows of one file at a time, and row by row if a column has the line. Or"
            " download the reject file and the CSV with the reasons, which has line and file of each row; write these"
            " into the rows as fields, and load the file by a new import.",
        )
    return fillings


def _upload(job: ImportJob, content: bytes, person: User) -> SourceFile:
    source = uploads.begin_upload(downloads.file_name(job, "fixed"), len(content), person)
    parts.append(source, 0, io.BytesIO(content), len(content))
    return uploads.finish(source)


def _take(
    job: ImportJob,
    source: SourceFile,
    person: User,
    drafts: Mapping[Place, Sequence[str]],
    fillings: Sequence[GeneratedColumn],
) -> ImportJob:
    """Create the import of the corrected rows, and note with each that it is taken. Both or none of it."""
    options = options_again(job)
    into_table = options if options.mode in CHANGING else options.appending()
    options = replace(into_table, on_error="reject").without_limit()
    dialect = job.file_dialect.of_rejects
    request = replace(request_of(job), options=options, new_table=None, dialect=dialect, fillings=fillings)
    prepared = prepare(source, job.target, job.table, request)
    with transaction.atomic():
        ImportJob.objects.select_for_update().get(pk=job.pk)
        if fixes_of(job, person).own != drafts:
            raise Problem("The corrected rows have changed since.", advice="Reload the page, and check them.")
        started = create(prepared, person, job)
        waiting = RowFix.objects.filter(job=job, key=job.key, person=person, taken_at=None)
        taken = [each.pk for each in waiting if (each.chunk, each.place) in drafts]
        waiting.filter(pk__in=taken).update(taken_by=started, taken_at=timezone.now())
    return started


def forget(job: ImportJob) -> None:
    """Delete the values of the job's corrected rows, with its rejected rows. Which were taken stays known."""
    RowFix.objects.filter(job=job, taken_at=None).delete()
    RowFix.objects.filter(job=job).update(texts=[])
