"""Explains what the import does with the table and with rows that the table refuses."""

from collections.abc import Iterator

from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.target import staging, write_modes


def table_and_reject_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains what the import does with the table, its dependencies, and rows that the table refuses."""
    options, table = context.options, context.table
    for effect in write_modes.explain(options.mode, table, context.dependencies, context.columns, options.key):
        yield Reason(*effect)
    if options.scope:
        yield Reason(
            f"No row outside the scope is changed, added or deleted: {options.scope}",
            "a row of the file that is outside, or would be, is rejected; shares of rows are those of the scope",
        )
    if options.undo == "keep":
        yield Reason(
            f"It can be taken back: what changes is kept in {staging.backup_name(context.job)}",
            "old rows and those that are new, written in the transaction of the change",
        )
    if options.partitions:
        many = "1 partition" if options.partitions == 1 else f"{options.partitions:,} partitions"
        by = options.partition_by or "its primary key"
        yield Reason(f"The new table has {many}", f"by hash of {by}, as requested", option="partitions")
    if options.on_error == "reject":
        limit = options.reject_limit_words or "without a limit"
        yield Reason("Rows that cannot go in are left out", f"{limit}, and kept with their reasons")
    if table.triggers and not context.stages:
        yield Reason(f"Triggers fire ({', '.join(table.triggers)})", "once for each row", holds_back=True)
