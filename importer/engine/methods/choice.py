"""The methods by their names (options.OFFERED): which file renders the statement, and which one runs it."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from importer.engine.dialect import Dialect
from importer.engine.mapping import ColumnMapping, Filling
from importer.engine.methods import Load, insert, insert_into, load_data_local
from importer.engine.plan import ImportPlan
from importer.engine.table import Table

LOADING_FILES: dict[str, ModuleType] = {"load_data_local": load_data_local}
INSERTING: dict[str, ModuleType] = {"insert": insert}


def statement(
    method: str,
    table: Table,
    dialect: Dialect,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[Filling],
    **how: Any,
) -> str:
    """The method's statement; `how` as load_data.into_table() has it."""
    if method in INSERTING:
        return insert_into.statement(table, mapping, fillings, **how)
    rendered: str = LOADING_FILES[method].statement(table, dialect, mapping, fillings, **how)
    return rendered


def replacing(method: str, statement: str) -> str:
    """The same statement with REPLACE."""
    rendered: str = (insert_into if method in INSERTING else LOADING_FILES[method]).replacing(statement)
    return rendered


def loading(plan: ImportPlan, dialect: Dialect) -> Load:
    """What runs the plan's statements on the bytes of a feed."""
    if plan.method not in INSERTING:
        load: Load = LOADING_FILES[plan.method].load
        return load
    return partial(
        INSERTING[plan.method].load,
        dialect=dialect,
        numbers=plan.numbers,
        width=len(plan.numbers) + len(plan.fields),
        rows=plan.rows_per_statement,
    )
