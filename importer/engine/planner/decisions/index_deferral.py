"""Which keys and foreign keys come off for the load and back after it, and why."""

from collections.abc import Iterator

from importer.engine.errors import Problem
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.schema import indexes
from importer.engine.schema.indexes import KeyDefinition
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.engine.units import MIB

# Measured (server-behaviour.md, Indexes after the load): from here on it pays on both servers, the steps of its own
# included.
PAYS_FROM = 8 * MIB


def arrangement(case: PlanningContext) -> TemporaryChanges | None:
    """What comes off the table for the time of the load; None for nothing."""
    if case.staged or _hindrance(case):
        return None
    foreign_keys = case.indexes.foreign_keys if case.options.foreign_keys == "defer" else ()
    keys, _ = _may_go(case) if _wanted(case) else ((), ())
    return TemporaryChanges(case.table.schema, case.table.name, keys, foreign_keys) if keys or foreign_keys else None


def staged_without(case: PlanningContext) -> tuple[KeyDefinition, ...]:
    """The keys that a staging table which takes the target's place is without until the rows are in."""
    if case.options.mode != "replace" or case.staging_engine != "InnoDB" or not _wanted(case):
        return ()
    keys, _ = _may_go(case)
    return keys


def check_foreign_keys(case: PlanningContext) -> None:
    """Raise Problem where foreign keys cannot be put off soundly."""
    options = case.options
    if options.foreign_keys != "defer":
        return
    if case.staged:
        raise Problem(
            f"In mode {options.mode} no foreign key is in the way of the load: the rows go into a staging table"
            " without any.",
            advice="Leave foreign_keys as keep.",
            option="foreign_keys",
        )
    if options.on_error == "reject":
        raise Problem(
            "A row that a foreign key refuses can be left out only while that key is on.",
            advice="Keep the foreign keys, or let the import stop at bad rows.",
            option="foreign_keys",
        )
    if not options.foreign_key_checks:
        raise Problem(
            "Foreign keys that are put off are checked at the end, and foreign_key_checks off asks for no check.",
            advice="Choose one of the two.",
            option="foreign_keys",
        )


def index_reasons(case: PlanningContext) -> Iterator[Reason]:
    """What becomes of the keys, and of the foreign keys where these are to be put off."""
    yield from _about_keys(case)
    if case.options.foreign_keys == "defer":
        yield _about_foreign_keys(case)


def _about_keys(case: PlanningContext) -> Iterator[Reason]:
    if case.options.mode in ("create", "atomic", "upsert"):
        if case.options.indexes == "defer":
            why = "the finishing step needs the table's keys; the staging table is without those that refuse no row"
            yield Reason("Indexes stay on", why, option="indexes")
        return
    keys, staying = _may_go(case)
    if not keys and not staying and case.options.indexes != "defer":
        return
    if keys and _wanted(case) and not _hindrance(case):
        yield Reason(
            f"{_count(len(keys))} after the load",
            f"{_why(case)} back in one ALTER TABLE: {_names(keys)}{_stay(staying)}",
            option="indexes",
        )
    else:
        yield Reason("Indexes stay on", _why_not(case, keys), holds_back=bool(keys), option="indexes")


def _about_foreign_keys(case: PlanningContext) -> Reason:
    names = ", ".join(each.name for each in case.indexes.foreign_keys)
    if not names:
        return Reason("No foreign keys to put off", "the table has none", option="foreign_keys")
    if hindrance := _hindrance(case):
        return Reason("Foreign keys stay on", hindrance, holds_back=True, option="foreign_keys")
    return Reason(
        f"Foreign keys after the load: {names}",
        "as asked: they come back without a look at the rows, which are then searched for those that they would have"
        " refused; if there are any, the import fails and names them, and they stay in the table",
        option="foreign_keys",
    )


def _wanted(case: PlanningContext) -> bool:
    """Whether keys are to come off, if they may: as asked, or because it pays."""
    asked = case.options.indexes
    if asked == "auto":
        return case.data_bytes >= PAYS_FROM and not case.table.triggers
    return asked == "defer"


def _hindrance(case: PlanningContext) -> str:
    """Why nothing can come off; "" if it can."""
    if case.staging_engine != "InnoDB":
        return f"a {case.staging_engine} table is filled with its keys disabled"
    if case.staged or case.indexes.obstacle:
        return "" if case.staged else case.indexes.obstacle
    if not case.indexes.empty:
        return "the table is not empty: building its keys anew would take longer than adding to them"
    return ""


def _may_go(case: PlanningContext) -> tuple[tuple[KeyDefinition, ...], tuple[str, ...]]:
    foreign_keys_go = case.staged or case.options.foreign_keys == "defer"
    return indexes.droppable_keys(case.table, case.indexes, foreign_keys_go=foreign_keys_go)


def _why(case: PlanningContext) -> str:
    if case.options.indexes == "defer":
        return "as asked;"
    empty = "the staging table starts empty" if case.staged else "the table is empty"
    # Measured (server-behaviour.md, Indexes after the load) with two keys on random values.
    return f"{empty}, and that takes 1.3 (100,000 rows) to 1.7 times (400,000) less work on the server;"


def _why_not(case: PlanningContext, keys: tuple[KeyDefinition, ...]) -> str:
    if case.options.indexes == "keep":
        return "as asked: each row goes into every key as it is loaded"
    if hindrance := _hindrance(case):
        return hindrance
    if not keys:
        return "each of them is needed while rows come: by AUTO_INCREMENT, by a foreign key, or to be unique"
    if case.table.triggers:
        return f"triggers ({', '.join(case.table.triggers)}) may look rows up by them"
    return f"the file is small: taking them off pays from {PAYS_FROM // MIB} MiB on"


def _stay(staying: tuple[str, ...]) -> str:
    return f"; {', '.join(staying)} must stay, or would come back in another order" if staying else ""


def _names(keys: tuple[KeyDefinition, ...]) -> str:
    return ", ".join(each.name for each in keys)


def _count(number: int) -> str:
    return "1 index" if number == 1 else f"{number} indexes"
