"""Shows how a file's header and the table differ from the schedule's, and stores the new header if somebody accepts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F

from importer.access import approval
from importer.connections.source_location import location_of
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, FieldOverride
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.mysql.connection import connect
from importer.engine.reading.stated import Stated
from importer.engine.schema.table import Table, read_table
from importer.engine.source.formats.header_names import normalized_names
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.stored import to_json
from importer.models import DiscoveredFile, Schedule, SourceFile
from importer.preparation import presets
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest
from importer.schedules.run.owner import require_grants
from importer.schedules.run.schema_drift import Drifted

SAMPLES = 3


@dataclass(frozen=True)
class NewField:
    """A field of the new header. `column`: where it goes, "" for nowhere; `before`: where it went, None if it is new.

    `instead_of`: the field that is missing and stood at this place. `chosen`: somebody has to choose the column, since
    the field is new or its column is gone.
    """

    name: str
    column: str
    before: str | None
    instead_of: str
    chosen: bool
    samples: tuple[str, ...]


@dataclass(frozen=True)
class HeaderChange:
    """The header of a file compared with the schedule's. `gone`: missing fields, each with its column.

    `columns`: the columns of the table; `table_changes`: how the table differs, in words.
    """

    file: DiscoveredFile
    fields: tuple[NewField, ...]
    gone: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    table_changes: tuple[str, ...]

    @property
    def header(self) -> list[str]:
        """The names of the file's fields."""
        return [each.name for each in self.fields]


def drifted_file(schedule: Schedule) -> DiscoveredFile | None:
    """The file by which the last run was stopped, if nothing was loaded since and the file is kept."""
    files = schedule.files.exclude(source=None).select_related("source", "run")
    last = files.filter(problem__kind=Drifted.__name__).order_by("-pk").first()
    if last is None or files.filter(run__due_at__gt=last.run.due_at, outcome=DiscoveredFile.Outcome.LOADED).exists():
        return None
    return last if last.source and last.source.status == SourceFile.Status.READY else None


def header_change(schedule: Schedule) -> HeaderChange:
    """The comparison with the file that stopped the schedule. Raises Problem without one, and if the server fails."""
    file, profile, table = _read(schedule)
    then, now = normalized_names(schedule.header), normalized_names(profile.header)
    mapping = dict(zip(then, schedule.mapping, strict=False))
    suggested = suggest_mapping(profile, table)
    gone = {name: mapping[key].column for key, name in zip(then, schedule.header, strict=True) if key not in now}
    taken = {mapping[name].column for name in now if name in mapping}
    fields = []
    for number, name in enumerate(profile.header):
        old = mapping.get(now[number])
        moved = "" if old else _at_its_place(schedule, number, gone)
        new = suggested[number].column
        before = old.column if old else None
        column = before if before is not None else (new if new not in taken else "") or gone.get(moved, "")
        lost = column not in ("", *table.column_names)
        values = _samples(profile, number)
        fields.append(NewField(name, "" if lost else column, before, moved, before is None or lost, values))
    changes = presets.differences(schedule, table)
    return HeaderChange(file, tuple(fields), tuple(gone.items()), tuple(table.column_names), tuple(changes))


def accept(schedule: Schedule, columns: Sequence[str]) -> DiscoveredFile:
    """Store the header of the stopped file, with a column for each field ("" for none), and the table as it is now.

    Returns the file. Raises NeedsAnswer if a new field can be read in more than one way, and Problem if the fields do
    not fill the table or the schedule has changed since.
    """
    require_grants(schedule)
    file, profile, table = _read(schedule)
    if len(columns) != len(profile.header):
        raise Problem("The file has changed since you looked at its header.", file.name, "Compare its header again.")
    mapping = _mapping(schedule, profile, table, columns)
    assert file.source
    stated = Stated(format=True, fields=frozenset(range(len(mapping))), formats=_known(schedule, mapping))
    request = ImportRequest.like(schedule, dialect=profile.dialect, mapping=mapping, stated=stated)
    prepare(file.source, schedule.target, schedule.table, request, lambda *_: profile)
    values = {
        "header": list(profile.header),
        "mapping_json": [to_json(each) for each in mapping],
        "columns_json": presets.column_types(table),
        "dialect_json": to_json(profile.dialect),
        "starters": sorted({*schedule.starters, *approval.starters()}),
    }
    as_read = Schedule.objects.filter(pk=schedule.pk, version=schedule.version)
    if not as_read.update(**values, version=F("version") + 1):
        raise Problem("The schedule has changed since you looked at it.", schedule.name, "Reload it, then accept.")
    schedule.refresh_from_db()
    return file


def _known(schedule: Schedule, mapping: Sequence[ColumnMapping]) -> frozenset[int]:
    """The positions of the fields that are converted as before, also those that take the column of a missing field."""
    before = [each for each in schedule.mapping if each.column]
    return frozenset(number for number, each in enumerate(mapping) if each in before)


def _read(schedule: Schedule) -> tuple[DiscoveredFile, Profile, Table]:
    file = drifted_file(schedule)
    if file is None or file.source is None:
        raise Problem("No file with another header waits.", schedule.name, "Run the schedule, then look again.")
    with connect(schedule.target.address) as connection:
        table = read_table(connection, schedule.schema_name, schedule.table_name)
    return file, profile_file(location_of(file.source), schedule.file_dialect), table


def _mapping(schedule: Schedule, profile: Profile, table: Table, columns: Sequence[str]) -> list[ColumnMapping]:
    """A field that keeps its column, or takes that of a missing field, is converted as before."""
    before = {each.column: each for each in schedule.mapping if each.column}
    chosen = [FieldOverride(f"#{number}", column) for number, column in enumerate(columns, start=1)]
    suggested = suggest_mapping(profile, table, overrides=chosen)
    return [before.get(column, each) for column, each in zip(columns, suggested, strict=True)]


def _at_its_place(schedule: Schedule, number: int, gone: Mapping[str, str]) -> str:
    """The missing field that stood at this place in the old header; "" if the one there is still in the file."""
    name = schedule.header[number] if number < len(schedule.header) else ""
    return name if name in gone else ""


def _samples(profile: Profile, number: int) -> tuple[str, ...]:
    return tuple(row[number] for row in profile.rows[:SAMPLES] if number < len(row))
