"""Decides the order in which rows are loaded: the file's, or that of the primary key, from a sorted copy."""

from importer.engine.errors import Problem
from importer.engine.mysql.server_info import Server
from importer.engine.plan.options import Options
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.schema.table import Table
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.decoding import needs_copy
from importer.engine.target.write_modes import SWAPPING
from importer.engine.units import MIB, human_bytes

# Bytes in InnoDB for each byte in the file: a row has some 20 bytes more, and pages are not quite full.
TABLE_BYTES_PER_BYTE = 1.3
# Measured (server-behaviour.md, Speed).
GAIN = "sorted first, such an import took 0.4 of the time at 128 MiB"
SORTED_BYTES_PER_SECOND = 60 * MIB
DISK_BYTES_PER_BYTE = 2


def outgrows(data_bytes: int, table: Table, options: Options, server: Server) -> bool:
    """Whether the table with these rows is larger than the buffer pool."""
    pool = server.number("innodb_buffer_pool_size")
    return pool is not None and _table_bytes(data_bytes, table, options) > pool


def choose_order(context: PlanningContext) -> tuple[SortKey | None, Reason]:
    """The sort key, None for the file's order, and the reason. Raises Problem if a requested sort is not possible."""
    requested = context.options.sort
    if context.server_file:
        return None, _in_file_order("the server reads the file as it lies there")
    if context.sorted_by:
        return context.sorted_by, _sorted(context.sorted_by, "its chunks are cut from a sorted copy already")
    if requested == "keep":
        return None, _in_file_order("as requested, or because its chunks are cut already")
    try:
        key = _key(context)
    except Unsortable as problem:
        if requested == "key":
            raise Problem(problem.what, advice="Let the file's order be kept (sort keep).", option="sort") from None
        return None, _in_file_order(problem.what[0].lower() + problem.what[1:].removesuffix("."))
    if requested == "key":
        return key, _sorted(key, f"as requested; {_cost(context)}")
    return _if_it_pays(context, key)


def _if_it_pays(context: PlanningContext, key: SortKey) -> tuple[SortKey | None, Reason]:
    pool = context.server.number("innodb_buffer_pool_size") or 0
    expected = _table_bytes(context.data_bytes, context.table, context.options)
    sizes = (
        f"with these rows the table takes some {human_bytes(expected)}, and the buffer pool holds {human_bytes(pool)}"
    )
    if not outgrows(context.data_bytes, context.table, context.options, context.server):
        return None, _in_file_order(sizes)
    columns = ", ".join(key.columns)
    if context.key_order is None:
        packed = needs_copy(context.packing, context.dialect)
        shows = "unpacked" if packed else "whole"
        return None, _in_file_order(
            f"only the {shows} file shows whether that is the order of {columns}; sort key sorts it"
        )
    if context.key_order.fits:
        return None, _in_file_order(f"by a sample it is {context.key_order.description} of {columns} already")
    return key, _sorted(
        key, f"by a sample the file is {context.key_order.description}; {sizes}: {GAIN}; {_cost(context)}"
    )


def _key(context: PlanningContext) -> SortKey:
    options = context.options
    if options.ordered or context.numbers_rows:
        raise Unsortable("The file's order decides which of two rows with one key stays.")
    if options.mode == "create" and needs_copy(context.packing, context.dialect):
        raise Unsortable("The new table's types are read from the file before it is sorted, which a plain one allows.")
    return SortKey.of(context.table, context.mapping)


def _table_bytes(data_bytes: int, table: Table, options: Options) -> float:
    there = 0 if options.mode in SWAPPING else table.data_bytes
    return there + TABLE_BYTES_PER_BYTE * data_bytes


def _cost(context: PlanningContext) -> str:
    seconds = max(1, round(context.data_bytes / SORTED_BYTES_PER_SECOND))
    room = human_bytes(DISK_BYTES_PER_BYTE * context.data_bytes)
    return f"a sorted copy is made first, in about {seconds:,} s and {room} on the disk, before the first row is loaded"


def _sorted(key: SortKey, why: str) -> Reason:
    return Reason(f"Rows are loaded in the order of {', '.join(key.columns)}", why, option="sort")


def _in_file_order(why: str) -> Reason:
    return Reason("Rows are loaded in the file's order", why, option="sort")
