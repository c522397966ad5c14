"""Imports a file that was imported before: once for each request, with the settings of the earlier import."""

from dataclasses import replace

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Max

from importer.access.policy import require_admin
from importer.connections.source_location import location_of
from importer.engine.errors import Problem, SourceProblem
from importer.engine.plan.options import Options
from importer.engine.reading.other_file import profile_like
from importer.engine.source.formats.header_names import header_difference
from importer.jobs.actions.commands import create, start
from importer.models import ImportJob, SourceFile
from importer.preparation.like import header_of, new_table_again, options_again
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest
from importer.sources import uploads
from importer.sources.several import as_one
from importer.sources.upload_storage import is_there


def create_once(prepared: PreparedImport, user: User | None, rejects_of: ImportJob | None = None) -> ImportJob:
    """Create the job as create() does. Raises Problem while one of this file into this table is active.

    A second click must not load the file twice, by itself or together with others.
    """
    with transaction.atomic():
        _lock(prepared.source)
        same = (
            uploads.imports_of(prepared.source, *prepared.source.files)
            .filter(target=prepared.target, schema_name=prepared.table.schema, table_name=prepared.table.name)
            .exclude(status__in=ImportJob.ENDED)
        )
        if job := same.first():
            raise Problem(
                f"This file is being imported into {job.table} already, by import {job.pk}.",
                where=prepared.source.name,
                advice="Wait until it has ended, or cancel it.",
            )
        return create(prepared, user, rejects_of)


def unfinished(prepared: PreparedImport, user: User | None) -> ImportJob | None:
    """The import that the same command has begun before, and that is not cancelled and has not ended; None without one.

    It was created by the same person and has the same file, by its name and content, read in the same way into the same
    table and columns, in the same mode. A file that is still arriving is compared with none: its content is not known.
    """
    source = prepared.source
    if not source.fingerprint:
        return None
    found = (
        ImportJob.objects.filter(created_by=user, trial=None, target=prepared.target)
        .filter(schema_name=prepared.table.schema, table_name=prepared.table.name)
        .filter(source__name=source.name, source__size=source.size, source__fingerprint=source.fingerprint)
        .filter(options_json__mode=prepared.options.mode)
        .exclude(status__in=(*ImportJob.ENDED, *ImportJob.ENDING))
    )
    read = (prepared.profile.dialect, prepared.mapping, prepared.fillings)
    same = (
        each
        for each in found.order_by("pk")
        if each.options.preview == prepared.options.preview and (each.file_dialect, each.mapping, each.fillings) == read
    )
    return next(same, None)


def _lock(source: SourceFile) -> None:
    """Lock the source and its files, in the order of their keys, so that one request at a time looks for imports."""
    keys = [source.pk, *(each.pk for each in source.files)]
    list(SourceFile.objects.select_for_update().filter(pk__in=keys).order_by("pk").values_list("pk"))


def newest_of_file(job: ImportJob) -> int:
    """The number of the newest import of the job's file, by itself or with others, into the job's table."""
    same = uploads.imports_of(job.source, *job.source.files).filter(
        target=job.target, schema_name=job.schema_name, table_name=job.table_name, trial=None
    )
    newest: int | None = same.order_by().aggregate(newest=Max("pk"))["newest"]
    return newest or job.pk


def imported_since(number: int, table: str, file: str) -> Problem:
    """The problem of a request that was made without knowledge of a newer import of the file into the table."""
    return Problem(
        f"Import {number} of this file into {table} was started after the page was shown.",
        where=file,
        advice=f"Look at import {number} first. Start again only if the file is to be loaded twice.",
    )


def run_again(job: ImportJob, newest: int, user: User | None = None, *, options: Options | None = None) -> ImportJob:
    """Import the job's file once more, with its settings, as a new import, and start it.

    `newest`: what newest_of_file() said when the request was made. `options`: instead of the job's. Raises Problem if
    the file was imported since, so that a request that is sent twice loads nothing twice; if the file is gone, or now
    has another format; and for any obstacle of a new import.
    """
    request = request_of(job)
    request = replace(request, options=options) if options else request
    source = _file_of(job)
    if source.pk != job.source_id:
        _refuse_other_format(job, source)
    prepared = prepare(source, job.target, job.table, request)
    with transaction.atomic():
        _lock(job.source)
        since = newest_of_file(job)
        if since > newest:
            raise imported_since(since, job.table, job.source.name)
        again = create_once(prepared, user, job.rejects_of)
    start(again.pk)
    return again


def request_of(job: ImportJob) -> ImportRequest:
    """The request that makes the same import again."""
    made = {"new_table": new_table_again(job), "added_columns": job.plan.added_columns}
    return ImportRequest.like(job, options=options_again(job), accept_guesses=True, **made)


def is_file_there(job: ImportJob) -> bool:
    """Whether the job's file can still be read, as far as this machine knows: nobody asks a connection."""
    return all(map(is_there, job.source.files))


def is_readable(job: ImportJob, user: User | AnonymousUser) -> bool:
    """Whether the file is there, and the user may read and import it."""
    return uploads.importable_by(user).filter(pk=job.source_id).exists() and is_file_there(job)


def _file_of(job: ImportJob) -> SourceFile:
    """The job's file. Raises SourceProblem if it is gone, and Forbidden if only an admin may load what it is now."""
    source = job.source
    if not is_file_there(job):
        raise SourceProblem(
            f"The file of import {job.pk} is no longer on this server.",
            where=source.name,
            advice="Choose “Edit and run again”, and upload it once more: the settings are kept.",
        )
    return as_one([_as_it_is(each) for each in source.files])


def _refuse_other_format(job: ImportJob, now: SourceFile) -> None:
    """Raise SourceProblem if the file, which has changed, is no longer read as the job read it."""
    profile = profile_like(location_of(now), job.file_dialect, [each.column for each in job.mapping])
    differences = [each.evidence for each in profile.differing]
    if header := header_difference(header_of(job), profile.header):
        differences.append(f"The header changed: {header}.")
    if differences:
        raise SourceProblem(
            f"The file has changed since import {job.pk}. {differences[0]}",
            where=now.name,
            advice="Import it as a new file, which shows its columns and asks what is not certain.",
        )


def _as_it_is(source: SourceFile) -> SourceFile:
    """The file as it is now. Raises Forbidden if it lies on this server, has changed, and only an admin may load it."""
    if source.owned or source.connection_id:
        return source
    now = uploads.register(source.file, source.server_path)
    if now.pk != source.pk:
        require_admin("load a file of this server that has changed")
    return now
