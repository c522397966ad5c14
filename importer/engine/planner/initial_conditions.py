"""Records table, server and file as they were before the import, so that timings can be compared later.

The names are those of importer.history.facts. Unknown facts are left out.
"""

from collections.abc import Iterator

from importer.engine.mysql.server_info import SPEED_VARIABLES
from importer.engine.planner.context import PlanningContext
from importer.engine.schema.table import Table

Fact = int | float | str | bool


def initial_conditions(context: PlanningContext) -> dict[str, Fact]:
    """Facts of the table, the server and the order of the file, as they are when the import is planned."""
    facts = {**dict(_order(context)), **dict(_table(context)), **dict(_server(context))}
    return {name: value for name, value in facts.items() if value is not None}


def _order(context: PlanningContext) -> Iterator[tuple[str, Fact | None]]:
    if order := context.key_order:
        yield "key_order", order.description
        yield "key_ascending", order.ascending
        yield "key_spread", order.spread


def _table(context: PlanningContext) -> Iterator[tuple[str, Fact | None]]:
    table, keys, primary = context.table, context.table.keys, context.table.primary_key
    new = context.options.mode == "create"
    yield "table_engine", table.engine
    yield "table_columns", len(table.columns)
    yield "table_partitioned", table.partitioned
    yield "rows_before", 0 if new or context.indexes.empty else table.rows_estimate
    yield "table_bytes_before", table.data_bytes
    yield "index_bytes_before", table.index_bytes
    yield "primary_key", ", ".join(primary) or "none"
    yield "primary_key_type", _type(table, primary[0]) if primary else None
    yield "auto_increment", any(column.auto_increment for column in table.columns)
    yield "unique_keys", sum(key.unique and key.name != "PRIMARY" for key in keys)
    yield "secondary_keys", sum(not key.unique and key.kind not in ("FULLTEXT", "SPATIAL") for key in keys)
    yield "fulltext_keys", sum(key.kind == "FULLTEXT" for key in keys)
    yield "spatial_keys", sum(key.kind == "SPATIAL" for key in keys)
    yield "table_foreign_keys", len(context.indexes.foreign_keys)
    yield "table_referenced", len(context.indexes.referenced)
    yield "insert_triggers", len(table.triggers)


def _type(table: Table, first: str) -> str:
    """The type of the key's first column: some types come in ascending order, others do not."""
    return next((each.kind for each in table.columns if each.name == first), "")


def _server(context: PlanningContext) -> Iterator[tuple[str, Fact | None]]:
    server, distance = context.server, context.distance
    yield "flavour", server.flavour
    yield "server_version", server.version
    yield "server_release", ".".join(map(str, server.release[:2]))
    yield "server_local", server.local
    # Another machine's processors are not visible.
    yield "server_cores", server.cores if server.local else None
    yield "server_replica", server.replica
    yield "server_redo_bytes", server.redo_bytes
    yield "round_trip_ms", distance.round_trip_ms if distance else None
    yield "line_bytes_per_second", distance.bytes_per_second if distance else None
    for name in SPEED_VARIABLES:
        yield f"server_{name}", server.variables.get(name)
