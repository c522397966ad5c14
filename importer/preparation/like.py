"""An import like an earlier one: its format, columns and options, as far as they fit another file and another table.

So do *As last time* and *Edit and run again* on the page of a new import, and `--like`. What is stated beside it holds.
"""

import codecs
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from importer.access.policy import seen
from importer.connections.source_location import location_of
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, overrides_by_position
from importer.engine.mapping.suggest import suggest_mapping, with_override
from importer.engine.plan.options import Options
from importer.engine.reading.other_file import profile_like
from importer.engine.reading.stated import Stated
from importer.engine.schema.table import Table
from importer.engine.source.byte_source import SourceLocation, open_source, read_at
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8
from importer.engine.source.formats.header_names import header_difference, match_names, normalized_names
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.source.profile.sample import SAMPLE_BYTES
from importer.models import ImportJob, Lab, MappingPreset, SourceFile
from importer.preparation.request import (
    ImportRequest,
    NewTableRequest,
    Profiled,
    Wish,
    options_of,
)

Earlier = ImportJob | MappingPreset | Lab


def request_of(wish: Wish) -> ImportRequest:
    """What a wish without a preset asks for. Raises Problem for a value that cannot be read, and an unknown import."""
    asked = ImportRequest.of(wish)
    if not wish.get("like"):
        return asked
    job = by_number(wish["like"])
    new, made = asked.new_table or NewTableRequest(), new_table_again(job) or NewTableRequest()
    table = NewTableRequest(
        made.types | new.types,
        new.primary_key or made.primary_key,
        new.widen and made.widen,
        new.not_null or made.not_null,
    )
    return replace(
        asked,
        before=job,
        options=options_of(wish.get("options", {}), options_again(job)),
        new_table=table,
        stated=Stated(format=True, ignore_fields=wish.get("ignore_fields", False)),
    )


def by_number(number: int) -> ImportJob:
    """The import of this number. Raises Problem if there is none that the acting person may see."""
    job = seen(ImportJob.objects.select_related("target", "source")).filter(pk=number).first()
    if job is None:
        raise Problem(f"There is no import {number}.", advice="`millrace job list` has the latest.")
    return job


def options_again(job: ImportJob) -> Options:
    """The options of the job. Mode create becomes append once the table exists."""
    made = job.options.mode == "create" and job.finished
    return job.options.appending() if made else job.options


def new_table_again(job: ImportJob) -> NewTableRequest | None:
    """The types and the key that were chosen for the job's new table; None for a job that makes none."""
    if job.new_table is None:
        return None
    columns = job.new_table.columns
    types = {each.name: each.type for each in columns if each.name in job.new_table.stated}
    not_null = tuple(each.name for each in columns if not each.nullable)
    return NewTableRequest(types, job.new_table.primary_key, job.new_table.widen, not_null)


def header_of(job: ImportJob) -> list[str]:
    """The names of the fields of a job's file, which may be gone."""
    return [each.field for each in job.reading.columns]


def fields_difference(
    then: Sequence[str], mapping: Sequence[ColumnMapping], now: Sequence[str], *, had_header: bool
) -> str:
    """The difference of two headers in words; "" if the fields go into the columns of the mapping by position.

    Files without a header may have got one, with the columns in their order.
    """
    if had_header or len(then) != len(now) or normalized_names(then) == normalized_names(now):
        return header_difference(then, now)
    columns = [each.column for each in mapping]
    named = match_names(now, filter(None, columns))
    return "the columns are in another order" if any(named) and named != columns else ""


def profiling_like(job: ImportJob, source: SourceFile) -> Profiled:
    """How the file of a source is profiled: in the job's dialect, but for what the request says of its format."""

    def profiled(request: ImportRequest, _expected: object) -> Profile:
        known = request.known_format
        return profile_for(job, source, dialect_for(job, source).stating(**known), known)

    return profiled


def dialect_for(job: ImportJob, source: SourceFile) -> Dialect:
    """The job's dialect. Another file than the job's is read as UTF-8 if it certainly is that: many are saved so."""
    other = job.source_id != source.pk and utf8_start(location_of(source))
    return replace(job.file_dialect, encoding=UTF8) if other else job.file_dialect


def utf8_start(place: SourceLocation) -> bytes:
    """The first bytes of a file that certainly is UTF-8, with characters beyond ASCII; b"" of another one."""
    with open_source(place) as file:
        start = read_at(file, SAMPLE_BYTES, 0)
    try:
        text = codecs.getincrementaldecoder(UTF8)().decode(start)
    except UnicodeDecodeError:
        return b""
    return b"" if text.isascii() else start


def profile_for(before: Earlier, source: SourceFile, dialect: Dialect, known: Mapping[str, Any]) -> Profile:
    """The profile of a file in the dialect of an earlier one; what another file shows otherwise is asked about.

    `known`: the fields of the dialect that were stated for this file.
    """
    place = location_of(source)
    if isinstance(before, ImportJob | Lab) and before.source_id == source.pk:
        return profile_file(place, dialect)
    return profile_like(place, dialect, [each.column for each in before.mapping], known)


def mapping_for(
    before: Earlier, profile: Profile, table: str, columns: Collection[str] | None = None, *, other: bool = True
) -> tuple[ColumnMapping, ...] | None:
    """The mapping of the earlier import or preset if it fits this file and table; None otherwise.

    `table`: SCHEMA.TABLE. `columns`: those of the table, of which dropped ones become unmapped; None of a table that
    the import makes. `other`: the file is another one, and has to have the same header.
    """
    mapping = before.mapping
    if len(mapping) != len(profile.header) or before.table != table:
        return None
    if other and _header_difference(before, profile):
        return None
    if columns is None:
        return mapping
    known = {name.lower() for name in (*columns, "")}
    return tuple(each if each.column.lower() in known else ColumnMapping("") for each in mapping)


def _header_difference(before: Earlier, profile: Profile) -> str:
    """How the header differs, so that its fields cannot go into the same columns by position; "" if they can."""
    if isinstance(before, Lab):
        return _header_difference(before.of_job, profile) if before.of_job else "unknown"
    header = before.header if isinstance(before, MappingPreset) else header_of(before)
    return fields_difference(header, before.mapping, profile.header, had_header=before.file_dialect.header)


def fillings_for(
    before: Earlier, table: str, columns: Collection[str] | None, taken: Collection[str]
) -> tuple[GeneratedColumn, ...]:
    """The generated columns of the earlier import or preset that this table has, without those that are `taken`."""
    if before.table != table:
        return ()
    others = {each.lower() for each in taken}
    free = [each for each in before.fillings if each.column.lower() not in others]
    return tuple(each for each in free if columns is None or each.column.lower() in {name.lower() for name in columns})


def kept(before: Earlier, mapping: Sequence[ColumnMapping]) -> frozenset[int]:
    """The positions (from 0) of the fields whose column and format are as in the earlier import: they are answered."""
    pairs = enumerate(zip(mapping, before.mapping, strict=False))
    return frozenset(at for at, (now, then) in pairs if replace(now, null_markers=then.null_markers) == then)


def fitted(request: ImportRequest, profile: Profile, table_name: str, table: Table | None = None) -> ImportRequest:
    """The request with the columns of the import before it, as far as they fit the file and the table.

    What the request states holds. `table`: None if the import makes it.
    """
    before, columns = request.before, table.column_names if table else None
    if before is None:
        return request
    found = None
    if not request.match and (table or before.new_table):
        found = mapping_for(before, profile, table_name, columns)
    mapping = None if found is None else _stating(request, found, profile, table)
    taken = [*(each.column for each in mapping or ()), *_given(request)]
    fillings = (*request.fillings, *fillings_for(before, table_name, columns, taken))
    if mapping is None:
        return replace(request, fillings=fillings)
    stated = replace(request.stated or Stated(), mapping=mapping == before.mapping)
    stated = stated.keeping(kept(before, mapping))
    return replace(request, mapping=mapping, fillings=fillings, stated=stated)


def _given(request: ImportRequest) -> list[str]:
    """The columns for which the request itself has a field or a value."""
    fields, values = [each.column for each in request.overrides], [each.column for each in request.fillings]
    return [each for each in (*fields, *values) if each]


def _stating(
    request: ImportRequest, mapping: Sequence[ColumnMapping], profile: Profile, table: Table | None
) -> tuple[ColumnMapping, ...]:
    """The mapping with what the request says of single fields, and of NULL markers."""
    fixed = overrides_by_position(request.overrides, profile.header)
    suggested = suggest_mapping(profile, table, request.null_markers, "", request.overrides) if table and fixed else ()
    taken = {each.lower() for each in _given(request)}
    stated = []
    for number, each in enumerate(mapping):
        override = fixed.get(number)
        if override is None:
            stated.append(ColumnMapping("") if each.column.lower() in taken else _marked(each, request, table))
        elif not override.column or (suggested and override.column.lower() != each.column.lower()):
            stated.append(suggested[number] if suggested else ColumnMapping(""))
        else:
            marked = _marked(each if table else replace(each, column=override.column), request, table)
            stated.append(with_override(marked, override))
    return tuple(stated)


def _marked(each: ColumnMapping, request: ImportRequest, table: Table | None) -> ColumnMapping:
    """The field with the NULL markers that the request has for all columns, where its column takes NULL."""
    if request.null_markers is None or not each.column:
        return each
    column = table.column(each.column) if table else None
    takes = column is None or column.nullable or column.auto_increment
    return replace(each, null_markers=tuple(request.null_markers) if takes else ())


def differences(request: ImportRequest, profile: Profile, table_name: str) -> tuple[str, ...]:
    """Why the import is not like the one before it in its columns, in words."""
    before = request.before
    if before is None or request.match:
        return ()
    if before.table != table_name:
        return (f"Import {before.pk} went into {before.table}: only its format and options are taken.",)
    if difference := _header_difference(before, profile):
        return (f"Import {before.pk} had another header ({difference}): only its format and options are taken.",)
    return ()
