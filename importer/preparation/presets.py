"""Mappings that people save and use again, for files with the same header."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from importer.connections.places import location_of
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect
from importer.engine.schema.table import Table, read_table
from importer.engine.source.profile.profile import profile_file
from importer.engine.stored import to_json
from importer.models import ImportJob, MappingPreset, Schedule
from importer.preparation.prepare import PreparedImport


def save(name: str, prepared: PreparedImport, user: User | None = None) -> MappingPreset:
    """Keep how a file is about to be imported. Raises Problem if the name is taken or is none."""
    preset = MappingPreset(
        target=prepared.target,
        schema_name=prepared.table.schema,
        table_name=prepared.table.name,
        header=list(prepared.profile.header),
        dialect_json=to_json(prepared.profile.dialect),
        mapping_json=[to_json(each) for each in prepared.mapping],
        fillings_json=[to_json(each) for each in prepared.fillings],
        options_json=to_json(prepared.options),
        columns_json=column_types(prepared.table),
        created_by=user,
        used_at=timezone.now(),
    )
    _name(preset, name)
    return preset


def save_from_job(name: str, job: ImportJob, user: User | None = None) -> MappingPreset:
    """Keep how a file was imported. Raises Problem as save() does, and if file or table are no longer there."""
    with connect(job.target.address) as connection:
        table = read_table(connection, job.schema_name, job.table_name)
    preset = MappingPreset(
        target=job.target,
        schema_name=job.schema_name,
        table_name=job.table_name,
        header=list(profile_file(location_of(job.source), job.file_dialect).header),
        dialect_json=to_json(job.file_dialect),
        mapping_json=job.mapping_json,
        fillings_json=job.fillings_json,
        options_json=job.options_json,
        columns_json=column_types(table),
        created_by=user,
        used_at=timezone.now(),
    )
    _name(preset, name)
    return preset


def rename(preset: MappingPreset, name: str) -> None:
    """Raises Problem if the name is taken or is none."""
    _name(preset, name)


def by_name(name: str) -> MappingPreset:
    """Raises Problem, with the names there are, if there is none of that name."""
    preset = MappingPreset.objects.select_related("target").filter(name=name).first()
    if preset:
        return preset
    known = ", ".join(MappingPreset.objects.values_list("name", flat=True)[:20]) or "none yet"
    raise Problem(f"There is no preset named {name}.", advice=f"Known: {known}.")


def for_header(header: Sequence[str]) -> list[MappingPreset]:
    """Those that were saved for a file with this header, ignoring case and outer spaces; the last used first."""
    wanted = normalized_names(header)
    found = MappingPreset.objects.select_related("target").order_by("-used_at", "name")
    return [preset for preset in found if normalized_names(preset.header) == wanted]


def check_header(preset: MappingPreset, header: Sequence[str]) -> None:
    """Raise Problem if the preset was saved for files with another header."""
    if difference := header_difference(preset.header, header):
        raise Problem(
            f"The preset {preset.name} is for files with another header: {difference}.",
            advice="Import without it, and save the result as a new preset.",
        )


def header_difference(then: Sequence[str], now: Sequence[str]) -> str:
    """What tells two headers apart, in words, ignoring case and outer spaces; "" if they are the same."""
    if normalized_names(then) == normalized_names(now):
        return ""
    gone = [name for name in then if normalized_names([name])[0] not in normalized_names(now)]
    new = [name for name in now if normalized_names([name])[0] not in normalized_names(then)]
    words = [f"{', '.join(names)} {verb}" for names, verb in ((gone, "missing"), (new, "new")) if names]
    return "; ".join(words) or "the order differs"


def differences(saved: MappingPreset | Schedule, table: Table) -> list[str]:
    """What has changed in the table since it was saved, in words; nothing if its columns are the same."""
    then, now = dict(saved.columns_json), dict(column_types(table))
    gone = [f"{name} is gone" for name in then if name not in now]
    new = [f"{name} is new" for name in now if name not in then]
    changed = [f"{name} was {then[name]}, is {now[name]}" for name in then if now.get(name, then[name]) != then[name]]
    return gone + new + changed


def mark_used(preset: MappingPreset) -> None:
    MappingPreset.objects.filter(pk=preset.pk).update(used_at=timezone.now())


def _name(preset: MappingPreset, name: str) -> None:
    preset.name = name.strip()
    try:
        preset.clean_fields(exclude={each.name for each in MappingPreset._meta.fields} - {"name"})
        preset.validate_unique()
    except ValidationError as error:
        said = " ".join(message for messages in error.message_dict.values() for message in messages)
        raise Problem(f"{preset.name!r} cannot be the preset's name. {said}", advice="Choose another name.") from error
    preset.save()


def column_types(table: Table) -> list[list[str]]:
    """Name and full type of each column, as they are kept to tell what has changed."""
    return [[column.name, column.type] for column in table.columns]


def normalized_names(header: Sequence[str]) -> list[str]:
    """The names as they are compared."""
    return [name.strip().lower() for name in header]
