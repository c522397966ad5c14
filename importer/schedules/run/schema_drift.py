"""Whether a file and the table are still what the schedule was made for; and how both are brought in step."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import F

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import connect, execute
from importer.engine.mysql.quoting import quote_name
from importer.engine.schema.new_table import suggest_table
from importer.engine.schema.table import Table, read_table
from importer.engine.source.profile.profile import Profile
from importer.engine.stored import to_json
from importer.models import Schedule
from importer.preparation import presets


class Drifted(Problem):
    """The file's header or the table is another one than the schedule was made for."""


def reconcile(schedule: Schedule, profile: Profile) -> None:
    """See that header and table are as they were; where the schedule allows it, add the file's new fields to the table.

    The schedule then knows the new header, mapping and columns. Raises Drifted with the difference, and Problem as the
    server does.
    """
    difference = presets.header_difference(schedule.header, profile.header)
    with connect(schedule.target.address) as connection:
        table = read_table(connection, schedule.schema_name, schedule.table_name)
        if changed := presets.differences(schedule, _compared(schedule, table)):
            raise Drifted(
                f"The table {schedule.table} has changed since the schedule was saved: {'; '.join(changed)}.",
                advice="Look at the schedule's mapping and save it again, or change the table back.",
            )
        if not difference:
            return
        if schedule.drift == Schedule.Drift.STOP or not _only_more(schedule.header, profile.header):
            raise Drifted(
                f"The header is another one: {difference}.",
                advice="Save the schedule with the new header, or have the file written as before.",
            )
        for statement in _added_columns(schedule, profile, table):
            execute(connection, statement)
        table = read_table(connection, schedule.schema_name, schedule.table_name)
    _remember(schedule, profile, table)


def _compared(schedule: Schedule, table: Table) -> Table:
    """The table without columns that are new, where such ones are added: the last try may have done so."""
    if schedule.drift == Schedule.Drift.STOP:
        return table
    known = {name for name, _ in schedule.columns_json}
    return replace(table, columns=tuple(each for each in table.columns if each.name in known))


def _only_more(then: Sequence[str], now: Sequence[str]) -> bool:
    """Whether all fields are still there, and each is there once."""
    names = presets.normalized_names(now)
    return set(presets.normalized_names(then)) <= set(names) and len(set(names)) == len(names) and all(names)


def _added_columns(schedule: Schedule, profile: Profile, table: Table) -> list[str]:
    """A statement for the new fields that the table has no column for, with the types that the sample suggests."""
    known = {name.lower() for name in table.column_names}
    suggested = suggest_table(table.schema, table.name, profile)
    new = [
        column
        for field, column in zip(presets.normalized_names(profile.header), suggested.columns, strict=True)
        if field not in presets.normalized_names(schedule.header) and column.name.lower() not in known
    ]
    if not new:
        return []
    added = ", ".join(f"ADD COLUMN {quote_name(each.name)} {each.type} NULL" for each in new)
    return [f"ALTER TABLE {quote_name(table.schema)}.{quote_name(table.name)} {added}"]


def _remember(schedule: Schedule, profile: Profile, table: Table) -> None:
    """The schedule with the new header: each field into the column that it had, each new one into its own."""
    before = dict(zip(presets.normalized_names(schedule.header), schedule.mapping, strict=False))
    columns = {name.lower(): name for name in table.column_names}
    suggested = suggest_table(table.schema, table.name, profile).columns
    mapping = [
        before.get(field) or ColumnMapping(columns.get(column.name.lower(), ""))
        for field, column in zip(presets.normalized_names(profile.header), suggested, strict=True)
    ]
    schedule.header = list(profile.header)
    schedule.mapping_json = [to_json(each) for each in mapping]
    schedule.columns_json = presets.column_types(table)
    schedule.dialect_json = to_json(profile.dialect)
    names = ("header", "mapping_json", "columns_json", "dialect_json")
    values = {name: getattr(schedule, name) for name in names}
    Schedule.objects.filter(pk=schedule.pk).update(version=F("version") + 1, **values)
