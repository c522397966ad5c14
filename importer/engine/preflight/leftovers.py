"""Whether imports or labs have left something on the target, and what takes it away."""

from dataclasses import replace

from importer.engine.mysql.connection import Connection
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.schema import indexes
from importer.engine.target import scratch_tables as scratch
from importer.engine.target import temporary_changes
from importer.engine.target.staging import existing_tables
from importer.engine.target.temporary_changes import ChangeRecord


def arrangements(subject: Subject) -> Finding:
    """What imports have written down before they took it off, and what of it is missing now."""
    written = temporary_changes.list_records(subject.connection)
    missing = [(each, sql) for each in written if (sql := _missing(subject.connection, each))]
    if not missing:
        return Finding("arrangements", "ok", "No import has left a table without its indexes.")
    tables = ", ".join(f"{each.table} (import {each.job})" for each, _ in missing)
    return Finding(
        "arrangements",
        "warn",
        f"Imports have taken indexes or foreign keys off {tables}, and not put them back yet.",
        "An import that is still running does that itself. For one that nobody knows of any more: manage.py target"
        " restore, or\n" + "\n".join(f"{statement};" for _, sql in missing for statement in sql),
    )


def scratch_tables(subject: Subject) -> Finding:
    """The tables that labs have written down and not dropped yet."""
    written = scratch.list_records(subject.connection)
    if not written:
        return Finding("scratch_tables", "ok", "No lab has left a scratch table.")
    tables = ", ".join(f"{each.schema}.{each.name} (made like {each.made_like})" for each in written)
    return Finding(
        "scratch_tables",
        "warn",
        f"There are scratch tables of labs: {tables}.",
        "A lab that is still running drops them itself. For one that nobody knows of any more: manage.py lab sweep",
    )


def _missing(connection: Connection, written: ChangeRecord) -> tuple[str, ...]:
    """The statements that put back what is missing now; none for a table that is gone."""
    changes = written.changes
    if not existing_tables(connection, changes.schema, [changes.table]):
        return ()
    now = indexes.read_indexes(connection, changes.schema, changes.table)
    keys = indexes.missing_definitions(now.keys, changes.keys)
    return replace(
        changes, keys=keys, foreign_keys=indexes.missing_definitions(now.foreign_keys, changes.foreign_keys)
    ).restore_sql
