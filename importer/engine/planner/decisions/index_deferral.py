"""Decides which keys and foreign keys are dropped before the load and added again after it, and why."""

from collections.abc import Iterator

from importer.engine.errors import Problem
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.schema import indexes
from importer.engine.schema.indexes import KeyDefinition
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.engine.units import MIB

# Measured (server-behaviour.md, Indexes after the load): from this size on deferral is faster on both servers, its own
# steps included.
PAYS_FROM = 8 * MIB


def index_deferral(context: PlanningContext) -> TemporaryChanges | None:
    """The keys and foreign keys to drop before the load; None if all stay."""
    if context.stages or _hindrance(context):
        return None
    foreign_keys = context.indexes.foreign_keys if context.options.foreign_keys == "defer" else ()
    keys, _ = _may_go(context) if _wanted(context) else ((), ())
    return (
        TemporaryChanges(context.table.schema, context.table.name, keys, foreign_keys) if keys or foreign_keys else None
    )


def keys_deferred_in_staging(context: PlanningContext) -> tuple[KeyDefinition, ...]:
    """The keys that the staging table of mode replace gets only after all rows are loaded."""
    if context.options.mode != "replace" or context.table.engine != "InnoDB" or not _wanted(context):
        return ()
    keys, _ = _may_go(context)
    return keys


def check_foreign_keys(context: PlanningContext) -> None:
    """Raise Problem if foreign keys cannot be deferred safely."""
    options = context.options
    if options.foreign_keys != "defer":
        return
    if context.stages:
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


def index_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains which keys and foreign keys are deferred or stay."""
    yield from _about_keys(context)
    if context.options.foreign_keys == "defer":
        yield _about_foreign_keys(context)


def _about_keys(context: PlanningContext) -> Iterator[Reason]:
    if context.stages and context.options.mode != "replace":
        if context.options.indexes == "defer":
            why = "the finishing step needs the table's keys; the staging table is without those that refuse no row"
            yield Reason("Indexes stay on", why, option="indexes")
        return
    keys, staying = _may_go(context)
    if not keys and not staying and context.options.indexes != "defer":
        return
    if keys and _wanted(context) and not _hindrance(context):
        yield Reason(
            f"{_count(len(keys))} after the load",
            f"{_why(context)}; one ALTER TABLE brings back {_names(keys)}{_stay(staying)}",
            option="indexes",
        )
    else:
        slower = bool(keys) and _pays(context)
        yield Reason("Indexes stay on", _why_not(context, keys), holds_back=slower, option="indexes")


def _about_foreign_keys(context: PlanningContext) -> Reason:
    names = ", ".join(each.name for each in context.indexes.foreign_keys)
    if not names:
        return Reason("No foreign keys to put off", "the table has none", option="foreign_keys")
    if hindrance := _hindrance(context):
        return Reason("Foreign keys stay on", hindrance, holds_back=True, option="foreign_keys")
    return Reason(
        f"Foreign keys after the load: {names}",
        "as requested: they are added again without a check of the rows. Then the rows without a parent are searched;"
        " if there are any, the import fails and names them, and they stay in the table",
        option="foreign_keys",
    )


def _wanted(context: PlanningContext) -> bool:
    """Whether keys are deferred if possible: by request, or because the file is large enough."""
    if context.options.indexes == "auto":
        return context.data_bytes >= PAYS_FROM and not context.table.triggers
    return context.options.indexes == "defer"


def _pays(context: PlanningContext) -> bool:
    """Whether the load would be faster without keys: much goes into an InnoDB table that is empty."""
    empty = context.stages or context.indexes.empty
    return empty and context.table.engine == "InnoDB" and context.data_bytes >= PAYS_FROM


def _hindrance(context: PlanningContext) -> str:
    """Why no key can be dropped; "" if keys can."""
    if context.server.careful:
        return f"no key is dropped on {context.server.flavour}, where imports take the safe path"
    if context.table.engine != "InnoDB":
        return f"a {context.table.engine} table is filled with its keys disabled"
    if context.stages or context.indexes.obstacle:
        return "" if context.stages else context.indexes.obstacle
    if not context.indexes.empty:
        return "the table is not empty, and rebuilding its keys would take longer than adding to them"
    return ""


def _may_go(context: PlanningContext) -> tuple[tuple[KeyDefinition, ...], tuple[str, ...]]:
    foreign_keys_go = context.stages or context.options.foreign_keys == "defer"
    return indexes.droppable_keys(context.table, context.indexes, foreign_keys_go=foreign_keys_go)


def _why(context: PlanningContext) -> str:
    if context.options.indexes == "defer":
        return "as requested"
    empty = "the staging table starts empty" if context.stages else "the table is empty"
    # Measured (server-behaviour.md, Indexes after the load) with two keys on random values.
    return f"{empty}, and with keys the server has 1.3 (100,000 rows) to 1.7 times (400,000) as much work"


def _why_not(context: PlanningContext, keys: tuple[KeyDefinition, ...]) -> str:
    if context.options.indexes == "keep":
        return "as requested: each row goes into every key as it is loaded"
    if hindrance := _hindrance(context):
        return hindrance
    if not keys:
        return "each of them is needed while rows come: by AUTO_INCREMENT, by a foreign key, or to be unique"
    if context.table.triggers:
        return f"triggers ({', '.join(context.table.triggers)}) may look rows up by them"
    return f"the file is small: taking them off pays from {PAYS_FROM // MIB} MiB on"


def _stay(staying: tuple[str, ...]) -> str:
    return f"; {', '.join(staying)} must stay, or would come back in another order" if staying else ""


def _names(keys: tuple[KeyDefinition, ...]) -> str:
    return ", ".join(each.name for each in keys)


def _count(number: int) -> str:
    return "1 index" if number == 1 else f"{number} indexes"
