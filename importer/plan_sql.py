"""The exact SQL of a plan, by when it runs: for the command line and the pages."""

from collections.abc import Iterator

from importer.engine import indexes
from importer.engine.plan import ImportPlan


def plan_sql(plan: ImportPlan) -> Iterator[tuple[str, str]]:
    """When, and the statements that run then, each with its semicolon."""
    arranged = plan.arrangement
    if plan.staged:
        yield "Before the first chunk, the staging table is made", _written(*plan.staged.make)
    if arranged:
        off = indexes.taking_off(arranged.schema, arranged.table, arranged.keys, arranged.foreign_keys)
        yield "Before the first chunk, and written down before that", _written(off)
    yield "Each chunk, in a transaction of its own", _written(plan.statement)
    if plan.staged:
        yield "After the last chunk", _written(*plan.staged.settle, plan.staged.finish)
    if arranged:
        yield "After the load, or whatever else ends the import", _written(*arranged.restore_sql)


def _written(*statements: str) -> str:
    return "\n".join(f"{each.rstrip().rstrip(';')};" for each in statements)
