"""Checks for leftovers of imports and labs on the target: dropped keys and scratch tables."""

from dataclasses import replace

from importer.engine.mysql.connection import Connection
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.schema import indexes
from importer.engine.target import scratch_tables as scratch
from importer.engine.target import temporary_changes
from importer.engine.target.staging import existing_tables
from importer.engine.target.temporary_changes import ChangeRecord


def arrangements(subject: Subject) -> Finding:
    """Whether indexes or foreign keys are missing that imports have dropped for their duration."""
    records = temporary_changes.list_records(subject.connection)
    missing = [(each, sql) for each in records if (sql := _missing(subject.connection, each))]
    if not missing:
        return Finding("arrangements", "ok", "No import has left a table without its indexes.")
    tables = ", ".join(f"{each.table} (import {each.job})" for each, _ in missing)
    return Finding(
        "arrangements",
        "warn",
        f"Imports have dropped indexes or foreign keys of {tables} and not restored them yet.",
        "An import that is still running restores them itself. If an import no longer exists: millrace target"
        " restore, or\n" + "\n".join(f"{statement};" for _, sql in missing for statement in sql),
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


def _missing(connection: Connection, record: ChangeRecord) -> tuple[str, ...]:
    """The statements that restore the keys that are missing now; none if the table no longer exists."""
    changes = record.changes
    if not existing_tables(connection, changes.schema, [changes.table]):
        return ()
    now = indexes.read_indexes(connection, changes.schema, changes.table)
    keys = indexes.missing_definitions(now.keys, changes.keys)
    return replace(
        changes, keys=keys, foreign_keys=indexes.missing_definitions(now.foreign_keys, changes.foreign_keys)
    ).restore_sql
