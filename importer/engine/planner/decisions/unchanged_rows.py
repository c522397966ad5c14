"""Decides how rows of the file that equal rows of the table are recognized.

Of REPLACE, whether they can be told from new ones (load/methods/equal_rows.py). In the modes that compare, whether they
are found before they are staged (load/readback/equal_rows.py). Upserts need no decision: the affected rows tell
(server-behaviour.md, Equal rows).
"""

import re
from collections.abc import Iterator

from importer.engine.plan.plan import Reason
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions.time_zone import session_zone
from importer.engine.schema.column_types import Family
from importer.engine.target import write_modes
from importer.engine.target.staging import Staged

_FIXED_ZONE = re.compile(r"[+-]\d\d:\d\d")


def updates_per_row(context: PlanningContext) -> int:
    """How often Handler_update counts a row that REPLACE updates; 0 if equal rows cannot be told by it.

    MariaDB counts a row of a partitioned table twice, for the table and for the partition.
    """
    if context.options.on_clash != "replace" or context.dependencies.versioned:
        return 0
    partitioned = context.dependencies.partitioned or bool(context.options.partitions)
    return 2 if partitioned and context.server.mariadb else 1


def unchanged_row_reasons(context: PlanningContext, left_out: Readback | None) -> Iterator[Reason]:
    """Where rows that equal existing ones are not counted as unchanged, and why; and that they are not staged."""
    if left_out:
        yield Reason(
            "Rows that the table has already are not sent",
            f"chunks whose {left_out.key[0]} ascends are compared with the table by digests, and all of them once more"
            " before the change",
        )
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


def left_out_by(context: PlanningContext, staged: Staged | None) -> Readback | None:
    """The columns by which equal rows are found before they are staged; None if all rows are staged.

    Rows are found by one column of integers. Every column that the file fills must have a form that is known before
    the load.
    """
    if not staged or staged.mode not in write_modes.COMPARING or not context.rolls_back:
        return None
    others_may_be_missing = staged.mode == "sync" and not staged.deletes
    if others_may_be_missing or staged.scope or staged.refuses_repeats or context.fillings:
        return None
    found = Readback.by_key(context.table, context.mapping, staged.keys[0])
    zone_is_fixed = bool(_FIXED_ZONE.fullmatch(session_zone(context)))
    known = all(_is_known(each, zone_is_fixed) for each in found.readings)
    return found if known and _is_number(found) else None


def _is_known(compared: ComparedColumn, zone_is_fixed: bool) -> bool:
    from importer.engine.load.readback.canonical_forms import why_unknown

    # Two moments of the hour that a clock repeats look the same.
    return not why_unknown(compared) and (zone_is_fixed or not compared.column.column_type.has_epoch)


def _is_number(found: Readback) -> bool:
    """Whether the key is one column of integers that takes its field as it is."""
    if len(found.key) != 1:
        return False
    ((at, column),) = found.key_columns
    return column.column_type.family is Family.INTEGER and not found.readings[at].null_markers
