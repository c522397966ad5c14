"""Columns that an import adds to a table that exists: the plan with them, and the right that they need."""

from collections.abc import Sequence
from dataclasses import replace

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Connection
from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.schema.added_columns import missing_from, with_added
from importer.engine.schema.new_table import NewColumn
from importer.engine.schema.table import Table
from importer.engine.target.privileges import require_alter
from importer.preparation.table_context import TableContext


def add_to_context(
    connection: Connection, context: TableContext, columns: Sequence[NewColumn]
) -> tuple[TableContext, tuple[NewColumn, ...]]:
    """The context of the table with those of the columns that it does not have, and these columns.

    Raises TargetProblem, with the GRANT, if the account may not alter the table, and Problem for an invalid name, or
    if the import creates the table.
    """
    if columns and context.new_table:
        raise Problem(
            "A table that the import creates gets a column for each field; none can be added.",
            advice=f"Choose its type instead: --type '{columns[0].name}={columns[0].type}'.",
        )
    missing = missing_from(context.table, columns)
    if not missing:
        return context, ()
    require_alter(connection, context.table)
    return replace(context, table=with_added(context.table, missing)), missing


def add_to_plan(plan: ImportPlan, table: Table, columns: tuple[NewColumn, ...]) -> ImportPlan:
    """The plan, which adds the columns to the table first; `table` is as it is before that."""
    if not columns:
        return plan
    names = ", ".join(f"{each.name} {each.type}" for each in columns)
    reason = Reason(
        f"Add {'the column' if len(columns) == 1 else 'the columns'} {names}",
        "The table has none for the field. What is added stays, also if the import fails or is cancelled.",
    )
    return replace(plan, added_columns=columns, reasons=(reason, *plan.reasons)).for_target(table.digest)
