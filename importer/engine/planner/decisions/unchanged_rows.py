"""Decides whether the rows that REPLACE finds equal can be told from new ones (load/methods/equal_rows.py).

Upserts need no decision: the affected rows tell (server-behaviour.md, Equal rows).
"""

from collections.abc import Iterator

from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext


def updates_per_row(context: PlanningContext) -> int:
    """How often Handler_update counts a row that REPLACE updates; 0 if equal rows cannot be told by it.

    MariaDB counts a row of a partitioned table twice, for the table and for the partition.
    """
    if context.options.on_clash != "replace" or context.dependencies.versioned:
        return 0
    partitioned = context.dependencies.partitioned or bool(context.options.partitions)
    return 2 if partitioned and context.server.mariadb else 1


def unchanged_row_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Where rows that equal existing ones are not counted as unchanged, and why."""
    if context.options.on_clash != "replace":
        return
    table, dependencies = context.table, context.dependencies
    keys = sum(key.unique for key in table.keys)
    if dependencies.versioned:
        yield Reason("Equal rows count as loaded or replaced", f"{table.name} is system-versioned: it keeps every row")
    elif dependencies.deleting or keys > 1:
        cause = f"with {keys} unique keys" if keys > 1 else f"for the triggers {', '.join(dependencies.deleting)}"
        yield Reason("Equal rows count as replaced", f"{cause} the server deletes the old row and inserts the new one")
    elif dependencies.triggers:
        yield Reason(
            "Equal rows count as loaded if triggers change other rows",
            f"the server counts those of {', '.join(dependencies.triggers)} together with the file's",
        )
