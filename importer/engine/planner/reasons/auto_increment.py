"""Warns if the AUTO_INCREMENT column may run out of numbers."""

from collections.abc import Iterator

from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.schema.column_types import Family
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.target.write_modes import SWAPPING
from importer.engine.units import count_of

# A LOAD DATA reserves up to as many numbers again as it has rows, at most this many, and does not return them
# (server-behaviour.md, LOAD DATA LOCAL).
MOST_AHEAD = 65_535


def auto_increment_reasons(context: PlanningContext, sizes: ChunkSizes, chunk_rows: int) -> Iterator[Reason]:
    """A warning if the file, with the number of rows that its first ones suggest, needs more numbers than are left.

    `chunk_rows`: the most rows of a chunk.
    """
    column = next((each for each in context.table.columns if each.auto_increment), None)
    given = {name.lower() for name in context.columns}
    if not column or column.name.lower() in given or not context.record_bytes:
        return
    type_ = column.column_type
    if type_.family is not Family.INTEGER:
        return
    unsigned = "unsigned" in column.type
    largest = 2 ** (8 * type_.size - (not unsigned)) - 1
    first = 1 if context.options.mode in SWAPPING else max(1, context.table.next_number)
    rows = int(context.data_bytes / context.record_bytes)
    ahead = _ahead(context, rows, max(sizes.count(context.data_bytes), -(-rows // chunk_rows)))
    if first + rows + ahead <= largest + 1:
        return
    surely = rows > largest - first + 1
    gaps = "" if surely else f", and {ahead:,} more that their transactions may take ahead and not use"
    wider = "BIGINT UNSIGNED" if unsigned else "BIGINT"
    yield Reason(
        f"{column.name} {'has' if surely else 'may have'} too few numbers left: {max(0, largest - first + 1):,}",
        f"about {count_of(rows, 'row')} need one each{gaps}; without any left the server refuses rows (error"
        " 1467). For more:"
        f" ALTER TABLE {quote_table(context.table.schema, context.table.name)}"
        f" MODIFY {quote_name(column.name)} {wider} NOT NULL AUTO_INCREMENT",
    )


def _ahead(context: PlanningContext, rows: int, chunks: int) -> int:
    """The most numbers that are reserved and not used. For the other lock modes none are known to be."""
    if context.server.number("innodb_autoinc_lock_mode") != 2:
        return 0
    return min(rows, chunks * MOST_AHEAD)
