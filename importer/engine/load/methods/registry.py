"""The methods by their names (options.OFFERED): which file renders the statement, and which one runs it."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from importer.engine.load.methods import Load, load_data_local, load_data_server
from importer.engine.load.methods.inserts import insert, insert_prepared, insert_single, insert_sql
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect

INSERTING: dict[str, ModuleType] = {
    "insert": insert,
    "insert_prepared": insert_prepared,
    "insert_single": insert_single,
}
_RENDERING: dict[str, ModuleType] = {
    "load_data_local": load_data_local,
    "load_data_server": load_data_server,
    **dict.fromkeys(INSERTING, insert_sql),
}


def statement(
    method: str,
    table: Table,
    dialect: Dialect,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[GeneratedColumn],
    *,
    folder: str = "",
    **how: Any,
) -> str:
    """The method's statement; `folder` is for a server's pipes, `how` as load_data.into_table() has it."""
    if method in INSERTING:
        return insert_sql.statement(table, mapping, fillings, **how)
    if method == "load_data_server":
        return load_data_server.statement(table, dialect, mapping, fillings, folder=folder, **how)
    return load_data_local.statement(table, dialect, mapping, fillings, **how)


def replacing(method: str, statement: str) -> str:
    """The same statement with REPLACE."""
    rendered: str = _RENDERING[method].replacing(statement)
    return rendered


def for_name(
    method: str, dialect: Dialect, *, numbers: tuple[str, ...] = (), width: int, rows: int | None, folder: str
) -> Load:
    """What runs the method's statements on the bytes of a feed.

    Its records have `width` fields, `numbers` among them (ImportPlan.numbers); `rows` go into an INSERT, and a server's
    pipes into `folder`.
    """
    if method == "load_data_local":
        return load_data_local.load
    if method == "load_data_server":
        return partial(load_data_server.load, folder=folder)
    return partial(INSERTING[method].load, dialect=dialect, numbers=numbers, width=width, rows=rows)


def for_plan(plan: ImportPlan, dialect: Dialect) -> Load:
    """What runs the plan's statements."""
    width = len(plan.numbers) + len(plan.fields)
    rows, folder = plan.rows_per_statement, plan.files_folder
    return for_name(plan.method, dialect, numbers=plan.numbers, width=width, rows=rows, folder=folder)
