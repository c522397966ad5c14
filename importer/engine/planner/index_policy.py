"""Which keys and foreign keys come off the table for the load, and why."""

from collections.abc import Iterator

from importer.engine import indexes
from importer.engine.arrangement import Arrangement
from importer.engine.plan import Reason
from importer.engine.planner.case import Case


def arrangement(case: Case) -> Arrangement | None:
    """What is changed on the target for the time of the load; None for nothing."""
    options, table = case.options, case.table
    if options.indexes != "defer" or case.staged or not case.indexes.empty:
        return None
    keys, _ = indexes.may_go(table, case.indexes, foreign_keys_go=False)
    return Arrangement(table.schema, table.name, keys) if keys else None


def index_reasons(case: Case) -> Iterator[Reason]:
    """What becomes of the keys, in words."""
    changed = arrangement(case)
    if changed:
        yield Reason(f"{changed.words} after the load", "the table is empty", option="indexes")
