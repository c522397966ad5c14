"""Checks for leftovers of imports and labs on the target: dropped keys, global variables and scratch tables."""

from importer.engine.mysql.connection import Connection
from importer.engine.mysql.variables.variable import Value
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.schema import indexes
from importer.engine.schema.table import existing_tables
from importer.engine.target import global_settings, temporary_changes
from importer.engine.target import scratch_tables as scratch
from importer.engine.target.temporary_changes import ChangeRecord, TemporaryChanges


def arrangements(subject: Subject) -> Finding:
    """Whether indexes or foreign keys are missing that imports have dropped for their duration, or global variables
    still have the values of imports.
    """
    remaining = [
        (each.job, _remaining(subject.connection, each)) for each in temporary_changes.list_records(subject.connection)
    ]
    remaining = [(job, changes) for job, changes in remaining if changes]
    if not remaining:
        return Finding("arrangements", "ok", "No import has left a table without its indexes, or a variable set.")
    changed = "; ".join(f"{each.description} of {each.schema}.{each.table} (import {job})" for job, each in remaining)
    sql = [f"{statement};" for _, each in remaining for statement in _statements(each)]
    return Finding(
        "arrangements",
        "warn",
        f"Imports have changed, and not put back yet: {changed}.",
        "An import that is still running restores them itself. If an import no longer exists: millrace target"
        " restore, or\n" + "\n".join(sql),
    )


def scratch_tables(subject: Subject) -> Finding:
    """Whether there are scratch tables that labs have recorded and not dropped yet."""
    records = scratch.list_records(subject.connection)
    if not records:
        return Finding("scratch_tables", "ok", "No lab has left a scratch table.")
    tables = ", ".join(f"{each.schema}.{each.name} (made like {each.made_like})" for each in records)
    return Finding(
        "scratch_tables",
        "warn",
        f"There are scratch tables of labs: {tables}.",
        "A lab that is still running drops them itself. If a lab no longer exists: millrace lab sweep",
    )


def _remaining(connection: Connection, record: ChangeRecord) -> TemporaryChanges:
    """What is still changed: keys of a table that exists, and variables, here with their original values."""
    changes = record.changes
    variables: dict[str, Value] = {}
    if changes.variables:
        variables.update(global_settings.originals(connection, record.job))
    if not existing_tables(connection, changes.schema, [changes.table]):
        return TemporaryChanges(changes.schema, changes.table, variables=variables)
    now = indexes.read_indexes(connection, changes.schema, changes.table)
    keys = indexes.missing_definitions(now.keys, changes.keys)
    foreign_keys = indexes.missing_definitions(now.foreign_keys, changes.foreign_keys)
    return TemporaryChanges(changes.schema, changes.table, keys, foreign_keys, variables)


def _statements(remaining: TemporaryChanges) -> tuple[str, ...]:
    variables = (f"SET GLOBAL {name} = {value}" for name, value in remaining.variables.items())
    return (*remaining.restore_sql, *variables)
