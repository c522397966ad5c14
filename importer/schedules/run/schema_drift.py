"""Compares a file's header and the table with the schedule's, and adds columns for new fields if allowed."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import F

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.new_table.suggestion import suggest_table
from importer.engine.mapping.suggest import map_to_new
from importer.engine.mysql.connection import connect, execute
from importer.engine.reading.build import make_reading
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.stated import Stated
from importer.engine.schema.added_columns import add_statement, missing_from
from importer.engine.schema.table import Table, read_table
from importer.engine.source.formats.header_names import header_difference, normalized_names
from importer.engine.source.profile.profile import Profile
from importer.engine.stored import to_json
from importer.models import Schedule
from importer.preparation import presets


class Drifted(Problem):
    """The file's header or the table differs from the schedule's."""


def reconcile(schedule: Schedule, profile: Profile) -> None:
    """Check that header and table are unchanged. If the schedule allows it, add columns for the file's new fields.

    The new header, mapping and columns are then stored in the schedule. Raises Drifted with the difference, NeedsAnswer
    if the values of a new field can be read in more than one way, and Problem for an error of the server.
    """
    difference = header_difference(schedule.header, profile.header)
    with connect(schedule.target.address) as connection:
        table = read_table(connection, schedule.schema_name, schedule.table_name)
        if changed := presets.differences(schedule, _compared(schedule, table)):
            raise Drifted(
                f"The table {schedule.table} has changed since the schedule was saved: {'; '.join(changed)}.",
                advice="Look at the schedule's mapping and save it again, or change the table back.",
            )
        if not difference:
            return
        if schedule.drift == Schedule.Drift.ADD and schedule.target.needs_approval:
            raise Drifted(
                f"The header changed: {difference}. On {schedule.target}, no column is added without another"
                " person's approval, which an import gets and a change of its table does not.",
                advice="Add the columns by hand, then save the schedule with the new header.",
            )
        if schedule.drift == Schedule.Drift.STOP or not _only_more(schedule.header, profile.header):
            raise Drifted(
                f"The header changed: {difference}.",
                advice="Save the schedule with the new header, or have the file written as before.",
            )
        _ask_about_new_fields(schedule, profile)
        for statement in _added_columns(schedule, profile, table):
            execute(connection, statement)
        table = read_table(connection, schedule.schema_name, schedule.table_name)
    _remember(schedule, profile, table)


def _compared(schedule: Schedule, table: Table) -> Table:
    """The table, without new columns if the schedule adds them: an earlier attempt may have added them."""
    if schedule.drift == Schedule.Drift.STOP:
        return table
    known = {name for name, _ in schedule.columns_json}
    return replace(table, columns=tuple(each for each in table.columns if each.name in known))


def _only_more(then: Sequence[str], now: Sequence[str]) -> bool:
    """Whether all old fields are still there, and no name is empty or repeated."""
    names = normalized_names(now)
    return set(normalized_names(then)) <= set(names) and len(set(names)) == len(names) and all(names)


def _added_columns(schedule: Schedule, profile: Profile, table: Table) -> list[str]:
    """The statement that adds columns for new fields, with the types that the sample suggests; empty without any."""
    suggested = suggest_table(table.schema, table.name, profile)
    new = [
        column
        for field, column in zip(normalized_names(profile.header), suggested.columns, strict=True)
        if field not in normalized_names(schedule.header)
    ]
    missing = missing_from(table, new)
    return [add_statement(table.schema, table.name, missing)] if missing else []


def _ask_about_new_fields(schedule: Schedule, profile: Profile) -> None:
    """Raise NeedsAnswer if the values of a new field can be read in more than one way. No column was added yet."""
    suggested = suggest_table(schedule.schema_name, schedule.table_name, profile)
    before = normalized_names(schedule.header)
    names = normalized_names(profile.header)
    old = frozenset(number for number, name in enumerate(names) if name in before)
    mapping = [
        ColumnMapping("") if number in old else each
        for number, each in enumerate(map_to_new(profile, suggested.as_table()))
    ]
    stated = Stated(format=True, fields=old, formats=old)
    reading = make_reading(profile, suggested.as_table(), mapping, stated=stated, new_table=suggested)
    new = {field for number, field in enumerate(profile.header) if number not in old}
    asked = tuple(each for each in reading.guesses if each.field in new)
    if asked:
        raise NeedsAnswer(replace(reading, decisions=asked), str(schedule))


def _into(column: str, suggested: ColumnMapping) -> ColumnMapping:
    """The suggestion for a new column, for the table's column of that name; no column if the table has none."""
    return replace(suggested, column=column) if column else ColumnMapping("")


def _remember(schedule: Schedule, profile: Profile, table: Table) -> None:
    """Store the new header in the schedule: each old field keeps its column, each new field gets its own."""
    before = dict(zip(normalized_names(schedule.header), schedule.mapping, strict=False))
    columns = {name.lower(): name for name in table.column_names}
    suggested = map_to_new(profile, suggest_table(table.schema, table.name, profile).as_table())
    mapping = [
        before.get(field) or _into(columns.get(each.column.lower(), ""), each)
        for field, each in zip(normalized_names(profile.header), suggested, strict=True)
    ]
    schedule.header = list(profile.header)
    schedule.mapping_json = [to_json(each) for each in mapping]
    schedule.columns_json = presets.column_types(table)
    schedule.dialect_json = to_json(profile.dialect)
    names = ("header", "mapping_json", "columns_json", "dialect_json")
    values = {name: getattr(schedule, name) for name in names}
    Schedule.objects.filter(pk=schedule.pk).update(version=F("version") + 1, **values)
