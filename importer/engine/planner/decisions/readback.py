"""Decides how the rows are found again that the option `verify` "full" compares with the file."""

from importer.engine.errors import Problem
from importer.engine.plan.readback import Readback
from importer.engine.planner.context import PlanningContext


def choose_readback(context: PlanningContext) -> Readback | None:
    """By a key of the table, or else by the numbers of its AUTO_INCREMENT column; None if nothing is read back.

    Raises Problem if neither finds the rows, or if rows of the file may change one another.
    """
    options = context.options
    if options.verify != "full":
        return None
    if options.on_clash != "fail" or context.numbers_rows:
        raise Problem(
            "Rows that skip, replace or change one another cannot be compared with the file one by one.",
            advice="Verify by counts, or let duplicates fail in mode append, atomic or replace.",
        )
    table, mapping = context.loaded_into, context.mapping
    try:
        return Readback.of(table, mapping, options.rounding)
    except Problem:
        by_number = context.rolls_back and not context.server.careful
        readback = Readback.by_number(table, mapping, options.rounding, context.columns) if by_number else None
        if not readback:
            raise
        return readback
