"""Presets: stored mappings with dialect and options, for files with equal headers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone

from importer.access import limits
from importer.access.acting import acting_user
from importer.access.policy import require, seen
from importer.connections.source_location import location_of
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, check_values
from importer.engine.mapping.transforms import check_words
from importer.engine.mysql.connection import connect
from importer.engine.plan.options import Options, check_options
from importer.engine.plan.stored_plan import options_as_now
from importer.engine.reading.other_file import COMPARED, profile_like
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.header_names import normalized_names
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import Profile
from importer.engine.stored import from_json, to_json
from importer.engine.units import count_of
from importer.models import ImportJob, Level, MappingPreset, Schedule, SourceFile, Target
from importer.preparation.like import fields_difference, header_of
from importer.preparation.loadable_tables import read_loadable
from importer.preparation.prepare import PreparedImport, prepare, require_load
from importer.preparation.request import ImportRequest, Wish, format_of, options_of

# The fields in which a schedule has a copy of its preset.
RECIPE = (
    *("target", "schema_name", "table_name", "header", "columns_json"),
    *("dialect_json", "mapping_json", "fillings_json", "options_json"),
)
LONGEST_SHOWN = 80  # characters of a wrong name in a message
NOTHING_STATED: Wish = {}
# What a preset decides, by the names in a wish; of the format all but statable().
OF_A_PRESET = ("like", "match", "null", "columns", "generated", "add_columns", "ignore_fields", "new_table")


def save(name: str, prepared: PreparedImport, user: User | None = None) -> MappingPreset:
    """Save a prepared import's settings as a preset.

    Raises Problem if the name is taken or invalid, TooMany if the user has as many as allowed.
    """
    preset = MappingPreset(**_recipe(prepared), created_by=user)
    with limits.one_more(limits.PRESETS, user):
        _name(preset, name)
    return preset


def _recipe(prepared: PreparedImport) -> dict[str, Any]:
    """The fields of a preset that a prepared import decides. Raises Problem if its table is not yet as it needs it."""
    if added := prepared.plan.added_columns:
        raise Problem(
            f"{prepared.table.name} does not have the column {added[0].name} yet.",
            advice="Start the import, which adds it. Then save the import as a preset, on its page.",
        )
    return {
        **prepared.recipe,
        "header": list(prepared.profile.header),
        "columns_json": column_types(prepared.table),
        "used_at": timezone.now(),
    }


def save_from_job(name: str, job: ImportJob, user: User | None = None) -> MappingPreset:
    """Save a job's settings as a preset. Raises Problem as save() does, and if its table no longer exists."""
    preset = MappingPreset(**recipe_of(job), created_by=user, used_at=timezone.now())
    with limits.one_more(limits.PRESETS, user):
        _name(preset, name)
    return preset


def recipe_of(job: ImportJob) -> dict[str, Any]:
    """The fields of RECIPE for a preset or a schedule like the job. Raises Problem if its table no longer exists."""
    with connect(job.target.address) as connection:
        table = read_loadable(connection, job.target, job.schema_name, job.table_name)
    own = {"header": header_of(job), "columns_json": column_types(table)}
    return {name: getattr(job, name) for name in RECIPE if name not in own} | own


def replace(preset: MappingPreset, prepared: PreparedImport) -> MappingPreset:
    """Give a preset the settings of a prepared import. Schedules that were made with it keep theirs.

    Raises Forbidden unless the acting person made it, or may load into its table.
    """
    require(Level.LOAD, preset, owner=True)
    return _changed(preset, _recipe(prepared))


def rename(preset: MappingPreset, name: str) -> None:
    """Rename the preset. Raises Problem if the name is taken or invalid."""
    _name(preset, name)


def by_name(name: str) -> MappingPreset:
    """The preset of this name. Raises Problem, with the existing names, if there is none."""
    preset = seen(MappingPreset.objects.select_related("target")).filter(name=name).first()
    if preset:
        return preset
    known = ", ".join(seen(MappingPreset.objects.all()).values_list("name", flat=True)[:20]) or "none yet"
    raise Problem(f"There is no preset named {name}.", advice=f"Known: {known}.")


def all_seen() -> QuerySet[MappingPreset]:
    """The presets that the acting person may see, by name."""
    return seen(MappingPreset.objects.select_related("target")).order_by("name")


@dataclass(frozen=True)
class ExportedPreset:
    """A preset for another installation. `table` is SCHEMA.TABLE; `columns`: name and type of each of its columns."""

    name: str
    target: str
    table: str
    header: tuple[str, ...]
    dialect: Dialect
    mapping: tuple[ColumnMapping, ...]
    fillings: tuple[GeneratedColumn, ...]
    options: Options
    columns: tuple[tuple[str, str], ...]


def exported(preset: MappingPreset | Schedule) -> ExportedPreset:
    """The preset for another installation; of a schedule, the recipe that it has from an import or a preset."""
    return ExportedPreset(
        name=preset.name,
        target=preset.target.name,
        table=preset.table,
        header=tuple(preset.header),
        dialect=preset.file_dialect,
        mapping=preset.mapping,
        fillings=preset.fillings,
        options=preset.options,
        columns=tuple((name, type_) for name, type_ in preset.columns_json),
    )


def read_exported(values: Mapping[str, Any]) -> ExportedPreset:
    """The preset that exported() gave, from its JSON. Raises Problem for anything else."""
    import msgspec

    advice = "Export the preset again, and change nothing in the file."
    if isinstance(options := values.get("options"), dict):
        values = {**values, "options": options_as_now(options)}
    try:
        preset = from_json(ExportedPreset, values)
    except msgspec.MsgspecError as error:
        raise Problem(f"That is no exported preset: {error}.", advice=advice) from error
    if len(preset.mapping) != len(preset.header):
        what = f"The preset has {count_of(len(preset.header), 'field')}, and columns for {len(preset.mapping)}."
        raise Problem(what, advice=advice)
    check_options(preset.options)
    for each in preset.mapping:
        check_words(each.transforms, each.datetime_format)
        check_values(each.values, each.column)
    return preset


def save_exported(preset: ExportedPreset, target: Target, table_name: str, user: User | None = None) -> MappingPreset:
    """Save an exported preset for this target. `table_name`: another table than its own, or "".

    Raises Problem as save() does, and Forbidden unless the acting person may load into the table. Whether the table is
    there, and as it was, is seen when the preset is used.
    """
    saved = unsaved(preset, target, table_name or preset.table.rpartition(".")[2])
    saved.created_by = user
    with limits.one_more(limits.PRESETS, user):
        _name(saved, preset.name)
    return saved


def replace_exported(preset: MappingPreset, by: ExportedPreset, target: Target) -> None:
    """Give a preset the settings and the table of an exported one, as replace() does."""
    require(Level.LOAD, preset, owner=True)
    made = unsaved(by, target, by.table)
    _changed(preset, {name: getattr(made, name) for name in RECIPE})


def _changed(preset: MappingPreset, recipe: Mapping[str, Any]) -> MappingPreset:
    for name, value in recipe.items():
        setattr(preset, name, value)
    preset.changed_by, preset.changed_at = acting_user(), timezone.now()
    preset.save()
    return preset


def unsaved(preset: ExportedPreset, target: Target, table_name: str) -> MappingPreset:
    """The exported preset for this target and table, not yet saved. Raises Forbidden as save_exported() does."""
    schema, table = require_load(target, table_name)
    return MappingPreset(
        name=preset.name,
        target=target,
        schema_name=schema,
        table_name=table,
        header=list(preset.header),
        dialect_json=to_json(preset.dialect),
        mapping_json=[to_json(each) for each in preset.mapping],
        fillings_json=[to_json(each) for each in preset.fillings],
        options_json=to_json(preset.options),
        columns_json=[list(each) for each in preset.columns],
    )


def for_header(header: Sequence[str]) -> list[MappingPreset]:
    """The seen presets for this header, ignoring case and outer spaces; the last used first."""
    wanted = normalized_names(header)
    presets = seen(MappingPreset.objects.select_related("target")).order_by("-used_at", "name")
    return [preset for preset in presets if normalized_names(preset.header) == wanted]


def statable(preset: MappingPreset) -> frozenset[str]:
    """The fields of the dialect that may be stated for one file that is imported with the preset.

    Without its header the columns of a file would not be known.
    """
    return frozenset(COMPARED) - ({"header"} if preset.file_dialect.header else set())


def prepare_with(
    preset: MappingPreset, source: SourceFile, target: Target, table_name: str, wish: Wish = NOTHING_STATED
) -> PreparedImport:
    """Prepare an import of the file with the preset's format and columns, and what the wish says beside it.

    Raises NeedsAnswer if the file shows another encoding or other lines than the preset's file, and that is not
    accepted; Problem if its header is another one, and as prepare() does.
    """
    columns = [each.column for each in preset.mapping]

    def profiled(request: ImportRequest, _expected: Sequence[ExpectedColumn]) -> Profile:
        stated = request.known_format
        profile = profile_like(location_of(source), preset.file_dialect.stating(**stated), columns, stated)
        check_header(preset, profile.header)
        return profile

    request = ImportRequest.like(
        preset,
        options=options_of(wish.get("options", {}), preset.options),
        known_format=format_of(wish.get("format", {})),
        accept_guesses=wish.get("accept_guesses", False),
    )
    return prepare(source, target, table_name, request, profiled, wish.get("answers", {}))


def decided(preset: MappingPreset, wish: Wish) -> list[str]:
    """What the wish says although the preset decides it, such as `columns` or `format.delimiter`."""
    of_format = wish.get("format", {}).keys() - statable(preset)
    return [*(name for name in OF_A_PRESET if name in wish), *(f"format.{name}" for name in sorted(of_format))]


def check_header(preset: MappingPreset, header: Sequence[str]) -> None:
    """Raise Problem if the preset was saved for files with another header."""
    had_header = preset.file_dialect.header
    if difference := fields_difference(preset.header, preset.mapping, header, had_header=had_header):
        raise Problem(
            f"The preset {preset.name} is for files with another header: {difference}.",
            advice="Import without it, and save the result as a new preset.",
        )


def differences(saved: MappingPreset | Schedule, table: Table) -> list[str]:
    """The changes of the table's columns since they were saved, in words; empty if there are none."""
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
        texts = " ".join(message for messages in error.message_dict.values() for message in messages)
        shown = preset.name if len(preset.name) <= LONGEST_SHOWN else f"{preset.name[:LONGEST_SHOWN]}…"
        raise Problem(f"{shown!r} cannot be the preset's name. {texts}", advice="Choose another name.") from error
    preset.save()


def column_types(table: Table) -> list[list[str]]:
    """Name and full type of each column, as stored for a later comparison with the table."""
    return [[column.name, column.type] for column in table.columns]
